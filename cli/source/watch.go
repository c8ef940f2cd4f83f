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
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// Watched is the state of a cluster that is watched.
type Watched struct {
	now     func() time.Time
	among   []string // nodes in question; empty for all
	changed chan struct{}

	mu      sync.Mutex // guards all below
	model   *foresight.Model
	trouble map[string]error // errors of the watches, by watched resource
}

// Follow reads the scope once, so that a refusal is reported at once; then it watches until the context ends. The
// process does not wait for the goroutines when it ends.
func (c Cluster) Follow(ctx context.Context, s *Scope) (*Watched, error) {
	w := &Watched{now: c.now, among: s.Nodes, changed: make(chan struct{}, 1)}
	stop, err := w.begin(ctx, c, s)
	if err != nil {
		return nil, err
	}
	go w.followJournal(ctx, c, s, stop)
	return w, nil
}

// begin reads the scope and watches it until the returned function is called.
func (w *Watched) begin(ctx context.Context, c Cluster, s *Scope) (stop func(), err error) {
	m, err := Load(ctx, c, s)
	if err != nil {
		return nil, err
	}
	w.change(func(time.Time) { w.model, w.trouble = m, map[string]error{} })
	ctx, stop = context.WithCancel(ctx)
	in := s.Focus.Namespace
	go w.watch(ctx, c, mirror{w, m, "pods"}, &v1.Pod{}, in, s.podOptions(), c.client.CoreV1().Pods(in).Watch)
	go w.watch(ctx, c, mirror{w, m, "nodes"}, &v1.Node{}, "", metav1.ListOptions{}, c.client.CoreV1().Nodes().Watch)
	return stop, nil
}

// journalInterval is the time between two reads of the journal.
const journalInterval = 3 * time.Second

// followJournal reads the journal periodically: it can't be watched without the permission to watch all ConfigMaps
// of its namespace. When the manager has published another configuration, it reads and watches the scope again, because
// other rules may need other objects. stop ends the present watches.
func (w *Watched) followJournal(ctx context.Context, c Cluster, s *Scope, stop func()) {
	ticks := time.NewTicker(journalInterval)
	defer ticks.Stop()
	for ctx.Err() == nil {
		read, changed := c.journal(ctx, 0), false
		w.change(func(at time.Time) {
			w.model.UpdateJournal(read, at)
			changed = w.model.ConfigChanged()
		})
		if changed {
			next, err := w.begin(ctx, c, s)
			if err == nil {
				stop()
				stop = next
			}
			w.note("policies", err)
		}
		select {
		case <-ticks.C:
		case <-ctx.Done():
		}
	}
}

// change changes the model, and signals the change.
func (w *Watched) change(do func(at time.Time)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w.now())
	select {
	case w.changed <- struct{}{}:
	default:
	}
}

// News receives a value when something has changed.
func (w *Watched) News() <-chan struct{} { return w.changed }

// Pending returns the evictions that are scheduled now on the selected nodes.
func (w *Watched) Pending(context.Context) *foresight.Pending {
	w.mu.Lock()
	defer w.mu.Unlock()
	pending := w.model.Pending(w.now(), w.among)
	for _, what := range []string{"nodes", "pods", "policies"} {
		if err := w.trouble[what]; err != nil {
			pending.Notes = append(pending.Notes, fmt.Sprintf("the %s can't be watched, so this may be "+
				"out of date: %v", what, err))
			pending.Stale = true
		}
	}
	return pending
}

// watch keeps the objects that the options select up to date with the API server, until the context ends.
func (w *Watched) watch(
	ctx context.Context, c Cluster, to mirror, kind runtime.Object, namespace string, selected metav1.ListOptions,
	watchFrom func(context.Context, metav1.ListOptions) (watch.Interface, error),
) {
	silent := logr.Discard() // errors are shown in the answer's notes
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.FieldSelector, o.LabelSelector = selected.FieldSelector, selected.LabelSelector
			if o.ResourceVersion == "0" { // an API server's cache may lag behind what was read before
				o.ResourceVersion = ""
			}
			list, err := c.list(ctx, to.what, namespace, o)
			w.note(to.what, err)
			return list, err
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.FieldSelector, o.LabelSelector = selected.FieldSelector, selected.LabelSelector
			stream, err := watchFrom(ctx, o)
			w.note(to.what, err)
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
	if errors.Is(err, context.Canceled) {
		return
	}
	w.trouble[what] = err
}

// mirror is the store of a reflector: it passes the objects on to the model.
type mirror struct {
	w     *Watched
	model *foresight.Model
	what  string // nodes or pods
}

// Add passes on an object that the watch has shown.
func (m mirror) Add(object any) error { return m.Update(object) }

// Update passes on an object that the watch has shown.
func (m mirror) Update(object any) error {
	m.w.change(func(at time.Time) { m.model.Update(object, at) })
	return nil
}

// Delete removes an object.
func (m mirror) Delete(object any) error {
	m.w.change(func(time.Time) { m.model.Remove(object) })
	return nil
}

// Replace passes on a list.
func (m mirror) Replace(objects []any, _ string) error {
	m.w.change(func(at time.Time) { m.model.Replace(m.what, objects, at) })
	return nil
}

// Resync does nothing.
func (m mirror) Resync() error { return nil }
