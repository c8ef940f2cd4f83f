package source

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/journal"
)

// Why the eviction of a pod has ended.
const (
	Cancelled = "cancelled" // the pod stays
	Gone      = "gone"      // the pod is gone, or is being deleted
	Evicted   = "evicted"   // the manager reports that it has evicted the pod
	Over      = "over"      // the manager does not report why
)

// Watched is the state of a cluster that is watched.
type Watched struct {
	now     func() time.Time
	among   []string // nodes in question; empty for all
	changed chan struct{}

	mu      sync.Mutex // guards all below
	model   *foresight.Model
	stays   func(uid types.UID) (reason string, stays bool) // by the model since its last change; nil if not asked yet
	trouble map[string]error                                // errors of the watches, by what they watch
}

// Follow reads the scope once, so that a refusal is reported at once; then it watches until the context ends. The
// process does not wait for the goroutines when it ends.
func (c Cluster) Follow(ctx context.Context, s *Scope) (*Watched, error) {
	m, err := Load(ctx, c, s)
	if err != nil {
		return nil, err
	}
	w := &Watched{
		now: c.now, among: s.Nodes, changed: make(chan struct{}, 1), model: m, trouble: map[string]error{},
	}
	pods, in := &mirror[*v1.Pod]{w, "pods", m.ReplacePods, m.UpdatePod, m.RemovePod}, s.Focus.Namespace
	go watchOn(ctx, c, pods, &v1.Pod{}, in, s.podOptions(), c.client.CoreV1().Pods(in).Watch)
	if !m.Hidden() {
		nodes := &mirror[*v1.Node]{w, "nodes", m.ReplaceNodes, m.UpdateNode, m.RemoveNode}
		go watchOn(ctx, c, nodes, &v1.Node{}, "", metav1.ListOptions{}, c.client.CoreV1().Nodes().Watch)
	}
	go c.followJournal(ctx, w)
	return w, nil
}

// journalInterval is the time between two readings of the journal.
const journalInterval = 5 * time.Second

// followJournal reads the journal again and again: it can't be watched without the permission to watch all ConfigMaps
// of its namespace.
func (c Cluster) followJournal(ctx context.Context, w *Watched) {
	from, ticks := c.store(), time.NewTicker(journalInterval)
	defer ticks.Stop()
	for ctx.Err() == nil {
		for number := range journal.StateObject + 1 {
			stored, err := from.Read(ctx, number)
			w.change(func(at time.Time) { w.model.UpdateJournal(number, stored, err, at) })
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
	}
}

// change changes the model, and signals that.
func (w *Watched) change(do func(at time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w.now())
	w.stays = nil
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// Hidden reports whether the nodes are those of the journal, because this user may not list nodes.
func (w *Watched) Hidden() bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.model.Hidden()
}

// News receives a value when something has changed.
func (w *Watched) News() <-chan struct{} { return w.changed }

// Pending returns what is scheduled now on the nodes in question.
func (w *Watched) Pending(context.Context) *foresight.Pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.model.Pending(w.now(), w.among)
	for _, what := range []string{"nodes", "pods"} {
		if err := w.trouble[what]; err != nil {
			pending.Notes = append(pending.Notes, fmt.Sprintf("the %s can't be watched, so this may be "+
				"out of date: %v", what, err))
			pending.Stale = true
		}
	}
	return pending
}

// Ended returns [Cancelled] and the reason if the pod stays, else [Gone].
func (w *Watched) Ended(uid string) (change, reason string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.stays == nil {
		w.stays = w.model.Stays()
	}
	if reason, stays := w.stays(types.UID(uid)); stays {
		return Cancelled, reason
	}
	return Gone, ""
}

// watchOn keeps the objects that the options select up to date with the API server, until the context ends.
func watchOn[T runtime.Object](
	ctx context.Context, c Cluster, to *mirror[T], kind T, namespace string, selected metav1.ListOptions,
	watchFrom func(context.Context, metav1.ListOptions) (watch.Interface, error),
) {
	silent := logr.Discard() // errors are shown in the answer's notes
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector, o.LabelSelector = selected.FieldSelector, selected.LabelSelector
			list, err := c.list(ctx, to.what, namespace, o)
			to.w.note(to.what, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector, o.LabelSelector = selected.FieldSelector, selected.LabelSelector
			stream, err := watchFrom(ctx, o)
			to.w.note(to.what, err)
			return stream, err
		},
	}
	cache.NewReflectorWithOptions(cache.ToListWatcherWithWatchListSemantics(requests, c.client), kind, to,
		cache.ReflectorOptions{
			Logger: &silent, Name: "taint-manager." + to.what,
			Backoff: &wait.Backoff{
				Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5, Cap: 3 * time.Second,
			},
		}).RunWithContext(ctx)
}

// note records whether something can be watched.
func (w *Watched) note(what string, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if err != nil && errors.Is(err, context.Canceled) {
		return
	}
	w.trouble[what] = err
}

// mirror is the store of a reflector: it passes the objects on to the model.
type mirror[T runtime.Object] struct {
	w       *Watched
	what    string
	replace func(list []T, at time.Time)
	update  func(object T, at time.Time)
	remove  func(object T)
}

// Add passes on an object that the watch has shown.
func (m *mirror[T]) Add(object any) error { return m.Update(object) }

// Update passes on an object that the watch has shown.
func (m *mirror[T]) Update(object any) error {
	m.w.change(func(at time.Time) { m.update(object.(T), at) })
	return nil
}

// Delete removes an object.
func (m *mirror[T]) Delete(object any) error {
	m.w.change(func(time.Time) { m.remove(object.(T)) })
	return nil
}

// Replace passes on a list.
func (m *mirror[T]) Replace(objects []any, _ string) error {
	list := make([]T, len(objects))
	for i := range objects {
		list[i] = objects[i].(T)
	}
	m.w.change(func(at time.Time) { m.replace(list, at) })
	return nil
}

// Resync does nothing.
func (m *mirror[T]) Resync() error { return nil }
