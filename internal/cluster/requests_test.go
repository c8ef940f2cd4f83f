package cluster

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"os"
	"path"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	utilruntime "k8s.io/apimachinery/pkg/util/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/taint"
)

// TestMain removes an error handler that sleeps, because it would compare the time of a bubble with that of the
// process.
func TestMain(m *testing.M) {
	utilruntime.ErrorHandlers = utilruntime.ErrorHandlers[:1]
	os.Exit(m.Run())
}

// api is an API server without a network. It has the namespace ns, and in it the pod p on the tainted node n, and sends
// what a test asks for.
type api struct {
	format  string // the content type of all responses
	streams bool   // it supports streamed lists

	// refuse, unless it is nil, is called before each response.
	refuse func(ask string) (*http.Response, error)

	labels map[string]string // of the node and of the namespace
	drains bool              // the node has the NoSchedule taint "drain", too
	heard  atomic.Int32      // how often the watcher has heard of a success

	mu      sync.Mutex
	asked   []string
	watches map[string]*io.PipeWriter // the latest one of each resource
}

// RoundTrip answers a request.
func (a *api) RoundTrip(r *http.Request) (*http.Response, error) {
	ask, answer := a.note(r)
	if a.refuse != nil {
		if response, err := a.refuse(ask); response != nil || err != nil {
			return response, err
		}
	}
	return answer(), nil
}

// note records the request, and returns the response.
func (a *api) note(r *http.Request) (ask string, answer func() *http.Response) {
	query, what := r.URL.Query(), path.Base(r.URL.Path)
	if what == "pods" && query.Get("fieldSelector") != podsWatched {
		what = "all pods"
	}
	switch {
	case query.Get("watch") == "":
		ask, answer = "list "+what, func() *http.Response { return a.respond(200, a.list(what)) }
	case query.Get("sendInitialEvents") == "":
		ask, answer = "watch "+what+" from "+query.Get("resourceVersion"), func() *http.Response { return a.stream(what, false) }
	case a.streams:
		ask, answer = "stream "+what, func() *http.Response { return a.stream(what, true) }
	default:
		ask, answer = "stream "+what, func() *http.Response { return a.fail(metav1.StatusReasonInvalid, 422) }
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	a.asked = append(a.asked, ask)
	return ask, answer
}

// took returns the requests about pods since the last call.
func (a *api) took() []string { return a.tookOf("pods") }

// tookOf returns the requests about a resource since the last call of it or of took.
func (a *api) tookOf(what string) []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	asked := slices.DeleteFunc(a.asked, func(ask string) bool { return !strings.Contains(ask, what) })
	a.asked = nil
	return asked
}

func (a *api) list(what string) runtime.Object {
	switch version := (metav1.ListMeta{ResourceVersion: "5"}); what {
	case "pods":
		return &v1.PodList{ListMeta: version, Items: []v1.Pod{*aPod()}}
	case "namespaces":
		return &v1.NamespaceList{ListMeta: version, Items: []v1.Namespace{*a.namespace()}}
	default:
		return &v1.NodeList{ListMeta: version, Items: []v1.Node{*a.node()}}
	}
}

// object returns the only object of a resource, and the bookmark that ends a streamed list of it.
func (a *api) object(what string) (object, end runtime.Object) {
	meta := metav1.ObjectMeta{
		ResourceVersion: "5", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"},
	}
	switch what {
	case "pods":
		return aPod(), &v1.Pod{ObjectMeta: meta}
	case "namespaces":
		return a.namespace(), &v1.Namespace{ObjectMeta: meta}
	default:
		return a.node(), &v1.Node{ObjectMeta: meta}
	}
}

func (a *api) node() *v1.Node {
	n := aNode(v1.Taint{Key: "k"})
	if a.drains {
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: "drain", Effect: v1.TaintEffectNoSchedule})
	}
	n.Labels = a.labels
	return n
}

func (a *api) namespace() *v1.Namespace {
	return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "ns", UID: "s1", ResourceVersion: "1", Labels: a.labels}}
}

// stream accepts a watch.
func (a *api) stream(what string, initial bool) *http.Response {
	body, w := io.Pipe()
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.watches == nil {
		a.watches = map[string]*io.PipeWriter{}
	}
	a.watches[what] = w
	if initial {
		go func() {
			object, end := a.object(what)
			a.sendTo(w, watch.Added, object)
			a.sendTo(w, watch.Bookmark, end)
		}()
	}
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {a.format}}, Body: body}
}

