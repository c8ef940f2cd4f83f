package cluster

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"time"

	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// pageSize is the number of objects in a page of a list that the server does not stream.
const pageSize = 500

// resource is a resource that is listed and watched.
type resource struct {
	contact  contact
	relists  relists
	selector string            // of fields
	needed   func(*needs) bool // reports whether the resource must be watched

	// requesting holds a token while a request waits for its response, and until a page of a list is read, because a
	// reflector that ends does not wait for its list.
	requesting chan struct{}
}

// typed is a typed client for one resource.
type typed[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// follow keeps a store up to date with a resource, while it is needed, until the context ends. The kind is the type of
// the watched objects.
func follow[L runtime.Object](
	ctx context.Context, client kubernetes.Interface, r *resource, own typed[L], kind runtime.Object,
	s cache.TransformingStore,
) {
	_ = r.relists.run(ctx, func(turn context.Context) error {
		if r.needed(r.relists.followed.Load()) {
			runReflector(turn, client, r, own, kind, s)
		}
		return nil
	})
}

// runReflector keeps a store up to date with a reflector until the context ends.
func runReflector[L runtime.Object](
	ctx context.Context, client kubernetes.Interface, r *resource, own typed[L], kind runtime.Object,
	s cache.TransformingStore,
) {
	requests := &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			o.ResourceVersion = "" // for any other version the server may ignore the limit, or send an older state
			return request(ctx, r, o, func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
				page, err := own.List(ctx, o)
				if err != nil {
					return nil, err
				}
				return trimPage(page, s.Transformer())
			})
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
	reflector := cache.NewReflectorWithOptions(listerWatcher, kind, s, cache.ReflectorOptions{
		Logger: &logger,
		Name:   "taint-manager." + r.contact.resource,
		// Client-go's own backoff grows to a minute, which is too long for evictions that wait for the watch.
		Backoff: &wait.Backoff{
			Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 5,
			Cap: 3 * time.Second,
		},
	})
	reflector.WatchListPageSize = pageSize
	reflector.RunWithContext(ctx)
}

// trimPage returns a page of a list with its items trimmed, so that memory never holds all objects untrimmed.
func trimPage(page runtime.Object, trim cache.TransformFunc) (runtime.Object, error) {
	read, err := meta.ListAccessor(page)
	if err != nil {
		return nil, fmt.Errorf("reading a page of a list: %w", err)
	}
	trimmed := &metav1.List{ListMeta: metav1.ListMeta{
		ResourceVersion: read.GetResourceVersion(), Continue: read.GetContinue(),
	}}
	return trimmed, meta.EachListItem(page, func(item runtime.Object) error {
		small, err := trim(item)
		if err == nil {
			trimmed.Items = append(trimmed.Items, runtime.RawExtension{Object: small.(runtime.Object)})
		}
		return err
	})
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

// errBroken is the error of a watch whose connection broke on every attempt.
var errBroken = errors.New("the connection breaks")

// unbroken returns an error for the empty watch by which client-go reports a connection that broke on every attempt.
func unbroken(w watch.Interface, err error) (watch.Interface, error) {
	if err == nil && reflect.TypeOf(w) == reflect.TypeOf(watch.NewEmptyWatch()) {
		return nil, errBroken
	}
	return w, err
}
