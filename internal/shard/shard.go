package shard

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// Options are the settings of a shard. Of CoreOptions, Done and Jitter need not be set. The functions receive the
// [Effects] of the core, and must not block.
type Options struct {
	CoreOptions

	Notify    func(eviction.Note)
	Overtaken func(eviction.Overtaken)
	Drained   func(node string)
}

// Shard is the goroutine round a [Core]. NodeChanged and PodChanged may be called by any goroutine, before and while
// Run runs; they do not block.
type Shard struct {
	core      *Core
	options   Options
	inbox     *inbox
	questions chan func() // that the goroutine answers
	timer     *time.Timer
	now       chan struct{} // closed, so that it is always ready

	judge    atomic.Pointer[policy.Judge] // the next one; nil if the core has the latest
	progress atomic.Pointer[progress]
}

// progress is what a shard shows of its evictions at any time.
type progress struct {
	scheduled int
	next      time.Time
}

// New returns a shard that does nothing before Run.
func New(o Options) *Shard {
	s := &Shard{
		options: o, inbox: newInbox(), questions: make(chan func()), timer: time.NewTimer(0), now: make(chan struct{}),
	}
	close(s.now)
	s.progress.Store(&progress{})
	o.Done, o.Jitter = s.inbox.addEnded, rand.Float64
	s.core = NewCore(o.CoreOptions)
	return s
}

// Scheduled returns how many evictions wait for their time. It is safe for concurrent use.
func (s *Shard) Scheduled() int { return s.progress.Load().scheduled }

// Upcoming returns when the shard next judges a pod if nothing else happens before; zero if no pod has a time. It is
// safe for concurrent use.
func (s *Shard) Upcoming() time.Time { return s.progress.Load().next }

// SetJudge replaces the judge of all verdicts from the next input on. It judges no pod: the caller reports the nodes
// whose pods may have another verdict with NodeChanged. It may be called by any goroutine, and does not block; of
// several judges the latest counts.
func (s *Shard) SetJudge(j policy.Judge) { s.judge.Store(&j) }

// Views returns a view of each eviction, in no order. It may be called by any goroutine while Run runs. It fails if the
// context ends first.
func (s *Shard) Views(ctx context.Context) ([]eviction.View, error) {
	return ask(ctx, s, func() []eviction.View { return s.core.Views(time.Now()) })
}

// Pending counts the evictions by state, and is called as Views is.
func (s *Shard) Pending(ctx context.Context) (Pending, error) {
	return ask(ctx, s, func() Pending { return s.core.Pending(time.Now()) })
}

// ask has the goroutine of the shard answer a question, and waits for the answer until the context ends.
func ask[T any](ctx context.Context, s *Shard, question func() T) (answer T, err error) {
	answers := make(chan T, 1)
	select {
	case s.questions <- func() { answers <- question() }:
	case <-ctx.Done():
		return answer, ctx.Err()
	}
	select {
	case answer = <-answers:
		return answer, nil
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

// NodeChanged puts a node into the inbox; repeats collapse.
func (s *Shard) NodeChanged(name string) { s.inbox.addNode(name) }

// PodChanged puts a pod into the inbox; repeats collapse.
func (s *Shard) PodChanged(uid types.UID) { s.inbox.addPod(uid) }

// Run judges until the context ends. The cache must be in sync. Run is called once; changes that are reported after it
// has returned are dropped.
func (s *Shard) Run(ctx context.Context) {
	s.inbox.open()
	defer s.inbox.close()
	defer s.timer.Stop()
	for {
		var again <-chan struct{}
		if s.process() {
			again = s.now
		}
		select {
		case <-ctx.Done():
			return
		case <-again:
		case <-s.inbox.some:
		case <-s.timer.C:
		case answer := <-s.questions:
			s.reconfigure()
			answer()
		}
	}
}

// process processes one pod that has changed, the calls that have ended, and one pod whose time has come: before each
// of them the nodes that have changed. It reports false if there was nothing but nodes to process.
func (s *Shard) process() (some bool) {
	s.drainNodes()
	some = s.inbox.pods.process(func(uid types.UID) { s.step(PodChanged{UID: uid}) })
	for _, ended := range s.inbox.takeEnded() {
		s.drainNodes()
		s.step(CallEnded{ended})
		some = true
	}
	s.drainNodes()
	next, timed := s.core.Next()
	switch wait := time.Until(next); {
	case !timed:
		s.timer.Stop()
	case wait > 0:
		s.timer.Reset(wait)
	default:
		s.step(TimePassed{})
		some = true
	}
	return some
}

// drainNodes processes every node update that is queued: they come before all else.
func (s *Shard) drainNodes() {
	for s.inbox.nodes.process(func(name string) { s.step(NodeChanged{Name: name}) }) {
	}
}

// step passes one input to the core, and its notes on.
func (s *Shard) step(in Input) {
	s.reconfigure()
	do := s.core.Step(time.Now(), in)
	next, _ := s.core.Next()
	if now := (progress{s.core.Scheduled(), next}); now != *s.progress.Load() {
		s.progress.Store(&now)
	}
	for _, note := range do.Notes {
		s.options.Notify(note)
	}
	for _, o := range do.Overtaken {
		s.options.Overtaken(o)
	}
	for _, node := range do.Drained {
		s.options.Drained(node)
	}
}

// reconfigure passes a new judge to the core. It comes before any other input.
func (s *Shard) reconfigure() {
	if s.judge.Load() == nil {
		return
	}
	if j := s.judge.Swap(nil); j != nil {
		s.core.Step(time.Now(), Reconfigured{Judge: *j})
	}
}
