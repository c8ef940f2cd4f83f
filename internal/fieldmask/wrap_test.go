package fieldmask

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
)

const (
	watchType = "application/vnd.kubernetes.protobuf;stream=watch"
	bodyType  = "application/vnd.kubernetes.protobuf"
)

func TestAClientsWatchShowsItsEventsWithTheirUsedFields(t *testing.T) {
	synced := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		ResourceVersion: "9", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}}
	sent := []decodedEvent{
		{watch.Added, usualPod()},
		{watch.Bookmark, synced},
		{watch.Modified, usualNode()},
		{watch.Deleted, usualNamespace()},
		{watch.Added, &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c", GenerateName: "kept"}, Data: map[string]string{"a": "b"}}},
		{watch.Error, expired()},
	}
	var frames []byte
	for _, event := range sent {
		frames = append(frames, frameOf(t, event.kind, event.object)...)
	}
	client := clientOf(t, runtime.ContentTypeProtobuf, inPieces(watchType, frames))
	shown, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	for _, want := range sent {
		got := <-shown.ResultChan()
		expected := projected(want.object)
		if status, ok := got.Object.(*metav1.Status); ok {
			status.TypeMeta = metav1.TypeMeta{}
			if got := apierrors.FromObject(status); !apierrors.IsResourceExpired(got) {
				t.Errorf("the error is %v", got)
			}
		}
		if got.Type != want.kind || !cmp.Equal(expected, got.Object) {
			t.Errorf("got %s, want %s\n%s", got.Type, want.kind, cmp.Diff(expected, got.Object))
		}
	}
	if event, open := <-shown.ResultChan(); open {
		t.Errorf("after the end: %v", event)
	}
}

func TestAWatchThatIsCutOffWithinAnEventShowsThoseBeforeItAndEnds(t *testing.T) {
	frame := frameOf(t, watch.Added, usualPod())
	client := clientOf(t, runtime.ContentTypeProtobuf, inPieces(watchType, slices.Concat(frame, frame[:len(frame)/2])))
	shown, err := client.CoreV1().Pods("").Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	var got []watch.EventType
	for event := range shown.ResultChan() {
		got = append(got, event.Type)
	}
	if want := []watch.EventType{watch.Added}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestListsAndObjectsAndJSONPassAsTheyAre(t *testing.T) {
	pod := usualPod()
	for name, test := range map[string]struct {
		accept, kind string
		body         []byte
		get          func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error)
		want         runtime.Object
	}{
		"a list": {
			runtime.ContentTypeProtobuf, bodyType, encoded(t, &v1.PodList{Items: []v1.Pod{*pod}}),
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				return c.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
			},
			&v1.PodList{Items: []v1.Pod{*pod}},
		},
		"an object": {
			runtime.ContentTypeProtobuf, bodyType, encoded(t, pod),
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				return c.CoreV1().Pods("a").Get(ctx, "p", metav1.GetOptions{})
			},
			pod,
		},
		"a watch in JSON": {
			runtime.ContentTypeJSON, "application/json", inJSON(t, pod),
			func(ctx context.Context, c kubernetes.Interface) (runtime.Object, error) {
				shown, err := c.CoreV1().Pods("").Watch(ctx, metav1.ListOptions{})
				if err != nil {
					return nil, err
				}
				defer shown.Stop()
				event := <-shown.ResultChan()
				event.Object.(*v1.Pod).TypeMeta = metav1.TypeMeta{}
				return event.Object, nil
			},
			pod,
		},
	} {
		t.Run(name, func(t *testing.T) {
			got, err := test.get(t.Context(), clientOf(t, test.accept, inPieces(test.kind, test.body)))
			must(t, err)
			if diff := cmp.Diff(test.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
		})
	}
}

func TestOnlyTheBodiesOfProtobufWatchesAreReplaced(t *testing.T) {
	frame := frameOf(t, watch.Added, usualPod())
	for kind, pruned := range map[string]bool{
		watchType: true,
		`Application/VND.kubernetes.protobuf; charset=utf-8; stream="watch"`: true,
		bodyType:                        false,
		"application/json;stream=watch": false,
		"application/json":              false,
		"":                              false,
		"application/vnd.kubernetes.protobuf;stream": false,
	} {
		answer := &http.Response{Header: http.Header{}, Body: io.NopCloser(bytes.NewReader(frame)), ContentLength: int64(len(frame))}
		answer.Header.Set("Content-Type", kind)
		answer.Header.Set("Content-Length", "1")
		got, err := Wrap(answering{answer, nil}).RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
		must(t, err)
		body, err := io.ReadAll(got.Body)
		must(t, err)
		got.Body.Close()
		if (len(body) < len(frame)) != pruned || (got.ContentLength < 0) != pruned || (got.Header.Get("Content-Length") == "") != pruned {
			t.Errorf("%s: got %d of %d bytes, length %d", kind, len(body), len(frame), got.ContentLength)
		}
	}
}

func TestAFailedRequestFailsAsBefore(t *testing.T) {
	answer, err := Wrap(answering{nil, io.EOF}).RoundTrip(httptest.NewRequest(http.MethodGet, "/", nil))
	if err == nil {
		answer.Body.Close()
	}
	if answer != nil || err != io.EOF { //nolint:errorlint // unwrapped
		t.Errorf("got %v", err)
	}
}

// answering is a transport with one answer.
type answering struct {
	answer *http.Response
	err    error
}

func (a answering) RoundTrip(*http.Request) (*http.Response, error) { return a.answer, a.err }

// clientOf returns a client of a server that speaks HTTP/2, through the mask.
func clientOf(t *testing.T, accept string, handle http.HandlerFunc) kubernetes.Interface {
	t.Helper()
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.ProtoMajor != 2 {
			t.Errorf("the client speaks %s", r.Proto)
		}
		handle(w, r)
	}))
	server.EnableHTTP2 = true
	server.StartTLS()
	t.Cleanup(server.Close)
	access := &rest.Config{
		Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true},
		ContentConfig: rest.ContentConfig{ContentType: accept, AcceptContentTypes: accept},
	}
	access.Wrap(Wrap)
	client, err := kubernetes.NewForConfig(access)
	must(t, err)
	return client
}

// inPieces answers with a body in pieces of odd sizes.
func inPieces(kind string, body []byte) http.HandlerFunc {
	return func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", kind)
		for size, rest := 1, body; len(rest) > 0; size = size*3%1009 + 1 {
			size = min(size, len(rest))
			_, _ = w.Write(rest[:size])
			_ = http.NewResponseController(w).Flush()
			rest = rest[size:]
		}
	}
}

// inJSON returns an event of a watch in JSON.
func inJSON(t *testing.T, pod *v1.Pod) []byte {
	t.Helper()
	pod = pod.DeepCopy()
	pod.TypeMeta = metav1.TypeMeta{APIVersion: "v1", Kind: "Pod"}
	object, err := runtime.Encode(scheme.Codecs.LegacyCodec(v1.SchemeGroupVersion), pod)
	must(t, err)
	return slices.Concat([]byte(`{"type": "ADDED", "object": `), object, []byte("}\n"))
}
