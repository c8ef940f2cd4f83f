package cluster

import (
	"sync"
	"sync/atomic"
)

// relists makes a reflector list again when the needs have changed, because data that the cache has dropped is in no
// event. The needs that the cache follows change when the list begins.
type relists struct {
	// covers reports whether the data that is stored by the followed needs is enough for the wanted needs.
	covers func(followed, wanted *needs) bool

	wanted   *atomic.Pointer[needs]
	followed *atomic.Pointer[needs] // since the latest list began

	mu      sync.Mutex
	listing bool
	listed  *needs // followed by the last complete list; nil before the first
	stop    func() // stops the watch; nil if it is stopped
}

// begin notes that a list is requested.
func (r *relists) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followed.Store(r.wanted.Load())
	r.listing, r.stop = true, nil
}

// watching notes that there is a watch, or a streamed list, which becomes a watch.
func (r *relists) watching(stop func()) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.stop = stop
	r.stopOutdated()
}

// completed notes that a list is complete, and that the handler was called for it.
func (r *relists) completed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listing, r.listed = false, r.followed.Load()
	r.stopOutdated()
}

// failed notes that a list has failed. It is repeated when the needs change the next time.
func (r *relists) failed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listing = false
	r.followed.Store(r.listed)
}

// hasList reports whether a list is complete.
func (r *relists) hasList() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed != nil
}

// changed notes that other needs are wanted. It makes the reflector list again if the stored data is not enough for
// them; a list under way is completed first. Otherwise the cache follows them at once.
func (r *relists) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !r.outdated() {
		wanted := r.wanted.Load()
		r.followed.Store(wanted)
		if r.listed != nil && r.covers(r.listed, wanted) {
			r.listed = wanted // the cache drops the other data from now on
		}
	}
	r.stopOutdated()
}

// stopOutdated stops the watch if it is outdated. The caller holds the lock.
func (r *relists) stopOutdated() {
	if r.stop != nil && !r.listing && r.outdated() {
		r.stop()
		r.stop = nil
	}
}

// listsNext reports whether the next request of the reflector must be a list.
func (r *relists) listsNext() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outdated()
}

// outdated reports whether the latest list was for needs that do not cover the wanted ones. The caller holds the lock.
func (r *relists) outdated() bool { return !r.covers(r.followed.Load(), r.wanted.Load()) }

// has reports whether a list for these needs is complete.
func (r *relists) has(n *needs) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed != nil && r.covers(r.listed, n) && r.covers(r.followed.Load(), n)
}
