package shard

import (
	"context"
	"errors"
	"hash/fnv"
	"math/rand/v2"
	"runtime"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"

	"github.com/taint-manager/taint-manager/eviction"
)

// Options are the settings of a shard. Of CoreOptions, Jitter need not be set. The functions receive the [Effects] of
// the core, and must not block.
type Options struct {
	CoreOptions

	Notify    func(eviction.Note)
	Overtaken func(eviction.Overtaken)
	Held      func(Holding)
	Drained   func(node string)
}

// Shard is the goroutine around a [Core].
type Shard struct {
	core      *Core
	options   Options
	nodes     *workqueue.Typed[string]
	pods      *workqueue.Typed[types.UID]
	work      chan struct{} // holds a token if there may be anything to process
	questions chan func()   // for the goroutine to answer
	closed    chan struct{} // closed by Close
	timer     *time.Timer
	scheduled atomic.Int64
}

// New returns a shard that does nothing before Open and Run.
func New(o Options) *Shard {
	s := &Shard{
		options: o, work: make(chan struct{}, 1), questions: make(chan func()), closed: make(chan struct{}),
		timer: time.NewTimer(0),
	}
	o.Jitter = rand.Float64
	s.core = NewCore(o.CoreOptions)
	return s
}

// Open makes the queues, which have goroutines until Close. They are client-go workqueues with the same names as those
// of the built-in controller, and so the same metrics.
func (s *Shard) Open() {
	s.nodes = newQueue[string]("noexec_taint_node")
	s.pods = newQueue[types.UID]("noexec_taint_pod")
}

func newQueue[T comparable](name string) *workqueue.Typed[T] {
	return workqueue.NewTypedWithConfig(workqueue.TypedQueueConfig[T]{Name: name})
}

// Close ends the queues. Changes that are reported later are dropped.
func (s *Shard) Close() {
	close(s.closed)
	s.nodes.ShutDown()
	s.pods.ShutDown()
}

// Scheduled returns how many evictions wait for their time. It is safe for concurrent use.
func (s *Shard) Scheduled() int { return int(s.scheduled.Load()) }

// Earliest returns views of at most the given number of evictions, those with the earliest deadlines, and the number of
// the others. It may be called by any goroutine while Run runs. It fails if the context ends first.
func (s *Shard) Earliest(ctx context.Context, most int) (views []eviction.View, left int, err error) {
	views, err = ask(ctx, s, func() (views []eviction.View) {
		views, left = s.core.Earliest(time.Now(), most)
		return views
	})
	return views, left, err
}

// View returns the view of one pod's eviction; false if there is none. It may be called like Earliest.
func (s *Shard) View(ctx context.Context, uid types.UID) (v eviction.View, exists bool, err error) {
	v, err = ask(ctx, s, func() (v eviction.View) {
		v, exists = s.core.View(time.Now(), uid)
		return v
	})
	return v, exists, err
}

// Pending counts the evictions by state. It may be called like Earliest.
func (s *Shard) Pending(ctx context.Context) (Pending, error) {
	return ask(ctx, s, func() Pending { return s.core.Pending(time.Now()) })
}

// ErrClosed is the answer to a question after Close.
var ErrClosed = errors.New("the shard has ended")

// ask has the goroutine of the shard answer a question. It waits until the goroutine takes the question, the context
// ends, or the shard is closed.
func ask[T any](ctx context.Context, s *Shard, question func() T) (answer T, err error) {
	answered := make(chan struct{})
	select {
	case s.questions <- func() { answer = question(); close(answered) }:
		<-answered
		return answer, nil
	case <-s.closed:
		return answer, ErrClosed
	case <-ctx.Done():
		return answer, ctx.Err()
	}
}

// Index returns which of n shards owns a node.
func Index(node string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % uint32(n))
}

// NodeChanged reports that a node has changed; repeats collapse. Between Open and Close it may be called by any
// goroutine, and does not block.
func (s *Shard) NodeChanged(name string) {
	s.nodes.Add(name)
	s.wake()
}

// PodChanged reports that a pod has changed, or that a call for it has ended. It may be called like NodeChanged.
func (s *Shard) PodChanged(uid types.UID) {
	s.pods.Add(uid)
	s.wake()
}

func (s *Shard) wake() {
	select {
	case s.work <- struct{}{}:
	default:
	}
}

// Run judges until the context ends. The cache must be in sync. Run is called once, between Open and Close.
func (s *Shard) Run(ctx context.Context) {
	defer s.timer.Stop()
	for {
		if s.process() {
			s.wake()
			runtime.Gosched() // lets calls in flight run; they need only moments
		}
		select {
		case <-ctx.Done():
			return
		case <-s.work:
		case <-s.timer.C:
		case answer := <-s.questions:
			answer()
		}
	}
}

// process processes one pod that has changed, and one pod whose time has come. Before each of them it processes all
// nodes that have changed. It reports whether there was a pod to process.
func (s *Shard) process() (processed bool) {
	s.drainNodes()
	processed = take(s.pods, func(uid types.UID) { s.step(PodChanged{UID: uid}) })
	s.drainNodes()
	next, timed := s.core.Next()
	switch wait := time.Until(next); {
	case !timed:
		s.timer.Stop()
	case wait > 0:
		s.timer.Reset(wait)
	default:
		s.step(TimePassed{})
		processed = true
	}
	return processed
}

// drainNodes processes every queued node update. Node updates come before everything else.
func (s *Shard) drainNodes() {
	for take(s.nodes, func(name string) { s.step(NodeChanged{Name: name}) }) {
	}
}

// take takes the next item and processes it; false if there is none. It does not block, as no other goroutine takes.
func take[T comparable](q *workqueue.Typed[T], process func(T)) bool {
	if q.Len() == 0 {
		return false
	}
	item, _ := q.Get()
	defer q.Done(item)
	process(item)
	return true
}

// step passes one input to the core, and carries out its effects.
func (s *Shard) step(in Input) {
	effects := s.core.Step(time.Now(), in)
	s.scheduled.Store(int64(s.core.Scheduled()))
	for _, note := range effects.Notes {
		s.options.Notify(note)
	}
	for _, o := range effects.Overtaken {
		s.options.Overtaken(o)
	}
	for _, h := range effects.Holds {
		s.options.Held(h)
	}
	for _, node := range effects.Drained {
		s.options.Drained(node)
	}
}
