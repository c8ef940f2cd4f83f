package cluster

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
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

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

const (
	// readAhead is how much of a response is read at a time: the size of an HTTP/2 frame.
	readAhead = 16 << 10

	maxTries   = 10
	retryDelay = time.Second
)

// typed is client-go's typed client for one resource.
type typed[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// newLister returns requests that decode only the used fields, and trim each item of a list as it arrives. They call
// begun as soon as the response to a request has begun. If that is not possible, newLister returns the requests of the
// typed client, which decode all fields.
func newLister[L runtime.Object](
	client kubernetes.Interface, own typed[L], resource string, trim cache.TransformFunc, begun func(),
) *cache.ListWatch {
	rest := restOf(client)
	if rest == nil {
		return whole(own)
	}
	t := trimming{rest, resource, trim, begun}
	return &cache.ListWatch{ListWithContextFunc: t.list, WatchFuncWithContext: t.watch}
}

// restOf returns the client of the requests that a client makes, with its transport, limits and content type. It
// returns nil if the client is not client-go's, because another client may do more than requests, and if the client may
// use CBOR.
func restOf(client kubernetes.Interface) rest.Interface {
	core, ok := client.CoreV1().(*corev1.CoreV1Client)
	if !ok || features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return nil
	}
	return core.RESTClient()
}

// whole returns the requests of a typed client.
func whole[L runtime.Object](client typed[L]) *cache.ListWatch {
	return &cache.ListWatch{
		ListWithContextFunc: func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
			return client.List(ctx, o)
		},
		WatchFuncWithContext: client.Watch,
	}
}

// trimming lists and watches one resource. Package wire decodes protobuf; client-go's decoders decode everything else.
type trimming struct {
	client   rest.Interface
	resource string
	trim     cache.TransformFunc
	begun    func()
}

// list returns a list.
func (t trimming) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	body, err := t.open(ctx, t.get(o))
	if err != nil {
		return nil, err
	}
	defer body.Close()
	object, err := t.decodeList(bufio.NewReaderSize(body, readAhead))
	if err != nil {
		return nil, fmt.Errorf("reading the list of %s: %w", t.resource, err)
	}
	if !meta.IsListType(object) {
		return nil, apierrors.FromObject(object) // a Status contains the error
	}
	return object, nil
}

// decodeList decodes a list, which may be protobuf or JSON. Items in protobuf are trimmed.
func (t trimming) decodeList(body *bufio.Reader) (runtime.Object, error) {
	if wire.IsList(body) {
		return wire.ReadList(body, func(object runtime.Object) (runtime.Object, error) {
			value, err := t.trim(object)
			return trimmed{value}, err
		})
	}
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	decoder, err := decoders().Decoder(runtime.ContentTypeJSON, nil)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(decoder, data)
}

// watch returns a watch, once the API server has accepted it. As in client-go, a watch does not wait for the limit on
// requests.
func (t trimming) watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	body, err := t.open(ctx, t.get(o).Throttle(nil))
	if err != nil {
		return nil, err
	}
	unknown := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx), newEvents(body), unknown), nil
}

// open makes the request, and returns the body of its response. As in client-go, a request whose connection breaks is
// repeated; otherwise the reflector would list again.
func (t trimming) open(ctx context.Context, request *rest.Request) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		body, err := request.Stream(ctx)
		if err == nil {
			t.begun()
		}
		if err == nil || try == maxTries || !broken(err) {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(retryDelay):
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
	return t.client.Get().UseProtobufAsDefault().Resource(t.resource).
		VersionedParams(&o, scheme.ParameterCodec).Timeout(timeout)
}

// decoders returns client-go's decoders.
func decoders() runtime.ClientNegotiator {
	return runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), v1.SchemeGroupVersion)
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
