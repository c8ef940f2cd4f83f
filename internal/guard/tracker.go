package guard

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// errEnded is the error of an input that comes after Run has ended.
var errEnded = errors.New("holds are no longer tracked: Run has ended")

// Options are the parameters of a tracker. All of them are required. The functions are called by the tracker's
// goroutine, and must not block.
type Options struct {
	Config Config

	// Judged receives each new judge.
	Judged func(policy.Judge)

	// Record receives each record to store.
	Record func(Record)

	// Report receives each trip and reset.
	Report func(Event)

	// Journaled returns the record that the journal has now.
	Journaled func() Journaled

	// Namespaces returns the labels of namespaces that the cache has now; nil if it does not have them.
	Namespaces func() policy.Namespaces

	// Keep makes the cache keep these data. It returns a channel that is closed once the cache has them, or that
	// receives the reason why the cache cannot get them.
	Keep func(policy.Needs) <-chan error

	// SetPaused pauses all calls, or ends the pause.
	SetPaused func(paused bool)
}

// Tracker is the goroutine around a [Core]. Any number of goroutines may call its methods, before and while Run runs.
type Tracker struct {
	options Options
	core    *Core
	wake    chan struct{}
	ended   chan struct{}
	trips   atomic.Pointer[[]TripRecord]
	needs   needs

	replaceToken chan struct{} // holds a token after Prepare, unless a Replace is under way

	mu     sync.Mutex
	inputs []queued
}

// queued is an input that was not processed yet; done is closed once it was.
type queued struct {
	in   Input
	done chan struct{}
}

// NewTracker returns a tracker that does nothing before Run.
func NewTracker(o Options) *Tracker {
	t := &Tracker{
		options: o, core: NewCore(o.Config), wake: make(chan struct{}, 1), ended: make(chan struct{}),
		needs: needs{keep: o.Keep}, replaceToken: make(chan struct{}, 1),
	}
	t.trips.Store(new([]TripRecord))
	t.needs.setJudge(t.core.Judge())
	return t
}

// Put adds an input. It does not block. Ready, LeadershipBegan and NamespacesChanged may be empty: right before their
// step, the tracker fills in the present record or the present namespaces.
func (t *Tracker) Put(in Input) { t.put(queued{in: in}) }

// Do adds an input, and blocks until it was processed. It returns an error if the context or Run ends first.
func (t *Tracker) Do(ctx context.Context, in Input) error {
	done := make(chan struct{})
	t.put(queued{in, done})
	select {
	case <-done:
		return nil
	case <-t.ended:
		return errEnded
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t *Tracker) put(q queued) {
	t.mu.Lock()
	t.inputs = append(t.inputs, q)
	t.mu.Unlock()
	select {
	case t.wake <- struct{}{}:
	default:
	}
}

// Trips returns the present trips. Callers must not modify them.
func (t *Tracker) Trips() []TripRecord { return *t.trips.Load() }

// Run processes inputs until the context ends. It may be called only once.
func (t *Tracker) Run(ctx context.Context) {
	defer close(t.ended)
	for {
		select {
		case <-ctx.Done():
			return
		case <-t.wake:
			t.stepAll()
		case <-t.due():
			t.step(TimePassed{})
		}
	}
}

// due returns a channel that receives when the core's next step is due.
func (t *Tracker) due() <-chan time.Time {
	if next, ok := t.core.Next(); ok {
		return time.NewTimer(time.Until(next)).C
	}
	return nil
}

// stepAll processes the inputs that are queued.
func (t *Tracker) stepAll() {
	t.mu.Lock()
	inputs := t.inputs
	t.inputs = nil
	t.mu.Unlock()
	for _, q := range inputs {
		t.step(q.in)
		if q.done != nil {
			close(q.done)
		}
	}
}

// step passes one input to the core, and its effects on.
func (t *Tracker) step(in Input) {
	do := t.core.Step(time.Now(), t.complete(in))
	if do.Record != nil {
		t.options.Record(*do.Record)
	}
	if do.Judge != nil {
		t.trips.Store(new(t.core.Trips()))
		t.options.Judged(*do.Judge)
		t.needs.setJudge(*do.Judge)
	}
	for _, e := range do.Events {
		t.options.Report(e)
	}
}

// complete fills the record of the journal, or the namespaces of the cache, into the inputs that carry them.
func (t *Tracker) complete(in Input) Input {
	switch in.(type) {
	case Ready:
		return Ready{t.options.Journaled()}
	case LeadershipBegan:
		return LeadershipBegan{t.options.Journaled()}
	case NamespacesChanged:
		return NamespacesChanged{t.options.Namespaces()}
	}
	return in
}