func (a *api) fail(reason metav1.StatusReason, code int32) *http.Response {
	return a.respond(int(code), &metav1.Status{Status: metav1.StatusFailure, Reason: reason, Code: code, Message: "no way"})
}

func (a *api) respond(code int, object runtime.Object) *http.Response {
	return &http.Response{
		StatusCode: code, Header: http.Header{"Content-Type": {a.format}},
		Body: io.NopCloser(bytes.NewReader(a.encode(object))),
	}
}

func (a *api) encode(object runtime.Object) []byte {
	serializer := runtime.Serializer(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme))
	if a.format == runtime.ContentTypeJSON {
		info, _ := runtime.SerializerInfoForMediaType(scheme.Codecs.SupportedMediaTypes(), a.format)
		serializer = info.Serializer
	}
	var b bytes.Buffer
	if err := scheme.Codecs.EncoderForVersion(serializer, v1.SchemeGroupVersion).Encode(object, &b); err != nil {
		panic(err)
	}
	return b.Bytes()
}

// watch returns the latest watch of a resource.
func (a *api) watch(what string) *io.PipeWriter {
	synctest.Wait() // until the watch is there that follows a plain list
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.watches[what]
}

// send sends an event about pods.
func (a *api) send(kind watch.EventType, object runtime.Object) { a.sendOf("pods", kind, object) }

// sendOf sends an event about a resource.
func (a *api) sendOf(what string, kind watch.EventType, object runtime.Object) {
	a.sendTo(a.watch(what), kind, object)
	synctest.Wait()
}

// expire tells a watch that the API server has forgotten its version.
func (a *api) expire(what string) {
	expired := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410}
	a.sendOf(what, watch.Error, expired)
}

// sendTo sends an event. It fails only if the watcher has gone.
func (a *api) sendTo(w io.Writer, kind watch.EventType, object runtime.Object) {
	raw := runtime.RawExtension{Raw: a.encode(object)}
	if a.format == runtime.ContentTypeJSON {
		_ = json.NewEncoder(w).Encode(metav1.WatchEvent{Type: string(kind), Object: raw})
		return
	}
	message, err := (&metav1.WatchEvent{Type: string(kind), Object: raw}).Marshal()
	if err != nil {
		panic(err)
	}
	_, _ = w.Write(append(binary.BigEndian.AppendUint32(nil, uint32(len(message))), message...))
}

// over runs a watcher over the API server, beginning with its first lists.
func (a *api) over(t *testing.T, test func(w *Watcher, told *record)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: "http://api", QPS: -1}, &http.Client{Transport: a})
		must(t, err)
		w := Watch(client, taint.Rules{}, func() { a.heard.Add(1) })
		told := &record{source: w}
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		ended := make(chan error)
		go func() { ended <- w.Run(ctx, told) }()
		synctest.Wait()
		test(w, told)
		begun := time.Now()
		cancel()
		must(t, <-ended)
		// A reflector that can't stream its list waits for some seconds, and ignores its context.
		if took := time.Since(begun); took > reflectorBackoff {
			t.Errorf("Run ended %s after its context", took)
		}
	})
}

// inAllForms runs a test over API servers that speak protobuf and JSON, with streamed and plain lists.
func inAllForms(t *testing.T, test func(t *testing.T, a *api)) {
	t.Helper()
	for _, format := range []string{runtime.ContentTypeProtobuf, runtime.ContentTypeJSON} {
		for name, streams := range map[string]bool{"streamed list": true, "plain list": false} {
			t.Run(format+", "+name, func(t *testing.T) { test(t, &api{format: format, streams: streams}) })
		}
	}
}

