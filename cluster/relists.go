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

// over returns the requests, with a watch that ends when the needs have changed. The API server is not asked for another
// one then: an expired version makes the reflector list again.
func (l *relists) over(requests *cache.ListWatch) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.Continue == "" {
				l.begin()
			}
			return requests.ListWithContextFunc(ctx, o)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			switch {
			case o.SendInitialEvents != nil:
				l.begin()
			case l.listsNext():
				return nil, apierrors.NewResourceExpired("policies need other fields")
			}
			w, err := requests.WatchFuncWithContext(ctx, o)
			if err == nil {
				l.watching(w)
			}
			return w, err
		},
	}
}

// begin notes that a list is requested.
func (l *relists) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followed.Store(l.wanted.Load())
	l.listing, l.stale, l.watch = true, false, nil
}

// watching notes that the request is a watch, or a streamed list, which becomes one.
func (l *relists) watching(w watch.Interface) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = w
	l.stopOutdated()
}

// completed notes that a list is complete, and that the handler was called for it. A key may have been dropped after some
// of its nodes were seen, so a stale list does not count.
func (l *relists) completed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listing = false
	if !l.stale {
		l.listed = l.followed.Load()
	}
	l.stopOutdated()
}

// changed notes that other needs are wanted. It makes the reflector list again if what was listed is not enough for
// them; a list under way is completed first. Otherwise the needs are followed at once.
func (l *relists) changed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.follow()
}

// follow is changed for a caller that holds the lock.
func (l *relists) follow() {
	if !l.outdated() {
		wanted := l.wanted.Load()
		l.followed.Store(wanted)
		if l.listed != nil && l.covers(l.listed, wanted) {
			l.listed = wanted // what is dropped from now on is not there any longer
		}
	}
	l.stopOutdated()
}

// want sets the wanted needs, and returns the previous ones. It makes the reflector list again also if a key is dropped,
// even if it is needed again before that list begins.
//
// narrow removes all other keys from what nodes were seen with. A key that is added is removed, too: a list that began
// before it was dropped may have shown it since then.
func (l *relists) want(n *policy.Needs, narrow func(to *policy.Needs)) (old *policy.Needs) {
	l.mu.Lock()
	defer l.mu.Unlock()
	old = l.wanted.Swap(n)
	if adds(old, n) {
		narrow(old)
	}
	if drops(old, n) {
		narrow(n)
		l.listed, l.stale = nil, true
	}
	l.follow()
	return old
}

// stopOutdated stops the watch if it is outdated. The caller holds the lock.
func (l *relists) stopOutdated() {
	if l.watch != nil && !l.listing && l.outdated() {
		l.watch.Stop()
		l.watch = nil
	}
}

// listsNext reports whether the next request of the reflector must be a list.
func (l *relists) listsNext() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outdated()
}

// outdated reports whether the needs have changed since the latest list began. The caller holds the lock.
func (l *relists) outdated() bool {
	return l.stale || !l.covers(l.followed.Load(), l.wanted.Load())
}

// has reports whether a list for these needs is complete.
func (l *relists) has(n *policy.Needs) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listed != nil && l.covers(l.listed, n) && l.covers(l.followed.Load(), n)
}
