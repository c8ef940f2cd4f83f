package evict

import (
	"context"
	"encoding/json"
	"errors"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/taint"
)

// FieldManager is the name of this program in the managedFields of pods.
const FieldManager = "taint-manager"

// shown is what an answer shows of the pod; the zero value if the answer shows nothing, or if it is not needed.
type shown struct {
	generation  int64 // of the spec, without the increment by which the API server counts the beginning of a deletion
	terminating bool  // the deletion of the pod has begun
}

// sender sends single requests.
type sender interface {
	patch(ctx context.Context, pod *taint.Pod, body []byte) (shown, error)
	delete(ctx context.Context, pod *taint.Pod, options metav1.DeleteOptions) (shown, error)
	evict(ctx context.Context, body *policyv1.Eviction) error
	node(ctx context.Context, name string) (*v1.Node, error)
}

// newSender returns a sender for the REST client, where client-go's own retries can be switched off. A fake clientset
// has no REST client (it is a nil pointer); its typed calls do not retry.
func newSender(client kubernetes.Interface) sender {
	core := client.CoreV1()
	raw := core.RESTClient()
	if c, ok := raw.(*rest.RESTClient); raw == nil || ok && c == nil {
		return typedSender{core}
	}
	return restSender{raw}
}

// restSender sends each request once: client-go would sleep on 429 and 5xx inside a worker.
type restSender struct{ client rest.Interface }

// briefly asks for an answer in JSON without spec and status, which the API server then need not encode and send.
const briefly = "application/json;as=PartialObjectMetadata;g=meta.k8s.io;v=v1,application/json"

func (r restSender) patch(ctx context.Context, pod *taint.Pod, body []byte) (shown, error) {
	result := r.client.Patch(types.StrategicMergePatchType).MaxRetries(0).SetHeader("Accept", briefly).
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).SubResource("status").
		Param("fieldManager", FieldManager).Body(body).Do(ctx)
	return shownBy(result), result.Error()
}

func (r restSender) delete(ctx context.Context, pod *taint.Pod, options metav1.DeleteOptions) (shown, error) {
	result := r.client.Delete().MaxRetries(0).SetHeader("Accept", briefly).
		Namespace(pod.Namespace).Resource("pods").Name(pod.Name).
		Body(&options).Do(ctx)
	if len(options.DryRun) == 0 {
		return shown{}, result.Error()
	}
	return shownBy(result), result.Error()
}

// shownBy reads the metadata in an answer. It does not decode the labels, of which there may be 100,000.
func shownBy(result rest.Result) shown {
	var object struct {
		Metadata struct {
			Generation        int64   `json:"generation"`
			DeletionTimestamp *string `json:"deletionTimestamp"`
		} `json:"metadata"`
	}
	body, err := result.Raw()
	if err != nil || json.Unmarshal(body, &object) != nil {
		return shown{}
	}
	return show(object.Metadata.Generation, object.Metadata.DeletionTimestamp != nil)
}

func show(generation int64, terminating bool) shown {
	if terminating {
		generation--
	}
	return shown{generation, terminating}
}

// node reads a node. Without a resourceVersion the API server reads from etcd, not from its cache.
func (r restSender) node(ctx context.Context, name string) (*v1.Node, error) {
	node := &v1.Node{}
	return node, r.client.Get().MaxRetries(0).Resource("nodes").Name(name).Do(ctx).Into(node)
}

func (r restSender) evict(ctx context.Context, body *policyv1.Eviction) error {
	result := r.client.Post().MaxRetries(0).
		Namespace(body.Namespace).Resource("pods").Name(body.Name).SubResource("eviction").
		Body(body).Do(ctx)
	if err := result.Error(); err != nil {
		return err
	}
	return failureInside(result)
}

// failureInside finds a failure in the body of an answer whose HTTP status is a success: the eviction subresource
// reports two budgets on one pod in this way. A body that can't be read is no failure.
func failureInside(result rest.Result) error {
	_, err := result.Get()
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		return err
	}
	return nil
}

// typedSender is for clientsets without a REST client.
type typedSender struct{ client typedv1.CoreV1Interface }

func (t typedSender) patch(ctx context.Context, pod *taint.Pod, body []byte) (shown, error) {
	object, err := t.client.Pods(pod.Namespace).
		Patch(ctx, pod.Name, types.StrategicMergePatchType, body, metav1.PatchOptions{FieldManager: FieldManager},
			"status")
	if err != nil {
		return shown{}, err
	}
	return show(object.Generation, object.DeletionTimestamp != nil), nil
}

func (t typedSender) delete(ctx context.Context, pod *taint.Pod, options metav1.DeleteOptions) (shown, error) {
	return shown{}, t.client.Pods(pod.Namespace).Delete(ctx, pod.Name, options)
}

func (t typedSender) evict(ctx context.Context, body *policyv1.Eviction) error {
	return t.client.Pods(body.Namespace).EvictV1(ctx, body)
}

func (t typedSender) node(ctx context.Context, name string) (*v1.Node, error) {
	return t.client.Nodes().Get(ctx, name, metav1.GetOptions{})
}
