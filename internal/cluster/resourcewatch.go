package cluster

import (
	"context"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// resourceWatch lists and watches the objects of one resource.
type resourceWatch struct {
	contact  contact
	relists  relists
	selector string // of fields
}

// follow keeps a store up to date with a resource until the context ends.
func follow[L runtime.Object](
	ctx context.Context, client kubernetes.Interface, rw *resourceWatch, own typed[L], kind unmarshaler,
	s cache.TransformingStore,
) {
	l := newLister(client, own, rw.contact.resource, kind, s.Transformer(), rw.contact.responseBegun)
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return rw.list(ctx, o, l)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			return rw.watch(ctx, o, l)
		},
	}
	logger := klog.FromContext(ctx)
	listerWatcher := cache.ToListWatcherWithWatchListSemantics(requests, client)
	cache.NewReflectorWithOptions(listerWatcher, kind, s, cache.ReflectorOptions{
		Logger: &logger,
		Name:   "taint-manager." + rw.contact.resource,
		// Client-go's own backoff grows to a minute, which is too long for evictions that wait for the watch.
		Backoff: &wait.Backoff{
			Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5,
			Cap: 3 * time.Second,
		},
	}).RunWithContext(ctx)
}

// list requests a list, or a page of one.
func (rw *resourceWatch) list(ctx context.Context, o metav1.ListOptions, l *cache.ListWatch) (runtime.Object, error) {
	if o.Continue == "" {
		rw.relists.begin()
	}
	o.FieldSelector = rw.selector
	if err := rw.contact.requested(ctx, o); err != nil {
		return nil, err
	}
	list, err := l.ListWithContextFunc(ctx, o)
	return list, rw.contact.answered(ctx, o, err)
}

// watch requests a watch, or a streamed list. The API server is not asked for a watch when the needs have changed: an
// expired version makes the reflector list again.
func (rw *resourceWatch) watch(ctx context.Context, o metav1.ListOptions, l *cache.ListWatch) (watch.Interface, error) {
	switch {
	case o.SendInitialEvents != nil:
		rw.relists.begin()
	case rw.relists.listsNext():
		return nil, apierrors.NewResourceExpired("policies need other fields")
	}
	o.FieldSelector, o.Watch = rw.selector, true
	if err := rw.contact.requested(ctx, o); err != nil {
		return nil, err
	}
	w, err := l.WatchFuncWithContext(ctx, o)
	if err = rw.contact.answered(ctx, o, err); err == nil {
		rw.relists.watching(w.Stop)
	}
	return w, err
}