func TestAWatcherSeesTheSameInAllForms(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.over(t, func(w *Watcher, told *record) {
			expect := func(what string, want ...string) {
				t.Helper()
				if got := told.take(); !slices.Equal(got, want) {
					t.Errorf("%s: told %q, want %q", what, got, want)
				}
			}
			expect("the first lists", "node n: n1 with 1")
			a.send(watch.Modified, aPod(func(p *v1.Pod) { p.Status.PodIP = "10.0.0.1" }))
			expect("a status update")
			a.send(watch.Modified, aPod(func(p *v1.Pod) { p.Spec.Priority = new(int32(7)) }))
			expect("a priority")
			if p, _ := w.Pod("p1"); p.Priority != 7 || *p.Tolerations[0].TolerationSeconds != 60 {
				t.Errorf("got %+v", p)
			}
			a.send(watch.Modified, aPod(func(p *v1.Pod) { p.Spec.Tolerations = nil }))
			expect("other tolerations", "pod p1 for n: n")
			a.send(watch.Modified, aPod(func(p *v1.Pod) { p.Spec.Tolerations, p.DeletionTimestamp = nil, new(metav1.Now()) }))
			expect("it is to go", "pod p1 for n: n")
			a.send(watch.Added, aPod(withUID("p2"), func(p *v1.Pod) { p.Name = "q" }))
			expect("another pod", "pod p2 for n: n")
			a.send(watch.Deleted, aPod())
			expect("it is gone", "pod p1 for n: gone")
			must(t, w.Trouble())
			if a.heard.Load() == 0 {
				t.Error("nobody has heard of the API server")
			}
		})
	})
}

func TestAWatchGoesOnFromTheLatestBookmark(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		a.over(t, func(*Watcher, *record) {
			a.send(watch.Bookmark, &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "50"}})
			a.took()
			time.Sleep(time.Minute)
			must(t, a.watch("pods").Close())
			synctest.Wait()
			if got := a.took(); !slices.Equal(got, []string{"watch pods from 50"}) {
				t.Errorf("asked for %q", got)
			}
		})
	})
}

func TestAConnectionThatStaysBrokenIsTrouble(t *testing.T) {
	a := &api{format: runtime.ContentTypeProtobuf, streams: true}
	a.refuse = func(string) (*http.Response, error) { return nil, io.ErrUnexpectedEOF }
	a.over(t, func(w *Watcher, _ *record) {
		time.Sleep(25 * time.Second) // client-go repeats the stream and then the list for ten seconds each
		if err := w.Trouble(); err == nil || !strings.Contains(err.Error(), "unexpected EOF") {
			t.Errorf("trouble: %v", err)
		}
	})
}

// A proxy may pass lists, and break the connection of each watch. For client-go, such a watch has begun and ended.
func TestWhileEachWatchBreaksListsShowChanges(t *testing.T) {
	a := &api{format: runtime.ContentTypeProtobuf}
	a.refuse = func(ask string) (*http.Response, error) {
		if strings.HasPrefix(ask, "watch") {
			return nil, io.ErrUnexpectedEOF
		}
		return nil, nil
	}
	a.over(t, func(*Watcher, *record) {
		time.Sleep(time.Minute)
		lists := slices.DeleteFunc(a.took(), func(ask string) bool { return ask != "list pods" })
		if len(lists) < 4 { // client-go repeats a watch for ten seconds
			t.Errorf("in a minute, pods are listed %d times", len(lists))
		}
	})
}

func TestAWatchThatFailsGoesOnOrBeginsAnew(t *testing.T) {
	for name, test := range map[string]struct {
		spoil func(a *api, w *io.PipeWriter)
		asked string
		pods  int
	}{
		"the server has forgotten the version": {func(a *api, _ *io.PipeWriter) { a.expire("pods") }, "stream pods", 1},
		"what it sends is no event": {
			func(_ *api, w *io.PipeWriter) { _, _ = w.Write([]byte{0, 0, 0, 1, 0}) }, "stream pods", 1,
		},
		"what it sends is too large": {func(_ *api, w *io.PipeWriter) {
			_, _ = w.Write(append([]byte{1, 0, 0, 1}, make([]byte, 16<<20+1)...))
		}, "stream pods", 1},
		"it ends in an event": {func(_ *api, w *io.PipeWriter) {
			_, _ = w.Write([]byte{0, 0, 1, 0, 0})
			_ = w.Close()
		}, "watch pods from 7", 2},
	} {
		t.Run(name, func(t *testing.T) {
			a := &api{format: runtime.ContentTypeProtobuf, streams: true}
			a.over(t, func(w *Watcher, _ *record) {
				a.send(watch.Added, aPod(withUID("p2"), func(p *v1.Pod) { p.Name, p.ResourceVersion = "q", "7" }))
				a.took()
				test.spoil(a, a.watch("pods"))
				time.Sleep(time.Minute)
				if got := a.took(); !slices.Equal(got, []string{test.asked}) {
					t.Errorf("asked for %q, want %q", got, test.asked)
				}
				must(t, w.Trouble())
				if _, pods := w.PodsOn("n"); len(pods) != test.pods {
					t.Errorf("%d pods, want %d", len(pods), test.pods)
				}
			})
		})
	}
}

