package event

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"
	typedv1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
)

// writeTimeout bounds one attempt to write an event.
const writeTimeout = 10 * time.Second

// Sink stores events. It must be safe for concurrent use, and give up when the context ends. An error
// that is an apierrors.APIStatus says by its code whether a second try makes sense.
type Sink interface {
	Create(ctx context.Context, event *v1.Event) error
}

// NewSink stores events through the client. It sends each once: client-go's own retries are off. A
// fake clientset, which has no REST client, is used by its typed calls.
func NewSink(client kubernetes.Interface) Sink {
	core := client.CoreV1()
	raw := core.RESTClient()
	if c, ok := raw.(*rest.RESTClient); raw == nil || ok && c == nil {
		return typedSink{core}
	}
	return restSink{raw}
}

type restSink struct{ client rest.Interface }

func (r restSink) Create(ctx context.Context, event *v1.Event) error {
	return r.client.Post().MaxRetries(0).
		Namespace(event.Namespace).Resource("events").Body(event).Do(ctx).Error()
}

type typedSink struct{ client typedv1.EventsGetter }

func (t typedSink) Create(ctx context.Context, event *v1.Event) error {
	_, err := t.client.Events(event.Namespace).Create(ctx, event, metav1.CreateOptions{})
	return err
}
