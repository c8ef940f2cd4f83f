package shard

import (
	"context"
	"hash/fnv"
	"math/rand/v2"
	"sync/atomic"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/policy"
)

// Options are the settings of a shard. All fields but Judge are required.
type Options struct {
	// Reader is the cache to judge by. Judge judges until SetJudge is called.
	Reader Reader
	Judge  policy.Judge

	// OwnMethod leaves the method to the evictor where no policy decides: requests have none.
	OwnMethod bool

	// Permits yields the permissions to start a call. Shards take from it only while they have
	// something due; they are served in the order in which they began to wait.
	Permits <-chan Permit

	// SlowPermits yields the permissions to start a call in a slow place. Shards take from it only while
	// something waits for one. SlowWorkloads returns the workloads that are slow now, and a channel that
	// is closed when the set changes. Both nil: no workload is slow.
	SlowPermits   <-chan Permit
	SlowWorkloads func() (SlowWorkloads, <-chan struct{})

	// RatesChanged returns a channel that is closed when evictions that wait for a rate may try again before their time:
	// a call has given tokens back, the end of a wait may be known by now, or the rates have changed. Nil: there are no
	// rates.
	RatesChanged func() <-chan struct{}

	// MaxInFlight is how many calls may be under way at once, over all shards.
	MaxInFlight int

	// Notify receives each note. It must not block.
	Notify func(eviction.Note)

	// Overtaken receives each eviction that another client has overtaken. It must not block. Nil: none is reported.
	Overtaken func(eviction.Overtaken)
}

// Shard is the goroutine round a [Core]. NodeChanged and PodChanged may be called by any goroutine,
// before and while Run runs; they do not block.
type Shard struct {
	core      *Core
	queue     *evictionqueue.Queue[why]
	permits   <-chan Permit
	notify    func(eviction.Note)
	overtaken func(eviction.Overtaken)
	inbox     *inbox
	ended     chan Ended
	views     chan chan<- []eviction.View

	slowPermits   <-chan Permit
	slowWorkloads func() (SlowWorkloads, <-chan struct{})
	slowChanged   <-chan struct{} // as SlowWorkloads last returned it

	rates        func() <-chan struct{}
	ratesChanged <-chan struct{} // as rates last returned it

	judge atomic.Pointer[policy.Judge] // the next one; nil if the core has the latest

	held                atomic.Int64
	scheduled           atomic.Int64
	waitingForSlowPlace atomic.Int64
	waitingByRate       atomic.Pointer[waitingByRate]
}

// New returns a shard that does nothing before Run.
func New(o Options) *Shard {
	queue := evictionqueue.New[why]()
	if o.SlowWorkloads == nil {
		o.SlowWorkloads = func() (SlowWorkloads, <-chan struct{}) { return nil, nil }
	}
	if o.RatesChanged == nil {
		o.RatesChanged = func() <-chan struct{} { return nil }
	}
	if o.Overtaken == nil {
		o.Overtaken = func(eviction.Overtaken) {}
	}
	core := newCore(o.Reader, o.Judge, rand.Float64, &queue.Heap)
	core.ownMethod = o.OwnMethod
	s := &Shard{
		core:      core,
		queue:     queue,
		permits:   o.Permits,
		notify:    o.Notify,
		overtaken: o.Overtaken,
		inbox:     newInbox(),
		ended:     make(chan Ended, o.MaxInFlight), // so that a call that ends never waits for the shard
		views:     make(chan chan<- []eviction.View),

		slowPermits: o.SlowPermits, slowWorkloads: o.SlowWorkloads, rates: o.RatesChanged,
	}
	s.waitingByRate.Store(&waitingByRate{})
	return s
}

// Scheduled returns how many evictions wait for their time or for a permit. It is safe for concurrent use.
func (s *Shard) Scheduled() int { return int(s.scheduled.Load()) }

// Held returns how many pods are held and have no other reason to go. It is safe for concurrent use.
func (s *Shard) Held() int { return int(s.held.Load()) }

// SetJudge replaces the judge of all verdicts from the next input on. It judges no pod: the caller reports the nodes
// whose pods may have another verdict with NodeChanged. It may be called by any goroutine, and does not block; of
// several judges the latest counts.
func (s *Shard) SetJudge(j policy.Judge) { s.judge.Store(&j) }

// WaitingForSlowPlace returns how many of them are due and wait for a slow place. It is safe for concurrent
// use.
func (s *Shard) WaitingForSlowPlace() int { return int(s.waitingForSlowPlace.Load()) }

// WaitingByRate returns how many of them are due and wait for a token, by the names of their rates. It is safe for
// concurrent use; the map is not to be changed.
func (s *Shard) WaitingByRate() map[string]int { return s.waitingByRate.Load().numbers }

// waitingByRate is what WaitingByRate returns, and the number of changes that led to it.
type waitingByRate struct {
	numbers map[string]int
	changes int
}

