// Package event reports evictions as core/v1 events on the pods.
//
// [Queue] takes notes from the shards and never blocks them. It is bounded: when too many notes wait, the newest note
// of the namespace with the most is dropped, a metric counts it, and an event on the node gives the number.
// Namespaces are served in turn, and the notes on nodes in turn with them. Events are best effort.
package event

import (
	"cmp"
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

	// Leading reports whether this process leads. Notes put while it does not are discarded, and are not counted as
	// dropped: the leader sends them. What is queued is still written. Required.
	Leading func() bool
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	options Options
	written prometheus.Counter
	drops   *prometheus.CounterVec
	changed chan struct{} // a write may start

	mu        sync.Mutex
	closed    bool // Run has ended
	lines     map[string]*line
	waiting   int    // notes in all lines
	writing   int    // writes under way
	serial    uint64 // of the latest note
	turn      uint64 // of the latest line
	dropped   map[string]int
	summaries time.Time // when summaries of dropped are due
}

// line holds the notes of a namespace that wait, or those on nodes, in the order of their arrival.
type line struct {
	notes     []*queuedNote
	turn      uint64 // the line with the lowest is next
	writing   bool
	wait      time.Duration // after the last write; 0 if it has not failed
	notBefore time.Time     // of the next write
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

// New returns a queue that takes notes while this process leads, and writes them while Run runs.
func New(o Options) *Queue {
	if o.Capacity <= 0 {
		o.Capacity = defaultCapacity
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	q := &Queue{
		options: o, lines: map[string]*line{}, dropped: map[string]int{}, changed: make(chan struct{}, 1),
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

// Put takes a note. It never blocks.
func (q *Queue) Put(n eviction.Note) {
	q.put(n.Pod.Namespace, &queuedNote{note: n, node: n.Verdict.Node})
}

// PutTrip takes a trip of a breaker, for one event on each of the nodes that it names, which are ten at most.
func (q *Queue) PutTrip(e breaker.Event) {
	for _, node := range e.Names {
		q.put(onNodes, &queuedNote{onNode: tripNote(&e), node: node})
	}
}

// PutDrained takes the name of a node whose last pod that had to go is gone, for an event on the node.
func (q *Queue) PutDrained(node string) {
	q.put(onNodes, &queuedNote{onNode: drainedNote(), node: node})
}

func (q *Queue) put(namespace string, n *queuedNote) {
	if !q.options.Leading() {
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
		q.drop(n.at)
	}
	q.signal()
}

// add appends a note to its line; q.mu is held.
func (q *Queue) add(namespace string, n *queuedNote) {
	q.serial++
	n.serial = q.serial
	l := q.lines[namespace]
	if l == nil {
		q.turn++
		l = &line{turn: q.turn}
		q.lines[namespace] = l
	}
	l.notes = append(l.notes, n)
	q.waiting++
}

// drop drops the newest note of the namespace with the most, and a note on a node only if no other waits; q.mu is held.
func (q *Queue) drop(now time.Time) {
	var longest *line
	for name, l := range q.lines {
		if name != onNodes && len(l.notes) > 0 && (longest == nil || len(l.notes) > len(longest.notes)) {
			longest = l
		}
	}
	longest = cmp.Or(longest, q.lines[onNodes])
	last := len(longest.notes) - 1
	if len(q.dropped) == 0 {
		q.summaries = now.Add(summaryEvery)
	}
	q.dropped[longest.notes[last].node]++
	longest.notes = slices.Delete(longest.notes, last, last+1)
	q.waiting--
	q.countDropped(droppedFull, 1)
}

// signal wakes the goroutine that starts writes; repeats collapse.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// Run writes until the context ends, then for at most 5 s more what is queued, and drops and counts the rest. It
// is called once.
func (q *Queue) Run(ctx context.Context) {
	// Writes outlive ctx by the time to flush.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, stop) })
	q.startWrites(ctx, writing)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.countDropped(droppedShutdown, q.waiting+len(q.dropped))
	q.lines, q.waiting, q.dropped = nil, 0, nil
}

// startWrites writes until ctx has ended and no note waits, or writing has ended. It returns when the writes have
// ended.
func (q *Queue) startWrites(ctx, writing context.Context) {
	var writes sync.WaitGroup
	defer writes.Wait()
	for writing.Err() == nil {
		q.pause(ctx)
		l, n, wake := q.next(time.Now(), ctx.Err() != nil)
		switch {
		case n != nil:
			writes.Go(func() { q.write(writing, l, n) })
			continue
		case ctx.Err() != nil && q.idle():
			return
		}
		ended, timer := ctx.Done(), time.NewTimer(time.Until(wake))
		if ctx.Err() != nil {
			ended = writing.Done()
		}
		select {
		case <-q.changed:
		case <-timer.C:
		case <-ended:
		}
		timer.Stop()
	}
}

// pause waits between two writes while evictions are under way, unless ctx ends.
func (q *Queue) pause(ctx context.Context) {
	q.mu.Lock()
	waiting := q.waiting
	q.mu.Unlock()
	if waiting == 0 || !q.options.Busy() {
		return
	}
	d := politeness
	if waiting > q.options.Capacity/2 {
		d = haste
	}
	select {
	case <-ctx.Done():
	case <-time.After(d):
	}
}

// idle reports whether nothing is queued or under way.
func (q *Queue) idle() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.waiting+q.writing+len(q.dropped) == 0
}

// next takes the note whose turn it is, off its line. If no write may start, it returns when to ask again unless
// something changes before.
func (q *Queue) next(now time.Time, ended bool) (first *line, n *queuedNote, wake time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	wake = q.summarize(now, ended)
	if q.writing == maxWrites {
		return nil, nil, wake
	}
	for name, l := range q.lines {
		switch {
		case l.writing:
		case now.Before(l.notBefore):
			if l.notBefore.Before(wake) {
				wake = l.notBefore
			}
		case len(l.notes) == 0:
			delete(q.lines, name)
		case first == nil || l.turn < first.turn:
			first = l
		}
	}
	if first == nil {
		return nil, nil, wake
	}
	n = first.notes[0]
	first.notes = slices.Delete(first.notes, 0, 1)
	first.writing = true
	q.waiting--
	q.writing++
	return first, n, wake
}

// summarize queues a note for each node about its dropped notes if that is due, although the queue may be full, and
// otherwise returns when to ask again; q.mu is held.
func (q *Queue) summarize(now time.Time, ended bool) (wake time.Time) {
	l := q.lines[onNodes]
	switch {
	case len(q.dropped) == 0:
	case !ended && now.Before(q.summaries):
		return q.summaries
	case l == nil || len(l.notes) == 0 || ended: // otherwise nodes would have summaries for many minutes
		for node, n := range q.dropped {
			q.add(onNodes, &queuedNote{onNode: summary(n), node: node, at: now})
		}
		clear(q.dropped)
	}
	return now.Add(summaryEvery)
}

// write writes a note. After a failure its namespace waits, and the note is tried once more.
func (q *Queue) write(ctx context.Context, l *line, n *queuedNote) {
	attempt, cancel := context.WithTimeout(ctx, writeTimeout)
	defer cancel()
	err := q.options.Sink.Create(attempt, render(n))
	reason := whyDropped(ctx, err)
	q.mu.Lock()
	defer q.mu.Unlock()
	q.turn++ // lines that have come during the write are served before
	l.turn, l.writing = q.turn, false
	q.writing--
	q.signal()
	if reason != droppedFailed && reason != droppedTimeout {
		l.wait = 0
	} else {
		l.wait = min(max(minWait, 2*l.wait), maxWait)
		l.notBefore = time.Now().Add(l.wait)
		if !n.failed {
			n.failed = true
			l.notes = slices.Insert(l.notes, 0, n)
			q.waiting++
			return
		}
	}
	if reason == "" {
		q.written.Inc()
	} else {
		q.countDropped(reason, 1)
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
