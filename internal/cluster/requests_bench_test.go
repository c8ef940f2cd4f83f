package cluster

import (
	"bytes"
	"fmt"
	"net/http"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
)

// endless is the body of a watch that sends the same bytes again and again.
type endless struct {
	frame []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.frame[e.at:])
	e.at = (e.at + n) % len(e.frame)
	return n, nil
}

func (e *endless) Close() error { return nil }

// RoundTrip accepts such a watch.
func (e *endless) RoundTrip(*http.Request) (*http.Response, error) {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {runtime.ContentTypeProtobuf}}, Body: &endless{frame: e.frame}}, nil
}

// burstPod returns a pod of a burst: bound, running, of about 5 kB.
func burstPod() *v1.Pod {
	pod := bigPod(1, false)
	var env []v1.EnvVar
	for i := range 40 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", i), Value: strings.Repeat("value ", 12)})
	}
	pod.Annotations, pod.Spec.Priority = nil, new(int32(0))
	pod.Spec.Containers = []v1.Container{{Name: "c", Image: "registry.example.com/team/service:v1.2.3", Env: env}}
	return pod
}

// BenchmarkWatchedStatusUpdate measures an update of a pod's status, from the bytes of a watch to the store that sees
// no change.
func BenchmarkWatchedStatusUpdate(b *testing.B) {
	s, d := newBenchStores()
	pod, frame := burstPod(), &bytes.Buffer{}
	pod.ResourceVersion = "12345"
	(&api{format: runtime.ContentTypeProtobuf}).sendTo(frame, watch.Modified, pod)
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: "http://api", QPS: -1},
		&http.Client{Transport: &endless{frame: frame.Bytes()}})
	must(b, err)
	must(b, s.podStore.Add(pod))
	d.calls = 0
	updates, err := decodedPods(decodingClient(client)).Watch(b.Context(), metav1.ListOptions{})
	must(b, err)
	defer updates.Stop()
	b.ReportAllocs()
	for b.Loop() {
		must(b, s.podStore.Update((<-updates.ResultChan()).Object))
	}
	if d.calls != 0 {
		b.Fatalf("%d calls to the handler", d.calls)
	}
}
