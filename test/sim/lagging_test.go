package sim

import (
	"context"
	"encoding/json"
	"net/http"
	"strconv"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// lagging is a clientset whose API server is the world's. Lists and watches are those of client-go's fake, with
// reactors. Requests for single objects take time, and may fail on their way.
type lagging struct {
	*fake.Clientset
	m *manager
}

func newLagging(m *manager) *lagging {
	c := &lagging{&fake.Clientset{}, m}
	c.AddReactor("list", "*", m.list)
	c.AddWatchReactor("*", m.watch)
	return c
}

func (l *lagging) CoreV1() typedv1.CoreV1Interface { return laggingCore{l.Clientset.CoreV1(), l.m} }

type laggingCore struct {
	typedv1.CoreV1Interface
	m *manager
}

func (l laggingCore) Pods(namespace string) typedv1.PodInterface {
	return laggingPods{l.CoreV1Interface.Pods(namespace), l.m}
}

func (l laggingCore) Nodes() typedv1.NodeInterface {
	return laggingNodes{l.CoreV1Interface.Nodes(), l.m}
}

type laggingPods struct {
	typedv1.PodInterface
	m *manager
}

type laggingNodes struct {
	typedv1.NodeInterface
	m *manager
}

func (l laggingNodes) Get(ctx context.Context, name string, _ metav1.GetOptions) (live *v1.Node, err error) {
	err = l.m.request(ctx, func(s *server) error {
		n := s.node(name)
		if n == nil {
			return notFound(name)
		}
		live = n.DeepCopy()
		return nil
	}, nil)
	return live, err
}

func (l laggingPods) Patch(ctx context.Context, name string, _ types.PatchType, body []byte, _ metav1.PatchOptions, _ ...string) (patched *v1.Pod, err error) {
	var object metav1.PartialObjectMetadata
	if err := json.Unmarshal(body, &object); err != nil {
		return nil, err
	}
	err = l.m.request(ctx, func(s *server) error {
		p, err := s.patch(name, object.UID)
		patched = p.DeepCopy()
		return err
	}, nil)
	return patched, err
}

func (l laggingPods) Delete(ctx context.Context, name string, o metav1.DeleteOptions) error {
	return l.m.delete(ctx, name, o, false)
}

func (l laggingPods) EvictV1(ctx context.Context, e *policyv1.Eviction) error {
	return l.m.delete(ctx, e.Name, *e.DeleteOptions, true)
}

// delete sends a request that deletes a pod.
func (m *manager) delete(ctx context.Context, name string, o metav1.DeleteOptions, eviction bool) error {
	d := &deletion{m: m, uid: meantBy(ctx), precondition: precondition(&o)}
	if len(o.DryRun) > 0 {
		d = nil
	}
	return m.request(ctx, func(s *server) error {
		_, err := s.delete(name, o, eviction)
		return err
	}, d)
}

// deletion is what the oracle has to know of a request that deletes.
type deletion struct {
	m                 *manager
	uid, precondition types.UID
	accepted          bool
}

// request sends a request: it may fail to reach the server, be rejected there, be slow, or lose its answer.
func (m *manager) request(ctx context.Context, do func(*server) error, d *deletion) error {
	b := m.b
	b.mu.Lock()
	way := b.way()
	if d != nil && !m.dead {
		b.check(m, m.observer.Deletes(d.uid, d.precondition, m.leads()))
	}
	dead := m.dead
	b.mu.Unlock()
	if dead {
		return canceled()
	}
	if way.refused {
		return connectionRefused()
	}
	if !sleep(ctx, way.there) {
		return d.answered(canceledOr(ctx))
	}
	if way.hangs {
		<-ctx.Done()
		return d.answered(canceledOr(ctx))
	}
	err := way.err
	if err == nil {
		err = d.served(b, do)
	}
	if way.lost {
		b.mu.Lock()
		b.counts["LostAnswers"]++
		b.mu.Unlock()
		err = connectionLost()
	}
	if !sleep(ctx, way.back) {
		err = canceledOr(ctx)
	}
	return d.answered(err)
}

// served has the server answer the request.
func (d *deletion) served(b *bubble, do func(*server) error) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	err := do(b.server)
	if d != nil && err == nil {
		d.accepted = true
		b.counts["Evicted"]++
		b.check(d.m, d.m.observer.Arrived(d.uid, d.uid))
	}
	return err
}

// answered passes the answer that the process gets to the oracle.
func (d *deletion) answered(err error) error {
	if d != nil && d.accepted {
		d.m.b.mu.Lock()
		defer d.m.b.mu.Unlock()
		d.m.observer.Answered(d.uid, err == nil)
	}
	return err
}

// way is the fate of a request, drawn when it is sent.
type way struct {
	there, back          time.Duration
	refused, hangs, lost bool
	err                  error
}

func (b *bubble) way() way {
	s, r := b.server, b.r
	w := way{there: span(r, 0, 10*time.Millisecond), back: span(r, 0, 10*time.Millisecond), refused: s.strike(away), hangs: s.strike(hang)}
	if s.strike(slow) && r.IntN(2) == 0 {
		w.there = span(r, 0, 40*time.Second)
	}
	switch {
	case s.strike(failing) && r.IntN(3) > 0:
		w.err = failed(r.IntN(3))
	case s.strike(throttling) && r.IntN(3) > 0:
		w.err = loaded()
	}
	w.lost = s.strike(losing) && r.IntN(2) == 0
	return w
}