// asking records requests and accepts none.
type asking struct{ asked []string }

func (a *asking) RoundTrip(r *http.Request) (*http.Response, error) {
	a.asked = append(a.asked, fmt.Sprint(r.Method, " ", r.URL, " ", r.Header))
	return nil, errors.New("no")
}

func TestRequestsAreThoseThatTheClientItselfMakes(t *testing.T) {
	all := metav1.ListOptions{
		FieldSelector: podsWatched, ResourceVersion: "7", ResourceVersionMatch: metav1.ResourceVersionMatchNotOlderThan,
		AllowWatchBookmarks: true, SendInitialEvents: new(true), Limit: 10, Continue: "more", TimeoutSeconds: new(int64(300)),
	}
	asked := &asking{}
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: "https://proxy/some/path", QPS: -1}, &http.Client{Transport: asked})
	must(t, err)
	pods, nodes := decodedPods(decodingClient(client)), decodedNodes(decodingClient(client))
	for _, o := range []metav1.ListOptions{{}, {ResourceVersion: "0"}, all} {
		_, _ = client.CoreV1().Pods("").List(t.Context(), o)
		_, _ = pods.List(t.Context(), o)
		_, _ = client.CoreV1().Pods("").Watch(t.Context(), o)
		_, _ = pods.Watch(t.Context(), o)
		_, _ = client.CoreV1().Nodes().List(t.Context(), o)
		_, _ = nodes.List(t.Context(), o)
	}
	if len(asked.asked) == 0 {
		t.Error("nothing was asked for")
	}
	for i := 0; i < len(asked.asked); i += 2 {
		if own, ours := asked.asked[i], asked.asked[i+1]; own != ours {
			t.Errorf("asked\n%q, want\n%q", ours, own)
		}
	}
}

func TestProtobufIsAskedForWhateverTheClientPrefers(t *testing.T) {
	asked := &asking{}
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{
		Host: "http://api", QPS: -1, ContentConfig: rest.ContentConfig{ContentType: runtime.ContentTypeJSON},
	}, &http.Client{Transport: asked})
	must(t, err)
	_, _ = decodedPods(decodingClient(client)).Watch(t.Context(), metav1.ListOptions{})
	if got, want := fmt.Sprint(asked.asked), "Accept:[application/vnd.kubernetes.protobuf,application/json]"; !strings.Contains(got, want) {
		t.Errorf("asked %s, want %s", got, want)
	}
}

func TestAWatchDoesNotWaitForTheLimitOnRequests(t *testing.T) {
	a := &api{format: runtime.ContentTypeProtobuf}
	config := &rest.Config{Host: "http://api", RateLimiter: flowcontrol.NewFakeNeverRateLimiter()}
	client, err := kubernetes.NewForConfigAndClient(config, &http.Client{Transport: a})
	must(t, err)
	pods := decodedPods(decodingClient(client))
	if _, err := pods.List(t.Context(), metav1.ListOptions{}); err == nil {
		t.Error("listing did not wait")
	}
	granted, err := pods.Watch(t.Context(), metav1.ListOptions{})
	must(t, err)
	granted.Stop()
}

// otherCore is a client with a core client that is not client-go's.
type otherCore struct{ kubernetes.Interface }

func (o otherCore) CoreV1() corev1.CoreV1Interface {
	return struct{ corev1.CoreV1Interface }{o.Interface.CoreV1()}
}

func TestOnlyTheClientOfClientGoIsReplaced(t *testing.T) {
	real, err := kubernetes.NewForConfig(&rest.Config{Host: "http://api"})
	must(t, err)
	for name, test := range map[string]struct {
		client   kubernetes.Interface
		replaced bool
	}{
		"client-go's own":     {real, true},
		"wrapped as a whole":  {struct{ kubernetes.Interface }{real}, true},
		"one of its own core": {otherCore{real}, false},
		"a fake":              {fake.NewClientset(), false},
	} {
		if replaced := decodingClient(test.client) != nil; replaced != test.replaced {
			t.Errorf("%s: replaced %t", name, replaced)
		}
	}
}
