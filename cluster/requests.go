package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// lister lists and watches one resource.
type lister interface {
	List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// newLister returns a lister that decodes only the required fields, or the typed client if that is not possible. It
// trims each item of a list as the item arrives. It calls granted as soon as the response to a request has begun; with
// the typed client, only once the response has ended, and items are not trimmed.
func newLister[L runtime.Object](
	client kubernetes.Interface, own typed[L], resource string, trim cache.TransformFunc, granted func(),
) lister {
	if requests := requestsOf(client); requests != nil {
		return trimming{requests, resource, trim, granted}
	}
	return whole[L]{own, granted}
}

// typed is client-go's typed client for one resource.
type typed[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// whole lists and watches with a typed client.
type whole[L runtime.Object] struct {
	typed[L]
	granted func()
}

// List returns a list.
func (w whole[L]) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	list, err := w.typed.List(ctx, o)
	if err == nil {
		w.granted()
	}
	return list, err
}

// Watch returns a watch, once the API server has accepted it.
func (w whole[L]) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	stream, err := w.typed.Watch(ctx, o)
	if err == nil {
		w.granted()
	}
	return stream, err
}

// requestsOf returns a client that makes requests like the given one, with its transport, limits and content type. It
// returns nil if the client is not client-go's, because another one may do more than requests, and if the client may
// use CBOR.
func requestsOf(client kubernetes.Interface) rest.Interface {
	core, ok := client.CoreV1().(*corev1.CoreV1Client)
	if !ok || features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return nil
	}
	return core.RESTClient()
}

// trimming lists and watches one resource. Package wire decodes protobuf; client-go's decoders decode everything else.
type trimming struct {
	requests rest.Interface
	resource string
	trim     cache.TransformFunc
	granted  func()
}

// List returns a list.
func (t trimming) List(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	body, err := t.open(ctx, t.get(o))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	object, err := readList(bufio.NewReaderSize(body, readAhead), t.item)
	if err != nil {
		return nil, fmt.Errorf("reading the list of %s: %w", t.resource, err)
	}
	if !meta.IsListType(object) {
		return nil, apierrors.FromObject(object) // a Status contains the error
	}
	return object, nil
}

// item returns a trimmed object as an item of a list.
func (t trimming) item(object runtime.Object) (runtime.Object, error) {
	value, err := t.trim(object)
	return trimmed{value}, err
}

// Watch returns a watch, once the API server has accepted it.
func (t trimming) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	body, err := t.open(ctx, t.get(o).Throttle(nil)) // as in client-go, a watch does not wait for the limit
	if err != nil {
		return nil, err
	}
	unknown := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx), newEvents(body), unknown), nil
}

const (
	tries = 10
	pause = time.Second
)

// open makes the request, and returns the body of its response. As in client-go, a request whose connection breaks is
// repeated; otherwise the reflector would list again.
func (t trimming) open(ctx context.Context, request *rest.Request) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		body, err := request.Stream(ctx)
		if err == nil {
			t.granted()
		}
		if err == nil || try == tries || !broken(err) {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(pause):
		}
	}
}

func broken(err error) bool {
	return utilnet.IsProbableEOF(err) || utilnet.IsTimeout(err) || utilnet.IsHTTP2ConnectionLost(err)
}

func (t trimming) get(o metav1.ListOptions) *rest.Request {
	var timeout time.Duration
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	return t.requests.Get().UseProtobufAsDefault().Resource(t.resource).
		VersionedParams(&o, scheme.ParameterCodec).Timeout(timeout)
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
