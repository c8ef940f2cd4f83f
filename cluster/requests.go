package cluster

import (
	"context"
	"io"
	"mime"
	"net/http"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	utilnet "k8s.io/apimachinery/pkg/util/net"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/cluster/wire"
)

// lister lists and watches one resource. The clients of client-go are such.
type lister[L runtime.Object] interface {
	List(ctx context.Context, o metav1.ListOptions) (L, error)
	Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error)
}

// podLister is one that decodes only what counts, or the client's own where that can't be.
func podLister(client kubernetes.Interface, known wire.Known) lister[*v1.PodList] {
	if requests := requestsOf(client); requests != nil {
		return trimming[*v1.PodList]{requests, "pods", known}
	}
	return client.CoreV1().Pods(metav1.NamespaceAll)
}

// nodeLister is the same for nodes.
func nodeLister(client kubernetes.Interface) lister[*v1.NodeList] {
	if requests := requestsOf(client); requests != nil {
		return trimming[*v1.NodeList]{requests, "nodes", nil}
	}
	return client.CoreV1().Nodes()
}

// requestsOf makes requests as the client does, with its transport, limits and content type. It is nil for
// a client that is not client-go's, as only that one's requests are known to be all it does, and for
// one that may speak CBOR.
func requestsOf(client kubernetes.Interface) rest.Interface {
	core, ok := client.CoreV1().(*corev1.CoreV1Client)
	if !ok || features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return nil
	}
	return core.RESTClient()
}

// trimming lists and watches one resource. What comes as protobuf is decoded by package wire; anything
// else, as the client itself would.
type trimming[L runtime.Object] struct {
	requests rest.Interface
	resource string
	known    wire.Known
}

// List returns a list.
func (t trimming[L]) List(ctx context.Context, o metav1.ListOptions) (list L, err error) {
	object, err := t.object(t.get(o).Do(ctx))
	if err != nil {
		return list, err
	}
	list, ok := object.(L)
	if !ok {
		return list, apierrors.FromObject(object) // a Status says what is wrong
	}
	return list, nil
}

// object is what the body holds.
func (t trimming[L]) object(result rest.Result) (runtime.Object, error) {
	if err := result.Error(); err != nil {
		return nil, err
	}
	var contentType string
	result.ContentType(&contentType)
	if media, _, err := mime.ParseMediaType(contentType); err != nil || media != runtime.ContentTypeProtobuf {
		return result.Get()
	}
	body, err := result.Raw()
	if err != nil {
		return nil, err
	}
	return wire.Decode(body, t.known)
}

// Watch returns a watch, once the API server has granted it.
func (t trimming[L]) Watch(ctx context.Context, o metav1.ListOptions) (watch.Interface, error) {
	o.Watch = true
	body, err := t.stream(ctx, o)
	if err != nil {
		return nil, err
	}
	unknown := apierrors.NewClientErrorReporter(http.StatusInternalServerError, http.MethodGet, "ClientWatchDecoding")
	return watch.NewStreamWatcherWithLogger(klog.FromContext(ctx), newEvents(body, t.known), unknown), nil
}

const (
	watchTries = 10
	watchPause = time.Second
)

// stream asks for a watch. As in client-go, a watch does not wait for the limit on requests, and is asked
// for again when its connection breaks: the reflector would take that for a reason to list anew.
func (t trimming[L]) stream(ctx context.Context, o metav1.ListOptions) (io.ReadCloser, error) {
	for try := 1; ; try++ {
		body, err := t.get(o).Throttle(nil).Stream(ctx)
		if err == nil || try == watchTries || !utilnet.IsProbableEOF(err) && !utilnet.IsTimeout(err) {
			return body, err
		}
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-time.After(watchPause):
		}
	}
}

func (t trimming[L]) get(o metav1.ListOptions) *rest.Request {
	var timeout time.Duration
	if o.TimeoutSeconds != nil {
		timeout = time.Duration(*o.TimeoutSeconds) * time.Second
	}
	return t.requests.Get().UseProtobufAsDefault().Resource(t.resource).
		VersionedParams(&o, scheme.ParameterCodec).Timeout(timeout)
}
