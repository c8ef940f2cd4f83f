package cluster

import (
	"context"
	"errors"
	"reflect"

	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/apis/meta/internalversion"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"
)

// pageSize is the maximum number of objects in one response to a list.
const pageSize = 500

// typedClient is client-go's typed client for one resource.
type typedClient[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// requests are the requests of a reflector for one resource.
type requests[L runtime.Object] struct {
	client  typedClient[L]
	contact *contact

	// selector is the field selector of the objects; empty: all.
	selector string

	// trim is the transformer of the reflector's store.
	trim cache.TransformFunc
}

func (r requests[L]) listWatch() *cache.ListWatch {
	return &cache.ListWatch{ListWithContextFunc: r.list, WatchFuncWithContext: r.watch}
}

// list returns all objects as one list of trimmed objects. It reads pages, and trims each page before it reads the
// next, so that memory holds one page of whole objects. The reflector's own first list would not be paged: it asks for
// resourceVersion "0", for which the API server ignores the limit. If the API server no longer has the next page, the
// error makes the reflector list again.
func (r requests[L]) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	o.FieldSelector, o.ResourceVersion, o.ResourceVersionMatch = r.selector, "", ""
	o.Limit, o.Continue = pageSize, ""
	whole := &internalversion.List{}
	for {
		page, err := ask(ctx, r.contact, o, r.client.List)
		if err != nil {
			return nil, err
		}
		if err := meta.EachListItem(page, r.addTo(whole)); err != nil {
			return nil, err
		}
		about, err := meta.ListAccessor(page)
		if err != nil {
			return nil, err
		}
		if o.Continue = about.GetContinue(); o.Continue == "" {
			whole.ResourceVersion = about.GetResourceVersion()
			return whole, nil
		}
	}
}

// addTo returns a function that adds a trimmed object to the list.
func (r requests[L]) addTo(list *internalversion.List) func(runtime.Object) error {
	return func(object runtime.Object) error {
		value, err := r.trim(object)
		list.Items = append(list.Items, trimmed{value})
		return err
	}
}

// watch returns a watch, or a streamed list that becomes one, once the API server has accepted it.
func (r requests[L]) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.FieldSelector, o.Watch = r.selector, true
	stream, err := ask(ctx, r.contact, o, r.open)
	if errors.Is(err, errBroken) {
		return stream, nil // which has ended, so that the reflector tries again
	}
	return stream, err
}

// errBroken is the trouble of a watch that client-go reports as an empty one.
var errBroken = errors.New("the connection broke before the API server's response")

// open opens a watch. Client-go tries again where a connection breaks, and returns an empty watch in the end.
func (r requests[L]) open(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	stream, err := r.client.Watch(ctx, o)
	if err == nil && reflect.TypeOf(stream) == reflect.TypeOf(watch.NewEmptyWatch()) {
		err = errBroken
	}
	return stream, err
}

// trimmed is a trimmed object in a list.
type trimmed struct{ value any }

// GetObjectKind returns no kind.
func (t trimmed) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns the object itself, because a trimmed object does not change.
func (t trimmed) DeepCopyObject() runtime.Object { return t }

// untrimmed returns the value in an item of a list.
func untrimmed(item any) any {
	if t, ok := item.(trimmed); ok {
		return t.value
	}
	return item
}
