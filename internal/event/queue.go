// Package event reports evictions as core/v1 events on the pods.
//
// [Queue] takes notes from the shards and never blocks them. It is bounded: when too many notes wait, the newest note
// of the namespace with the most is dropped, a metric counts it, and an event on the node gives the number.
// Namespaces are served in turn, and the notes on nodes in turn with them. Events are best effort.
package event

import (
	"context"
	"errors"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"golang.org/x/sync/errgroup"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/util/workqueue"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/guard"
)

const (
	defaultCapacity = 16384
	maxWrites       = 16              // under way, one for each namespace at most
	writeTimeout    = 4 * time.Second // of one write
	minWait         = time.Second     // of a namespace after a failed write, doubling up to maxWait
	maxWait         = time.Minute
	flushTime       = 5 * time.Second // for what is queued when the context ends
	summaryEvery    = time.Minute     // the shortest time between two events on a node about dropped notes

	// The times between two writes while evictions are under way, so that the API server serves the evictions first.
	politeness = 100 * time.Millisecond
	haste      = 3 * time.Millisecond // if half the queue is full
)

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
	droppedTimeout  = "timeout"  // the API server did not answer in time, twice
	droppedRefused  = "refused"  // the API server does not take it
	droppedShutdown = "shutdown" // this process ended first
)

// onNodes stands for the namespace of notes on nodes.
const onNodes = ""

// Sink stores events. It must be safe for concurrent use, and give up when the context ends.
type Sink interface {
	Create(ctx context.Context, event *v1.Event) error
}

// NewSink stores events through the client.
func NewSink(client kubernetes.Interface) Sink { return clientSink{client.CoreV1()} }

type clientSink struct{ client typedv1.EventsGetter }

func (c clientSink) Create(ctx context.Context, event *v1.Event) error {
	_, err := c.client.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	return err
}

// Options are the settings of a [Queue].
type Options struct {
	// Sink stores the events. Required.
	Sink Sink

	// Capacity is how many notes may wait. 0: 16384.
	Capacity int

	// Busy reports whether evictions are under way. Nil: they never are.
	Busy func() bool
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	options Options
	written prometheus.Counter
	drops   *prometheus.CounterVec
	leading atomic.Bool

	// turns has the namespaces that may be served, in turn. A namespace waits for a timer instead after a failed write.
	turns    *workqueue.Typed[string]
	failures workqueue.TypedRateLimiter[string]

	mu      sync.Mutex
	ending  bool                     // the context of Run has ended
	closed  bool                     // Run has returned
	lines   map[string][]*queuedNote // by namespace, in the order of arrival; a namespace that waits has a line, too
	waiting int                      // notes in all lines, and writes under way
	serial  uint64                   // of the latest note
	dropped map[string]int           // by node, for the next summary
}

// queuedNote is a note on a pod, or on the node if onNode is set.
type queuedNote struct {
	note   eviction.Note
	onNode *nodeNote
	node   string
	at     time.Time
	serial uint64
	failed bool // to be written, once
}

// New returns a queue that takes notes once it leads, and writes them while Run runs.
func New(o Options) *Queue {
	if o.Capacity <= 0 {
		o.Capacity = defaultCapacity
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	q := &Queue{
		options: o, lines: map[string][]*queuedNote{}, dropped: map[string]int{},
		turns:    workqueue.NewTyped[string](),
		failures: workqueue.NewTypedItemExponentialFailureRateLimiter[string](minWait, maxWait),
		written: prometheus.NewCounter(prometheus.CounterOpts{
			Name: "taint_manager_events_written_total", Help: "Events written.",
		}),
		drops: prometheus.NewCounterVec(prometheus.CounterOpts{
			Name: "taint_manager_events_dropped_total", Help: "Events dropped, by why.",
		}, []string{"reason"}),
	}
	for _, reason := range []string{droppedFull, droppedFailed, droppedTimeout, droppedRefused, droppedShutdown} {
		q.drops.WithLabelValues(reason)
	}
	return q
}

// Collectors returns the metrics of the queue.
func (q *Queue) Collectors() []prometheus.Collector {
	return []prometheus.Collector{q.written, q.drops}
}

func (q *Queue) countDropped(reason string, n int) { q.drops.WithLabelValues(reason).Add(float64(n)) }

// SetLeading sets whether this process leads; at first it does not. Notes put while it does not are discarded,
// and are not counted as dropped: the leader sends them. What is queued is still written.
func (q *Queue) SetLeading(leads bool) { q.leading.Store(leads) }

// Put takes a note. It never blocks.
func (q *Queue) Put(n eviction.Note) {
	q.put(n.Pod.Namespace, &queuedNote{note: n, node: n.Verdict.Node})
}

// PutTrip takes a trip of a breaker, for one event on each of the nodes that it names, which are ten at most.
func (q *Queue) PutTrip(e guard.Event) {
	for _, node := range e.Names {
		q.put(onNodes, &queuedNote{onNode: tripNote(&e), node: node})
	}
}

// PutDrained takes the name of a node whose last pod that had to go is gone, for an event on the node.
func (q *Queue) PutDrained(node string) {
	q.put(onNodes, &queuedNote{onNode: drainedNote(), node: node})
}

func (q *Queue) put(namespace string, n *queuedNote) {
	if !q.leading.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	n.at = time.Now()
	if q.closed {
		q.countDropped(droppedShutdown, 1)
		return
	}
	q.add(namespace, n)
	if q.waiting > q.options.Capacity {
		q.drop()
	}
}

// add appends a note to the line of its namespace; q.mu is held.
func (q *Queue) add(namespace string, n *queuedNote) {
	q.serial++
	n.serial = q.serial
	if _, waits := q.lines[namespace]; !waits {
		q.turns.Add(namespace)
	}
	q.lines[namespace] = append(q.lines[namespace], n)
	q.waiting++
}

// drop drops the newest note of the namespace with the most, and a note on a node only if no other waits; q.mu is held.
func (q *Queue) drop() {
	longest := onNodes
	for namespace, notes := range q.lines {
		if namespace != onNodes && len(notes) > 0 && (longest == onNodes || len(notes) > len(q.lines[longest])) {
			longest = namespace
		}
	}
	if len(q.dropped) == 0 {
		time.AfterFunc(summaryEvery, q.summarize)
	}
	last := len(q.lines[longest]) - 1
	q.dropped[q.lines[longest][last].node]++
	q.lines[longest] = q.lines[longest][:last]
	q.waiting--
	q.countDropped(droppedFull, 1)
}

// summarize queues a note for each node about its dropped notes, although the queue may be full.
func (q *Queue) summarize() {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
	case len(q.lines[onNodes]) > 0 && !q.ending: // summaries would pile up
		time.AfterFunc(summaryEvery, q.summarize)
	default:
		for node, n := range q.dropped {
			q.add(onNodes, &queuedNote{onNode: summary(n), node: node, at: time.Now()})
		}
		clear(q.dropped)
	}
	q.endIfIdle()
}

