// Package event reports evictions as core/v1 events on the pods.
//
// [Queue] takes notes from the shards and never blocks them. It is bounded, also for each namespace: further notes are
// dropped, and a metric counts them. A namespace has 2 of the 16 writers at most. While evictions wait for places,
// events on pods wait, too, for 30 s at most: an event costs the API server as much as an eviction. Events are best
// effort.
package event

import (
	"context"
	"errors"
	"slices"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
)

const (
	capacity       = 16384            // notes that wait
	nsCapacity     = capacity / 4     // of one namespace
	maxWrites      = 16               // in flight
	maxInNamespace = 2                // in flight, of one namespace
	writeTimeout   = 4 * time.Second  // of one write
	retryAfter     = time.Second      // of a namespace after a write that failed
	longestHold    = 30 * time.Second // of a note, while evictions wait for places
	holdPoll       = 100 * time.Millisecond
	flushTime      = 5 * time.Second // for what is queued when the context ends
)

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
	droppedTimeout  = "timeout"  // the API server did not answer in time, twice
	droppedRefused  = "refused"  // the API server does not take it
	droppedShutdown = "shutdown" // this process ended first
)

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
	Sink Sink        // stores the events
	Busy func() bool // reports whether evictions wait for places; nil: they never do

	// Leading reports whether this process leads. Notes put while it does not are discarded, and are not counted as
	// dropped: the leader sends them. What is queued is still written.
	Leading func() bool
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	options Options
	written prometheus.Counter
	drops   *prometheus.CounterVec
	changed chan struct{} // a write may start

	mu         sync.Mutex
	closed     bool          // Run has ended
	notes      []*queuedNote // that wait, in the order of their arrival
	namespaces map[string]*namespace
	writing    int    // writes in flight
	serial     uint64 // of the latest note
}

// namespace is what the queue knows of a namespace with notes or writes.
type namespace struct {
	waiting, writing int
	notBefore        time.Time // of the next write
}

// queuedNote is a note on a pod, or on the node if onNode is set.
type queuedNote struct {
	namespace string
	note      eviction.Note
	onNode    *nodeNote
	node      string
	at        time.Time
	serial    uint64
	failed    bool // to be written, once
}

// New returns a queue that takes notes while this process leads, and writes them while Run runs.
func New(o Options) *Queue {
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	q := &Queue{
		options: o, namespaces: map[string]*namespace{}, changed: make(chan struct{}, 1),
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

// Put takes a note. It never blocks.
func (q *Queue) Put(n eviction.Note) {
	q.put(&queuedNote{namespace: n.Pod.Namespace, note: n, node: n.Verdict.Node})
}

// PutTrip takes a trip of a breaker, for one event on each of the nodes that it names, which are ten at most.
func (q *Queue) PutTrip(e breaker.Event) {
	for _, node := range e.Names {
		q.put(&queuedNote{onNode: tripNote(&e), node: node})
	}
}

// PutDrained takes the name of a node whose last pod that had to go is gone, for an event on the node.
func (q *Queue) PutDrained(node string) { q.put(&queuedNote{onNode: drainedNote(), node: node}) }

func (q *Queue) put(n *queuedNote) {
	if !q.options.Leading() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.count(droppedShutdown, 1)
		return
	}
	ns := q.namespaces[n.namespace]
	switch {
	case ns == nil:
		ns = &namespace{}
		q.namespaces[n.namespace] = ns
	case ns.waiting >= nsCapacity || len(q.notes) >= capacity:
		q.count(droppedFull, 1)
		return
	}
	q.serial++
	n.at, n.serial = time.Now(), q.serial
	q.notes = append(q.notes, n)
	ns.waiting++
	q.signal()
}

// signal wakes the goroutine that starts writes; repeats collapse.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

func (q *Queue) count(reason string, n int) { q.drops.WithLabelValues(reason).Add(float64(n)) }

// Run writes until the context ends, then for at most 5 s more what is queued, and drops and counts the rest. It is
// called once.
func (q *Queue) Run(ctx context.Context) {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx)) // writes outlive ctx by the time to flush
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, stop) })
	q.startWrites(ctx, writing)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.count(droppedShutdown, len(q.notes))
	q.notes = nil
}

// startWrites writes until ctx has ended and no note waits, or writing has ended. It returns when the writes have
// ended.
func (q *Queue) startWrites(ctx, writing context.Context) {
	var writes sync.WaitGroup
	defer writes.Wait()
	for writing.Err() == nil {
		over, ended := ctx.Err() != nil, ctx.Done()
		if over {
			ended = writing.Done()
		}
		n, wake, idle := q.next(time.Now(), over)
		switch {
		case n != nil:
			writes.Go(func() { q.write(writing, n) })
			continue
		case over && idle:
			return
		}
		timer := time.NewTimer(wake)
		select {
		case <-q.changed:
		case <-timer.C:
		case <-ended:
		}
		timer.Stop()
	}
}

// next takes the first note whose namespace and the evictions permit a write. If there is none, wake is when to ask
// again unless something changes; idle reports whether nothing waits or is in flight.
func (q *Queue) next(now time.Time, over bool) (_ *queuedNote, wake time.Duration, idle bool) {
	busy := !over && q.options.Busy()
	q.mu.Lock()
	defer q.mu.Unlock()
	wake = time.Minute
	if q.writing == maxWrites {
		return nil, wake, false
	}
	for i, n := range q.notes {
		ns := q.namespaces[n.namespace]
		switch {
		case ns.writing == maxInNamespace:
		case now.Before(ns.notBefore):
			wake = min(wake, ns.notBefore.Sub(now))
		case busy && n.onNode == nil && now.Sub(n.at) < longestHold:
			wake = min(wake, holdPoll)
		default:
			q.notes = slices.Delete(q.notes, i, i+1)
			ns.waiting--
			ns.writing++
			q.writing++
			return n, 0, false
		}
	}
	return nil, wake, len(q.notes)+q.writing == 0
}

// write writes a note. After a failure its namespace waits, and the note is tried once more.
func (q *Queue) write(ctx context.Context, n *queuedNote) {
	attempt, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	reason := whyDropped(ctx, q.options.Sink.Create(attempt, render(n)))
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.signal()
	ns := q.namespaces[n.namespace]
	ns.writing--
	q.writing--
	passing := reason == droppedFailed || reason == droppedTimeout
	if passing {
		ns.notBefore = time.Now().Add(retryAfter)
	}
	switch {
	case passing && !n.failed:
		n.failed = true
		q.notes = slices.Insert(q.notes, 0, n)
		ns.waiting++
	case reason == "":
		q.written.Inc()
	default:
		q.count(reason, 1)
	}
	if ns.waiting+ns.writing == 0 {
		delete(q.namespaces, n.namespace)
	}
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
