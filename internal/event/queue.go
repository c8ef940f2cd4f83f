// Package event reports evictions as core/v1 events on the pods.
//
// [Queue.Put], PutTrip and PutDrained take notes and never block; [Queue.Run] writes at most 16 at a time, and at most
// 2 of one namespace. The queue is bounded, in total and per namespace; excess notes are dropped and counted. A write
// that fails or takes 4 s goes to the end of the queue, once. An event costs the API server as much as an eviction:
// while evictions wait for places, and for a second after, all events but those of breakers wait for 30 s, and are then
// written one at a time for each namespace. Events are best effort.
package event

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
)

const (
	capacity       = 16384            // events that wait
	nsCapacity     = capacity / 4     // of one namespace
	maxWrites      = 16               // in flight
	maxInNamespace = 2                // in flight, of one namespace
	writeTimeout   = 4 * time.Second  // of one write
	failureTime    = time.Second      // least time of a failed first write, so that an outage does not use up the queue
	longestHold    = 30 * time.Second // of an event, while evictions wait for places
	holdPoll       = 100 * time.Millisecond
	flushTime      = 5 * time.Second // for what is queued when the context ends
)

// Why an event was dropped: a metric's label.
const (
	droppedFull     = "full"     // too many were waiting
	droppedFailed   = "failed"   // it could not be written, twice
	droppedTimeout  = "timeout"  // the API server did not answer in time, twice
	droppedRefused  = "refused"  // the API server rejected it
	droppedShutdown = "shutdown" // this process ended first
)

// Sink stores events. It must be safe for concurrent use, and give up when the context ends.
type Sink func(ctx context.Context, event *v1.Event) error

// NewSink returns a sink that stores events through the client.
func NewSink(client kubernetes.Interface) Sink {
	return func(ctx context.Context, event *v1.Event) error {
		_, err := client.CoreV1().Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
		return err
	}
}

// Options are the settings of a [Queue]. All fields are required.
type Options struct {
	Sink    Sink        // stores the events
	Busy    func() bool // reports whether evictions wait for places, or did a second ago
	Leading func() bool // while it returns false, notes are discarded and not counted: the leader sends them
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	options Options
	written prometheus.Counter
	drops   *prometheus.CounterVec
	changed chan struct{} // a write may start

	mu         sync.Mutex
	closed     bool      // Run has ended
	queue      []*queued // that wait, in the order of their arrival
	namespaces map[string]counts
	writing    int    // writes in flight
	serial     uint64 // of the latest event
}

// queued is an event that waits to be written, or is being written.
type queued struct {
	namespace string // empty: of a node
	urgent    bool   // evictions do not hold it back
	at        time.Time
	serial    uint64
	event     func() *v1.Event // without name and times
	tried     bool             // a write has failed; if the next fails, too, the event is dropped
}

// counts are the numbers of events that wait and of those that are being written.
type counts struct{ waiting, writing int }

// New returns a queue that takes notes while this process leads, and writes them while Run runs.
func New(o Options) *Queue {
	q := &Queue{
		options: o, changed: make(chan struct{}, 1), namespaces: map[string]counts{},
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
	q.put(&queued{namespace: n.Pod.Namespace, event: func() *v1.Event { return podEvent(&n) }})
}

// PutTrip takes a trip of a breaker, for an event on each node that the trip names: at most ten.
func (q *Queue) PutTrip(e breaker.Event) {
	for _, node := range e.Names {
		q.put(&queued{urgent: true, event: func() *v1.Event {
			return nodeEvent(node, v1.EventTypeWarning, "BreakerTripped", tripMessage(&e))
		}})
	}
}

// PutDrained takes the name of a drained node, for an event on the node: the last pod that had to leave is gone.
func (q *Queue) PutDrained(node string) {
	q.put(&queued{event: func() *v1.Event { return nodeEvent(node, v1.EventTypeNormal, "Drained", drainedMessage) }})
}

func (q *Queue) put(e *queued) {
	leads := q.options.Leading()
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case !leads:
	case q.closed:
		q.drops.WithLabelValues(droppedShutdown).Inc()
	case len(q.queue) >= capacity, q.namespaces[e.namespace].waiting >= nsCapacity:
		q.drops.WithLabelValues(droppedFull).Inc()
	default:
		q.serial++
		e.at, e.serial = time.Now(), q.serial
		q.queue = append(q.queue, e)
		q.count(e.namespace, 1, 0)
		q.signal()
	}
}

// count adds to the counts of a namespace.
func (q *Queue) count(namespace string, waiting, writing int) {
	q.writing += writing
	n := q.namespaces[namespace]
	n.waiting, n.writing = n.waiting+waiting, n.writing+writing
	if q.namespaces[namespace] = n; n == (counts{}) {
		delete(q.namespaces, namespace)
	}
}

// signal wakes the goroutine that starts writes; repeats collapse.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Run writes events until the context ends. Then it writes queued events for at most 5 s more, and drops and counts the
// rest. It may be called only once.
func (q *Queue) Run(ctx context.Context) {
	writing, stop := context.WithCancel(context.WithoutCancel(ctx)) // writes may outlive ctx by flushTime
	defer stop()
	context.AfterFunc(ctx, func() { q.signal(); time.AfterFunc(flushTime, stop) })
	var writes sync.WaitGroup
	for over := false; writing.Err() == nil; over = ctx.Err() != nil {
		e, left := q.next(time.Now(), over)
		switch {
		case e != nil:
			writes.Go(func() { q.write(writing, e) })
		case left:
			select {
			case <-q.changed:
			case <-time.After(holdPoll):
			case <-writing.Done():
			}
		case over:
			stop()
		default:
			<-q.changed
		}
	}
	writes.Wait()
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.drops.WithLabelValues(droppedShutdown).Add(float64(len(q.queue)))
	q.queue = nil
}

// next takes the first event that may be written now, given the other writes and the evictions that wait for places. If
// there is none, left reports whether any event waits or is being written.
func (q *Queue) next(now time.Time, over bool) (_ *queued, left bool) {
	busy := !over && q.options.Busy()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.writing == maxWrites {
		return nil, true
	}
	most := maxInNamespace
	if busy {
		most = 1
	}
	for i, e := range q.queue {
		held := busy && !e.urgent && now.Sub(e.at) < longestHold
		if !held && q.namespaces[e.namespace].writing < most {
			copy(q.queue[1:], q.queue[:i]) // only the events before it move: thousands may be after it
			q.queue[0], q.queue = nil, q.queue[1:]
			q.count(e.namespace, -1, 1)
			return e, true
		}
	}
	return nil, len(q.namespaces) > 0
}

// write writes an event. If the API server may take it later, it goes to the end of the queue, once.
func (q *Queue) write(ctx context.Context, e *queued) {
	event := e.event()
	stamp(event, e.at, e.serial)
	failure, end := context.WithTimeout(ctx, failureTime)
	defer end()
	attempt, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	reason := whyDropped(ctx, q.options.Sink(attempt, event))
	again := !e.tried && (reason == droppedFailed || reason == droppedTimeout)
	if again {
		<-failure.Done()
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	defer q.signal()
	q.count(e.namespace, 0, -1)
	switch {
	case again:
		e.tried = true
		q.queue = append(q.queue, e)
		q.count(e.namespace, 1, 0)
	case reason == "":
		q.written.Inc()
	default:
		q.drops.WithLabelValues(reason).Inc()
	}
}

// whyDropped returns why an event is dropped if it is not tried again; empty if it was written.
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
