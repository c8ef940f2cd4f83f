package cluster

import (
	"context"
	"errors"
	"reflect"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// resource is a resource that is listed and watched.
type resource struct {
	contact  contact
	relists  relists
	selector string            // of fields
	needed   func(*needs) bool // reports whether the resource must be watched

	// requesting holds a token while a request waits for its response, and until a plain list is read: a reflector that
	// ends does not wait for its list.
	requesting chan struct{}
}

// typed is client-go's typed client for one resource.
type typed[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// follow keeps a store up to date with a resource, while it is needed, until the context ends.
func follow[L runtime.Object](
	ctx context.Context, client kubernetes.Interface, r *resource, own typed[L], kind unmarshaler,
	s cache.TransformingStore,
) {
	_ = r.relists.run(ctx, func(turn context.Context) error {
		if r.needed(r.relists.followed.Load()) {
			runReflector(turn, client, r, own, kind, s)
		}
		return nil
	})
}

// runReflector keeps a store up to date by a reflector until the context ends.
func runReflector[L runtime.Object](
	ctx context.Context, client kubernetes.Interface, r *resource, own typed[L], kind unmarshaler,
	s cache.TransformingStore,
) {
	list := lister(client, own, trimmingList{
		resource: r.contact.resource, kind: kind, trim: s.Transformer(), begun: func() { r.contact.received(ctx) },
	})
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			if o.ResourceVersion == "0" && r.relists.hasList() {
				o.ResourceVersion, o.Limit = "", 0 // a new reflector's first list may be older than what is known
			}
			return request(ctx, r, o, list)
		},
		WatchFuncWithContext: func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
			o.Watch = true
			return request(ctx, r, o, func(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
				return unbroken(own.Watch(ctx, o))
			})
		},
	}
	logger := klog.FromContext(ctx)
	listerWatcher := cache.ToListWatcherWithWatchListSemantics(requests, client)
	cache.NewReflectorWithOptions(listerWatcher, kind, s, cache.ReflectorOptions{
		Logger: &logger,
		Name:   "taint-manager." + r.contact.resource,
		// Client-go's own backoff grows to a minute, which is too long for evictions that wait for the watch.
		Backoff: &wait.Backoff{
			Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5,
			Cap: 3 * time.Second,
		},
	}).RunWithContext(ctx)
}

// request sends a request for a list or a watch.
func request[T any](
	ctx context.Context, r *resource, o metav1.ListOptions, send func(context.Context, metav1.ListOptions) (T, error),
) (result T, err error) {
	select {
	case r.requesting <- struct{}{}:
		defer func() { <-r.requesting }()
	case <-ctx.Done():
		return result, ctx.Err()
	}
	o.FieldSelector = r.selector
	if err := r.contact.requested(ctx, o); err != nil {
		return result, err
	}
	result, err = send(ctx, o)
	return result, r.contact.answered(ctx, o, err)
}

// errBroken is the error of a watch whose connection has broken at each try.
var errBroken = errors.New("the connection breaks")

// unbroken returns an error for the empty watch by which client-go reports a connection that has broken at each try.
func unbroken(w watch.Interface, err error) (watch.Interface, error) {
	if err == nil && reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
		return nil, errBroken
	}
	return w, err
}
