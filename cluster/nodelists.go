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

// nodeLists makes the reflector of nodes list again when the needs have changed, because what the cache has dropped is
// in no event. The needs that the cache follows change when the list begins: until then it keeps what the previous ones
// ask for.
type nodeLists struct {
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
func (l *nodeLists) over(requests *cache.ListWatch) *cache.ListWatch {
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
				return nil, apierrors.NewResourceExpired("policies need other fields of nodes")
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
func (l *nodeLists) begin() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.followed.Store(l.wanted.Load())
	l.listing, l.stale, l.watch = true, false, nil
}

// watching notes that the request is a watch, or a streamed list, which becomes one.
func (l *nodeLists) watching(w watch.Interface) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = w
	l.stopOutdated()
}

// completed notes that a list is complete, and that the handler was called for it. A key may have been dropped after some
// of its nodes were seen, so a stale list does not count.
func (l *nodeLists) completed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listing = false
	if !l.stale {
		l.listed = l.followed.Load()
	}
	l.stopOutdated()
}

// want sets the needs, and returns the previous ones. It makes the reflector list again if they ask for other data of
// nodes, or if a key is dropped, even if it is needed again before that list begins; a list under way is completed first.
// Otherwise the needs are followed at once.
//
// narrow removes all other keys from what nodes were seen with. A key that is added is removed, too: a list that began
// before it was dropped may have shown it since then.
func (l *nodeLists) want(n *policy.Needs, narrow func(to *policy.Needs)) (old *policy.Needs) {
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
	if !l.outdated() {
		l.followed.Store(n)
	}
	l.stopOutdated()
	return old
}

// stopOutdated stops the watch if it is outdated. The caller holds the lock.
func (l *nodeLists) stopOutdated() {
	if l.watch != nil && !l.listing && l.outdated() {
		l.watch.Stop()
		l.watch = nil
	}
}

// listsNext reports whether the next request of the reflector must be a list.
func (l *nodeLists) listsNext() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.outdated()
}

// outdated reports whether the needs have changed since the latest list began. The caller holds the lock.
func (l *nodeLists) outdated() bool {
	return l.stale || !sameForNodes(l.followed.Load(), l.wanted.Load())
}

// has reports whether a list for these needs is complete.
func (l *nodeLists) has(n *policy.Needs) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listed != nil && sameForNodes(l.listed, n) && sameForNodes(l.followed.Load(), n)
}
