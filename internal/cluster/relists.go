package cluster

import (
	"context"
	"sync"
	"sync/atomic"
)

// relists lists a resource again when the needs have changed, because no event has the data that the cache dropped. A
// turn is one run of list and watch. The wanted needs are followed from the next turn on, or at once if covered.
type relists struct {
	// covers reports whether the data that is stored by the followed needs is enough for the wanted needs.
	covers func(followed, wanted *needs) bool

	wanted   *atomic.Pointer[needs] // the latest ones
	followed *atomic.Pointer[needs] // those by which the cache stores data

	mu     sync.Mutex
	listed *needs             // those of the last complete list; nil before the first
	end    context.CancelFunc // ends the turn; nil before the first
}

// run calls follow, which lists and watches the resource, until ctx ends or follow fails. If new needs are not covered,
// the context of follow ends, and follow is called again.
func (r *relists) run(ctx context.Context, follow func(turn context.Context) error) error {
	for ctx.Err() == nil {
		turn := r.begin(ctx)
		if err := follow(turn); err != nil && turn.Err() == nil {
			return err
		}
		<-turn.Done()
	}
	return nil
}

// begin begins a turn.
func (r *relists) begin(ctx context.Context) (turn context.Context) {
	r.mu.Lock()
	defer r.mu.Unlock()
	turn, r.end = context.WithCancel(ctx)
	r.followed.Store(r.wanted.Load())
	return turn
}

// completed records that a list is complete, and that the handler was called for it.
func (r *relists) completed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listed = r.followed.Load()
}

// failed records that there can be no list for the followed needs. The next turn begins when the needs change.
func (r *relists) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followed.Store(r.listed)
}

// hasList reports whether a list is complete.
func (r *relists) hasList() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed != nil
}

// changed records that other needs are wanted. The cache follows them at once if the stored data is enough for them;
// otherwise the turn ends.
func (r *relists) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	wanted := r.wanted.Load()
	switch {
	case r.covers(r.followed.Load(), wanted):
		r.followed.Store(wanted)
		if r.listed != nil && r.covers(r.listed, wanted) {
			r.listed = wanted // the cache drops the other data from now on
		}
	case r.end != nil:
		r.end()
	}
}

// has reports whether a list for these needs is complete.
func (r *relists) has(n *needs) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed != nil && r.covers(r.listed, n) && r.covers(r.followed.Load(), n)
}
