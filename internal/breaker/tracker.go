package breaker

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Options are the parameters of a tracker. All of them are required. The functions must neither block nor call the
// tracker.
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

	// Keep makes the cache keep this data. It returns a channel that is closed once the cache has the data, or that
	// receives the reason why the cache cannot get it.
	Keep func(policy.Needs) <-chan error

	// SetPaused pauses all calls, or ends the pause.
	SetPaused func(paused bool)
}

// Tracker is a lock and a timer around a [Core]. Any number of goroutines may call its methods, before and while Run
// runs.
type Tracker struct {
	options Options
	ended   chan struct{}

	replaceToken chan struct{} // holds a token after Prepare, unless a Replace is running

	mu    sync.Mutex
	core  *Core
	timer *time.Timer  // of the core's next step; nil if there is none
	extra policy.Needs // of a configuration that will replace the present one
}

// NewTracker returns a tracker.
func NewTracker(o Options) *Tracker {
	core := NewCore(time.Now(), o.Config)
	o.Keep(core.Judge().Needs())
	return &Tracker{options: o, core: core, ended: make(chan struct{}), replaceToken: make(chan struct{}, 1)}
}

// Put processes an input. Ready, LeadershipBegan and NamespacesChanged may be empty: the tracker fills in the present
// record or the present namespaces. Once Run has ended, Put does nothing.
func (t *Tracker) Put(in Input) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.hasEnded() {
		return
	}
	effects := t.core.Step(time.Now(), t.complete(in))
	if effects.Record != nil {
		t.options.Record(*effects.Record)
	}
	if effects.Judge != nil {
		t.options.Judged(*effects.Judge)
		t.options.Keep(effects.Judge.Needs().Or(t.extra))
	}
	for _, e := range effects.Events {
		t.options.Report(e)
	}
	t.schedule()
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

// schedule sets the timer for the core's next step, unless Run has ended.
func (t *Tracker) schedule() {
	if t.timer != nil {
		t.timer.Stop()
	}
	if next, ok := t.core.Next(); ok && !t.hasEnded() {
		t.timer = time.AfterFunc(time.Until(next), func() { t.Put(TimePassed{}) })
	}
}

func (t *Tracker) hasEnded() bool {
	select {
	case <-t.ended:
		return true
	default:
		return false
	}
}

// Trips returns the present trips.
func (t *Tracker) Trips() []TripRecord {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.core.Trips()
}

// Idle is [Breakers.Idle].
func (t *Tracker) Idle() []string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.core.Idle()
}

// Run blocks until the context ends. After that, nothing changes. It may be called only once.
func (t *Tracker) Run(ctx context.Context) {
	<-ctx.Done()
	t.mu.Lock()
	defer t.mu.Unlock()
	close(t.ended)
	t.schedule()
}

// Prepare reports that all nodes are known, and blocks until the cache has the data that the judge needs. Replace waits
// for Prepare: the cache may never get the data that a replacement needs, and no eviction must wait for that data.
func (t *Tracker) Prepare(ctx context.Context) error {
	t.Put(Ready{})
	if err := t.await(ctx, policy.Needs{}); err != nil {
		return err
	}
	t.replaceToken <- struct{}{}
	return nil
}

// Replace replaces the configuration, or changes nothing if it returns an error. It first waits for Prepare, and until
// the cache has the data that the old and the new configuration need. Then a new pause begins; apply applies the new
// rates; the new judge decides; and an old pause ends. So the new rates count all pods that the new configuration
// releases. Finally the cache drops the data that is no longer needed.
func (t *Tracker) Replace(ctx context.Context, c Config, apply func()) error {
	select {
	case <-t.replaceToken:
		defer func() { t.replaceToken <- struct{}{} }()
	case <-t.ended:
	case <-ctx.Done():
		return fmt.Errorf("waiting until the manager is ready: %w", ctx.Err())
	}
	if t.hasEnded() {
		return errors.New("replacing policies: Run has ended")
	}
	defer t.setExtra(policy.Needs{})
	if err := t.await(ctx, c.Set.Needs()); err != nil {
		return err
	}
	if c.Paused {
		t.options.SetPaused(true)
	}
	apply()
	t.Put(Reconfigured{c})
	t.options.SetPaused(c.Paused)
	return nil
}

// await makes the cache get the extra data, and blocks until the cache has it.
func (t *Tracker) await(ctx context.Context, extra policy.Needs) error {
	select {
	case err := <-t.setExtra(extra):
		if err != nil {
			return fmt.Errorf("getting what the policies need: %w", err)
		}
	case <-t.ended:
		return errors.New("waiting until what the policies need is known: Run has ended")
	case <-ctx.Done():
		return fmt.Errorf("waiting until what the policies need is known: %w", ctx.Err())
	}
	if t.options.Namespaces() != nil {
		t.Put(NamespacesChanged{})
	}
	return nil
}

// setExtra makes the cache keep the data that the present judge needs, and the extra data. The returned channel is
// closed once the cache has both.
func (t *Tracker) setExtra(extra policy.Needs) <-chan error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.extra = extra
	return t.options.Keep(t.core.Judge().Needs().Or(extra))
}
