package event

import (
	"context"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
)

const (
	defaultCapacity = 16384
	writers         = 2               // few, so that events stay behind the evictions
	flushTime       = 5 * time.Second // for what is queued when the context ends
)

// Options are the settings of a [Queue].
type Options struct {
	// Sink stores the events. Required.
	Sink Sink

	// Capacity is how many notes may wait. 0: 16384.
	Capacity int

	// Busy reports whether evictions are under way. While they are, the writers go slower, unless half
	// the queue is full. It is called by several goroutines. Nil: they never are.
	Busy func() bool

	// Metrics counts what is written and dropped. Nil: nothing is counted.
	Metrics *Metrics
}

// Queue takes notes and writes them as events. Its methods are safe for concurrent use.
type Queue struct {
	sink    Sink
	busy    func() bool
	metrics *Metrics
	notes   chan *queuedNote
	serial  atomic.Uint64
	leading atomic.Bool

	mu      sync.Mutex
	closed  bool           // Run has ended
	dropped map[string]int // by node, since the last summary; nil when none
	overrun chan struct{}  // dropped is no longer empty
}

// queuedNote is a note, or a trip with one of its nodes, and the time when it was taken.
type queuedNote struct {
	note eviction.Note
	trip *guard.Event // nil for a note
	node string
	at   time.Time
}

// New returns a queue that takes notes once it leads, and writes them while Run runs.
func New(o Options) *Queue {
	if o.Capacity <= 0 {
		o.Capacity = defaultCapacity
	}
	if o.Busy == nil {
		o.Busy = func() bool { return false }
	}
	if o.Metrics == nil {
		o.Metrics, _ = NewMetrics(nil) // without a registry it can't fail
	}
	return &Queue{
		sink: o.Sink, busy: o.Busy, metrics: o.Metrics,
		notes: make(chan *queuedNote, o.Capacity), overrun: make(chan struct{}, 1),
	}
}

// SetLeading sets whether this process leads; at first it does not. Notes put while it does not are discarded,
// and are not counted as dropped: the leader sends them. What is queued is still written.
func (q *Queue) SetLeading(leads bool) { q.leading.Store(leads) }

// Put takes a note. It never blocks; when the queue is full or Run has ended, the note is dropped and
// counted.
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
	select {
	case q.notes <- n:
	default:
		q.overflow(n.node)
	}
}

// overflow counts a note that is dropped because the queue is full; q.mu is held.
func (q *Queue) overflow(node string) {
	q.metrics.drop(droppedFull, 1)
	if q.dropped == nil {
		q.dropped = map[string]int{}
	}
	q.dropped[node]++
	select {
	case q.overrun <- struct{}{}:
	default:
	}
}

// Run writes until the context ends, then for at most 5 s more what is queued, and drops and counts the rest. It
// is called once.
func (q *Queue) Run(ctx context.Context) {
	// Writes outlive ctx by the time to flush.
	writing, stop := context.WithCancel(context.WithoutCancel(ctx))
	defer stop()
	var group sync.WaitGroup
	for range writers {
		group.Go(func() { q.write(ctx, writing) })
	}
	group.Go(func() { q.summarize(ctx, writing) })
	<-ctx.Done()
	timer := time.AfterFunc(flushTime, stop)
	defer timer.Stop()
	group.Wait()
	q.close()
}

// close drops what is still queued, and all that comes.
func (q *Queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	q.metrics.drop(droppedShutdown, len(q.notes))
	for len(q.notes) > 0 {
		<-q.notes
	}
}
