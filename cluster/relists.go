package cluster

import (
	"context"
	"sync"
	"sync/atomic"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/policy"
)

// relists makes a reflector list again when the needs have changed, because what the cache has dropped is in no event.
// The needs that the cache follows change when the list begins: until then it keeps what the previous ones ask for.
type relists struct {
	// covers reports whether what a list showed, and what was kept of it by the needs followed, is enough for others.
	covers func(followed, wanted *policy.Needs) bool

	wanted   *atomic.Pointer[policy.Needs]
	followed *atomic.Pointer[policy.Needs] // since the latest list began

	mu      sync.Mutex
	listing bool
	stale   bool            // a key was dropped since the latest list began
	listed  *policy.Needs   // those of the last complete list; nil if there was none since a key was dropped
	watch   watch.Interface // the request under way that is a watch, or becomes one
}

// over returns the requests, with a watch that ends when the needs have changed. The API server is not asked for
// another one then: an expired version makes the reflector list again.
func (r *relists) over(requests *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Continue == "" {
				r.begin()
			}
			return requests.ListWithContextFunc(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			switch {
			case o.SendInitialEvents != nil:
				r.begin()
			case r.listsNext():
				return nil, apierrors.NewResourceExpired("policies need other fields")
			}
			w, err := requests.WatchFuncWithContext(ctx, o)
			if err == nil {
				r.watching(w)
			}
			return w, err
		},
	}
}

// begin notes that a list is requested.
func (r *relists) begin() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.followed.Store(r.wanted.Load())
	r.listing, r.stale, r.watch = true, false, nil
}

// watching notes that the request is a watch, or a streamed list, which becomes one.
func (r *relists) watching(w watch.Interface) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.watch = w
	r.stopOutdated()
}

// completed notes that a list is complete, and that the handler was called for it. A key may have been dropped after
// some of its nodes were seen, so a stale list does not count.
func (r *relists) completed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.listing = false
	if !r.stale {
		r.listed = r.followed.Load()
	}
	r.stopOutdated()
}

// changed notes that other needs are wanted. It makes the reflector list again if what was listed is not enough for
// them; a list under way is completed first. Otherwise the needs are followed at once.
func (r *relists) changed() {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.follow()
}

// follow is changed for a caller that holds the lock.
func (r *relists) follow() {
	if !r.outdated() {
		wanted := r.wanted.Load()
		r.followed.Store(wanted)
		if r.listed != nil && r.covers(r.listed, wanted) {
			r.listed = wanted // what is dropped from now on is not there any longer
		}
	}
	r.stopOutdated()
}

// want sets the wanted needs, and returns the previous ones. It makes the reflector list again also if a key is
// dropped, even if it is needed again before that list begins.
//
// narrow removes all other keys from what nodes were seen with. A key that is added is removed, too: a list that began
// before it was dropped may have shown it since then.
func (r *relists) want(n *policy.Needs, narrow func(to *policy.Needs)) (old *policy.Needs) {
	r.mu.Lock()
	defer r.mu.Unlock()
	old = r.wanted.Swap(n)
	if adds(old, n) {
		narrow(old)
	}
	if drops(old, n) {
		narrow(n)
		r.listed, r.stale = nil, true
	}
	r.follow()
	return old
}

// stopOutdated stops the watch if it is outdated. The caller holds the lock.
func (r *relists) stopOutdated() {
	if r.watch != nil && !r.listing && r.outdated() {
		r.watch.Stop()
		r.watch = nil
	}
}

// listsNext reports whether the next request of the reflector must be a list.
func (r *relists) listsNext() bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.outdated()
}

// outdated reports whether the needs have changed since the latest list began. The caller holds the lock.
func (r *relists) outdated() bool {
	return r.stale || !r.covers(r.followed.Load(), r.wanted.Load())
}

// has reports whether a list for these needs is complete.
func (r *relists) has(n *policy.Needs) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.listed != nil && r.covers(r.listed, n) && r.covers(r.followed.Load(), n)
}
