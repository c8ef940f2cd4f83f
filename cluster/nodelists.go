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
	listed  *policy.Needs   // those of the last complete list; nil if there was none
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
			case l.outdated():
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
	l.listing, l.watch = true, nil
}

// watching notes that the request is a watch, or a streamed list, which becomes one.
func (l *nodeLists) watching(w watch.Interface) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.watch = w
	l.stopOutdated()
}

// completed notes that a list is complete, and that the handler was called for it.
func (l *nodeLists) completed() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.listing, l.listed = false, l.followed.Load()
	l.stopOutdated()
}

// renew makes the reflector list again if the needs ask for other data of nodes; a list under way is completed first.
// Otherwise the needs are followed at once.
func (l *nodeLists) renew() {
	l.mu.Lock()
	defer l.mu.Unlock()
	if !l.outdated() {
		l.followed.Store(l.wanted.Load())
	}
	l.stopOutdated()
}

// stopOutdated stops the watch if it is outdated. The caller holds the lock.
func (l *nodeLists) stopOutdated() {
	if l.watch != nil && !l.listing && l.outdated() {
		l.watch.Stop()
		l.watch = nil
	}
}

// outdated reports whether the needs have changed since the latest list began.
func (l *nodeLists) outdated() bool { return !sameForNodes(l.followed.Load(), l.wanted.Load()) }

// has reports whether a list for these needs is complete.
func (l *nodeLists) has(n *policy.Needs) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.listed != nil && sameForNodes(l.listed, n) && sameForNodes(l.followed.Load(), n)
}