// Run writes until the context ends, then for at most 5 s more what is queued, and drops and counts the rest. It
// is called once.
func (q *Queue) Run(ctx context.Context) {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { q.end(); time.AfterFunc(flushTime, stop) })
	context.AfterFunc(writing, q.turns.ShutDown)
	var writes errgroup.Group
	writes.SetLimit(maxWrites)
	for {
		namespace, ended := q.turns.Get()
		if ended || writing.Err() != nil {
			break
		}
		if n := q.first(namespace); n != nil {
			q.pause(ctx)
			writes.Go(func() error { q.write(writing, namespace, n); return nil })
		}
	}
	_ = writes.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.countDropped(droppedShutdown, q.waiting+len(q.dropped))
	q.lines, q.waiting, q.dropped = nil, 0, nil
}

// end queues summaries at once, and lets Run return as soon as everything is written.
func (q *Queue) end() {
	q.mu.Lock()
	q.ending = true
	q.mu.Unlock()
	q.summarize()
}

// endIfIdle ends Run if its context has ended and everything is written; q.mu is held.
func (q *Queue) endIfIdle() {
	if q.ending && q.waiting == 0 {
		q.turns.ShutDown()
	}
}

// pause waits between two writes while evictions are under way, unless ctx ends.
func (q *Queue) pause(ctx context.Context) {
	if !q.options.Busy() {
		return
	}
	d := politeness
	q.mu.Lock()
	if q.waiting > q.options.Capacity/2 {
		d = haste
	}
	q.mu.Unlock()
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// first takes the first note of a namespace off its line. Without a note, the line ends.
func (q *Queue) first(namespace string) *queuedNote {
	q.mu.Lock()
	defer q.mu.Unlock()
	notes := q.lines[namespace]
	if len(notes) == 0 {
		delete(q.lines, namespace)
		q.failures.Forget(namespace)
		q.turns.Done(namespace)
		return nil
	}
	q.lines[namespace] = notes[1:]
	return notes[0]
}

// write writes a note. After a failure its namespace waits, and the note is tried once more.
func (q *Queue) write(ctx context.Context, namespace string, n *queuedNote) {
	defer q.turns.Done(namespace)
	attempt, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := q.options.Sink.Create(attempt, render(n))
	reason := whyDropped(ctx, err)
	q.mu.Lock()
	defer q.mu.Unlock()
	if reason == droppedFailed || reason == droppedTimeout {
		time.AfterFunc(q.failures.When(namespace), func() { q.turns.Add(namespace) })
		if !n.failed {
			n.failed = true
			q.lines[namespace] = slices.Insert(q.lines[namespace], 0, n)
			return
		}
	} else {
		q.failures.Forget(namespace)
		q.turns.Add(namespace) // its turn comes after those of namespaces that have come during the write
	}
	q.waiting--
	if reason == "" {
		q.written.Inc()
	} else {
		q.countDropped(reason, 1)
	}
	q.endIfIdle()
}

// whyDropped returns why an event that could not be written is dropped, at the latest when the second try fails too;
// empty if it is written.
func whyDropped(ctx context.Context, err error) string {
	status := apierrors.APIStatus(nil)
	switch {
	case err == nil, apierrors.IsAlreadyExists(err): // an earlier try was carried out, and its answer lost
		return ""
	case errors.As(err, &status) && status.Status().Code/100 == 4 && !apierrors.IsTooManyRequests(err):
		return droppedRefused
	case ctx.Err() != nil:
		return droppedShutdown
	case errors.Is(err, context.DeadlineExceeded), apierrors.IsTimeout(err):
		return droppedTimeout
	}
	return droppedFailed
}