// sleep waits for the duration. It returns false if the context ends before that.
func sleep(ctx context.Context, d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-ctx.Done():
		return false
	}
}

func canceledOr(ctx context.Context) error {
	if ctx.Err() == context.DeadlineExceeded {
		return timedOut()
	}
	return canceled()
}

// list returns the nodes, or the pods that are watched.
func (m *manager) list(action clienttesting.Action) (bool, runtime.Object, error) {
	b := m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	pods := action.GetResource().Resource == "pods"
	if m.dead || b.server.strike(away) || b.server.strike(hang) {
		return true, nil, connectionRefused()
	}
	i := resource(pods)
	how := oracle.FirstListed
	if m.listed[i] {
		how = oracle.Relisted
		b.counts["Relists"]++
	}
	m.listed[i], m.forgets[i], m.shown = true, false, b.now()
	nodes, all := b.server.stateAt(len(b.server.log))
	meta := metav1.ListMeta{ResourceVersion: strconv.Itoa(b.server.version)}
	if pods {
		m.say("lists %d pods", len(all))
		m.observer.ListedPods(b.now(), all, how)
		list := &v1.PodList{ListMeta: meta}
		for _, p := range all {
			list.Items = append(list.Items, *p.DeepCopy())
		}
		return true, list, nil
	}
	m.say("lists %d nodes", len(nodes))
	m.observer.ListedNodes(b.now(), nodes, int64(b.server.version), how)
	list := &v1.NodeList{ListMeta: meta}
	for _, n := range nodes {
		list.Items = append(list.Items, *n.DeepCopy())
	}
	return true, list, nil
}

func (m *manager) say(format string, args ...any) { m.b.say(m.name, format, args...) }

// wire is one watch.
type wire struct {
	m      *manager
	pods   bool
	pos    int
	events chan watch.Event
	broken chan struct{}
	once   sync.Once
}

func (w *wire) ResultChan() <-chan watch.Event { return w.events }

// Stop ends the watch.
func (w *wire) Stop() { w.once.Do(func() { close(w.broken) }) }

// breaks ends the watches of a resource, from outside.
func (m *manager) breaks(pods, forgets bool) {
	m.forgets[resource(pods)] = m.forgets[resource(pods)] || forgets
	m.say("watch of pods (%v) breaks", pods)
	for _, w := range m.watches {
		if w.pods == pods {
			w.Stop()
		}
	}
}

// watch starts a watch.
func (m *manager) watch(action clienttesting.Action) (bool, watch.Interface, error) {
	b := m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	pods := action.GetResource().Resource == "pods"
	switch {
	case m.dead, b.server.strike(away), b.server.strike(hang):
		return true, nil, connectionRefused()
	case m.forgets[resource(pods)]:
		return true, nil, apierrors.NewResourceExpired("too old resource version")
	}
	from, err := strconv.Atoi(action.(clienttesting.WatchActionImpl).ListOptions.ResourceVersion)
	if err != nil {
		return true, nil, status(http.StatusBadRequest, err.Error())
	}
	w := &wire{m: m, pods: pods, events: make(chan watch.Event), broken: make(chan struct{})}
	for w.pos < len(b.server.log) && b.server.log[w.pos].version <= from {
		w.pos++
	}
	m.watches = append(m.watches, w)
	go w.pump()
	return true, w, nil
}

// pump delivers writes, each a little late.
func (w *wire) pump() {
	defer close(w.events)
	for {
		next, wait, changed := w.next()
		var due <-chan time.Time
		if next != nil {
			due, changed = time.After(wait), nil
		}
		select {
		case <-w.broken:
			return
		case <-changed:
			continue
		case <-due:
		}
		if !w.hand(next) {
			return
		}
	}
}

// next returns the next event to deliver and when; nil, and a channel that is closed at the next change, if there is
// none.
func (w *wire) next() (*written, time.Duration, <-chan struct{}) {
	b := w.m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	for ; w.pos < len(b.server.log); w.pos++ {
		entry := &b.server.log[w.pos]
		if w.event(entry) == "" {
			continue
		}
		lag := span(b.r, 0, 2*time.Millisecond)
		if b.r.IntN(8) == 0 {
			lag = span(b.r, 0, b.plan.lag)
		}
		w.pos++
		return entry, max(entry.at+lag, w.m.quiet[resource(w.pods)]) - b.now(), nil
	}
	return nil, 0, b.changed
}

func (w *wire) event(entry *written) watch.EventType {
	return (&stream{pods: w.pods}).event(entry)
}

// hand delivers an event. It returns false if the watch has ended.
func (w *wire) hand(entry *written) bool {
	b := w.m.b
	b.mu.Lock()
	defer b.mu.Unlock()
	if w.m.dead {
		return false
	}
	event := w.event(entry)
	var object runtime.Object = entry.node
	if w.pods {
		object = entry.pod
	}
	// The lock is held so that the oracle records the event before the manager acts on it.
	select {
	case w.events <- watch.Event{Type: event, Object: object.DeepCopyObject()}:
	case <-w.broken:
		return false
	}
	w.m.shown = b.now()
	if w.pods {
		w.m.say("sees %s %v", event, shown{entry.pod})
		w.m.observer.WatchedPod(b.now(), entry.pod, event == watch.Deleted)
	} else {
		w.m.say("sees %s %v", event, shown{entry.node})
		w.m.observer.WatchedNode(b.now(), entry.node, event == watch.Deleted)
	}
	return true
}