// Views returns a view of each eviction, in no order. It may be called by any goroutine while Run runs; it fails
// if the context ends first.
func (s *Shard) Views(ctx context.Context) ([]eviction.View, error) {
	answer := make(chan []eviction.View, 1)
	select {
	case s.views <- answer:
		return <-answer, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Index returns which of n shards owns a node.
func Index(node string, n int) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % uint32(n))
}

// NodeChanged puts a node into the inbox; repeats collapse.
func (s *Shard) NodeChanged(name string) { s.inbox.nodes.Add(name) }

// PodChanged puts a pod into the inbox; repeats collapse.
func (s *Shard) PodChanged(uid types.UID) { s.inbox.pods.Add(uid) }

// Run judges until the context ends. The cache must be in sync. It is called once; what is
// reported afterwards is dropped.
func (s *Shard) Run(ctx context.Context) {
	stop := s.inbox.forward(ctx)
	defer stop()
	defer s.queue.Stop()
	for {
		s.drainNodes(ctx)
		if !s.next(ctx) {
			return
		}
	}
}

// next blocks until an input arrives, and processes it; it reports false once the context has ended.
func (s *Shard) next(ctx context.Context) bool {
	slowPermits, slowChanged := s.slow()
	ratesChanged := s.waitsForRate()
	now := time.Now()
	var permits <-chan Permit
	if s.queue.Due(now) {
		permits = s.permits
	}
	s.queue.Arm(now)
	select {
	case <-ctx.Done():
		return false
	case name := <-s.inbox.nodeC:
		s.node(name)
	case uid := <-s.inbox.podC:
		s.drainNodes(ctx)
		s.pod(uid)
	case <-s.queue.C():
	case answer := <-s.views:
		s.reconfigure()
		answer <- s.core.Views(time.Now())
	case permit := <-permits:
		s.drainNodes(ctx)
		s.permitted(permit, false)
	case permit := <-slowPermits:
		s.drainNodes(ctx)
		s.permitted(permit, true)
	case <-slowChanged:
	case <-ratesChanged:
	case ended := <-s.ended:
		s.drainNodes(ctx)
		s.step(ended)
	}
	return true
}

// slow returns what the shard waits for while anything waits for a slow place: a permit for one, and a change of
// the slow workloads, of which it reads the present set. Both are nil while nothing waits.
func (s *Shard) slow() (<-chan Permit, <-chan struct{}) {
	if s.core.WaitingForSlowPlace() == 0 {
		return nil, nil
	}
	slow, changed := s.slowWorkloads()
	if changed != s.slowChanged {
		s.slowChanged = changed
		s.step(SlowChanged{Slow: slow})
	}
	return s.slowPermits, changed
}

// waitsForRate returns the channel that is closed when what waits for a rate may try again; nil while nothing waits. If
// that may be so already, it tries now.
func (s *Shard) waitsForRate() <-chan struct{} {
	if s.core.WaitingForRate() == 0 {
		return nil
	}
	changed := s.rates()
	if changed != s.ratesChanged {
		s.ratesChanged = changed
		s.step(RatesChanged{})
	}
	return changed
}

// drainNodes processes every node update that is queued: they come before all else.
func (s *Shard) drainNodes(ctx context.Context) {
	for {
		select {
		case name := <-s.inbox.nodeC:
			s.node(name)
			continue
		default:
		}
		if s.inbox.nodes.Len() == 0 {
			return
		}
		select { // the forwarder is about to offer it
		case name := <-s.inbox.nodeC:
			s.node(name)
		case <-ctx.Done():
			return
		}
	}
}

func (s *Shard) node(name string) {
	s.step(NodeChanged{Name: name})
	s.inbox.nodes.Done(name)
}

func (s *Shard) pod(uid types.UID) {
	s.step(PodChanged{UID: uid})
	s.inbox.pods.Done(uid)
}

func (s *Shard) permitted(permit Permit, slowPlace bool) {
	slow, _ := s.slowWorkloads()
	do := s.step(Permitted{Slow: slow, SlowPlace: slowPlace, Take: permit.Take})
	if do.Start == nil {
		permit.Release()
		return
	}
	uid := do.Start.Pod.UID
	permit.Start(*do.Start, func(o eviction.Outcome) { s.ended <- Ended{UID: uid, Outcome: o} })
}

// step passes one input to the core, and its notes on.
func (s *Shard) step(in Input) Effects {
	s.reconfigure()
	do := s.core.Step(time.Now(), in)
	s.held.Store(int64(s.core.Held()))
	s.scheduled.Store(int64(s.core.Scheduled()))
	s.waitingForSlowPlace.Store(int64(s.core.WaitingForSlowPlace()))
	if changes := s.core.rates.changes; changes != s.waitingByRate.Load().changes {
		s.waitingByRate.Store(&waitingByRate{s.core.WaitingByRate(), changes})
	}
	for _, note := range do.Notes {
		s.notify(note)
	}
	for _, o := range do.Overtaken {
		s.overtaken(o)
	}
	return do
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
