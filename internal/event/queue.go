package event

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

const (
	defaultCapacity = 16384
	flushTime       = 5 * time.Second // for what is queued when the context ends

	// summaryEvery is the shortest time between two events on a node about the notes that were dropped.
	summaryEvery = time.Minute
)

// Options are the settings of a [Queue].
type Options struct {
	// Sink stores the events. Required.
	Sink Sink

	// Capacity is how many notes may wait. 0: 16384.
	Capacity int

	// Busy reports whether evictions are under way. While they are, the writers go slower, unless half
	// the queue is full. Nil: they never are.
	Busy func() bool
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	sink    Sink
	busy    func() bool
	metrics *metrics
	serial  atomic.Uint64
	leading atomic.Bool
	changed chan struct{} // order has changed: a write may start

	mu        sync.Mutex
	closed    bool // Run has ended
	order     *order
	dropped   map[string]int // notes by node, since summaries were due the last time
	summaries time.Time      // when summaries of dropped are due
	due       map[string]int // notes by node whose summaries wait for room
}

// queuedNote is a note, or what is to be said about a node, and the time when it was taken.
type queuedNote struct {
	note   eviction.Note
	onNode *nodeNote // nil for a note
	node   string
	at     time.Time
}

// namespace returns the namespace of the note's pod, or onNodes.
func (q *queuedNote) namespace() string {
	if q.onNode != nil {
		return onNodes
	}
	return q.note.Pod.Namespace
}

// New returns a queue that takes notes once it leads, and writes them while Run runs.
func New(o Options) *Queue {
	if o.Capacity <= 0 {
		o.Capacity = defaultCapacity
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	return &Queue{
		sink: o.Sink, busy: o.Busy, metrics: newMetrics(),
		order: newOrder(o.Capacity), dropped: map[string]int{}, due: map[string]int{},
		changed: make(chan struct{}, 1),
	}
}

// SetLeading sets whether this process leads; at first it does not. Notes put while it does not are discarded,
// and are not counted as dropped: the leader sends them. What is queued is still written.
func (q *Queue) SetLeading(leads bool) { q.leading.Store(leads) }

// Put takes a note. It never blocks. When the queue is full, the newest note of the namespace with the most notes is
// dropped and counted; after Run has ended, each note is.
func (q *Queue) Put(n eviction.Note) {
	q.put(&queuedNote{note: n, node: n.Verdict.Node, at: time.Now()})
}

func (q *Queue) put(n *queuedNote) {
	if !q.leading.Load() {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.closed {
		q.metrics.drop(droppedShutdown, 1)
		return
	}
	if dropped := q.order.put(n); dropped != nil {
		q.metrics.drop(droppedFull, 1)
		if len(q.dropped) == 0 {
			q.summaries = n.at.Add(summaryEvery)
		}
		q.dropped[dropped.node]++
	}
	q.signal()
}

// signal wakes the goroutine that starts writes; repeats collapse.
func (q *Queue) signal() {
	select {
	case q.changed <- struct{}{}:
	default:
	}
}

// summarize queues the summaries that are due, one for each node, while there is room; q.mu is held. Notes that are
// dropped from now on wait for the next minute, so that a long overflow leads to one summary a minute, too.
func (q *Queue) summarize(now time.Time, ended bool) {
	if ended || !now.Before(q.summaries) {
		for node, n := range q.dropped {
			q.due[node] += n
		}
		clear(q.dropped)
	}
	for node, n := range q.due {
		if q.order.waiting == q.order.capacity {
			return
		}
		q.order.put(&queuedNote{onNode: summary(n), node: node, at: now})
		delete(q.due, node)
	}
}

// Run writes until the context ends, then for at most 5 s more what is queued, and drops and counts the rest. It
// is called once.
func (q *Queue) Run(ctx context.Context) {
	// Writes outlive ctx by the time to flush.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	context.AfterFunc(ctx, func() { time.AfterFunc(flushTime, stop) })
	q.writeNotes(ctx, writing)
	q.close()
}

// close drops what is still queued, and all that comes.
func (q *Queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.metrics.drop(droppedShutdown, q.order.waiting+len(q.dropped)+len(q.due))
	q.order = newOrder(q.order.capacity)
}
