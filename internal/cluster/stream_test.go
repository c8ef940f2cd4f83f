package cluster

import (
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/client-go/rest"
	clienttesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/taint"
)

// server responds to lists and watches over HTTP, with one pod and one node.
type server struct {
	streams  bool
	selector atomic.Value
	streamed atomic.Int32
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	pods := strings.HasSuffix(r.URL.Path, "/pods")
	query := r.URL.Query()
	if pods {
		s.selector.Store(query.Get("fieldSelector"))
	}
	w.Header().Set("Content-Type", "application/json")
	switch {
	case query.Get("watch") == "":
		write(w, list(pods))
	case query.Get("sendInitialEvents") == "true" && !s.streams:
		w.WriteHeader(http.StatusUnprocessableEntity)
		write(w, metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonInvalid, Code: http.StatusUnprocessableEntity})
	default:
		s.stream(w, r, pods, query.Get("sendInitialEvents") == "true")
	}
}

// stream sends the initial events if they are requested, and keeps the watch open until the client ends it.
func (s *server) stream(w http.ResponseWriter, r *http.Request, pods, initial bool) {
	if initial {
		s.streamed.Add(1)
		write(w, event("ADDED", object(pods)))
		write(w, event("BOOKMARK", bookmark(pods)))
	}
	w.(http.Flusher).Flush()
	<-r.Context().Done()
}

func event(kind string, object any) map[string]any {
	return map[string]any{"type": kind, "object": object}
}

func object(pods bool) any {
	if pods {
		p := aPod()
		p.TypeMeta = metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}
		return p
	}
	n := aNode(v1.Taint{Key: "k"})
	n.TypeMeta = metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}
	return n
}

func bookmark(pods bool) any {
	meta := metav1.ObjectMeta{ResourceVersion: "5", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}
	if pods {
		return &v1.Pod{TypeMeta: metav1.TypeMeta{Kind: "Pod", APIVersion: "v1"}, ObjectMeta: meta}
	}
	return &v1.Node{TypeMeta: metav1.TypeMeta{Kind: "Node", APIVersion: "v1"}, ObjectMeta: meta}
}

func list(pods bool) any {
	meta := metav1.ListMeta{ResourceVersion: "5"}
	if pods {
		return v1.PodList{TypeMeta: metav1.TypeMeta{Kind: "PodList", APIVersion: "v1"}, ListMeta: meta, Items: []v1.Pod{*aPod()}}
	}
	return v1.NodeList{TypeMeta: metav1.TypeMeta{Kind: "NodeList", APIVersion: "v1"}, ListMeta: meta, Items: []v1.Node{*aNode(v1.Taint{Key: "k"})}}
}

// write fails only if the client has already gone.
func write(w http.ResponseWriter, v any) { _ = json.NewEncoder(w).Encode(v) }

// watching runs a watcher of the server until the test ends it.
func watching(t *testing.T, s *server, heard func()) (w *Watcher, told *record, end func()) {
	t.Helper()
	web := httptest.NewServer(s)
	transport := &http.Transport{}
	client, err := kubernetes.NewForConfigAndClient(&rest.Config{Host: web.URL, QPS: -1}, &http.Client{Transport: transport})
	must(t, err)
	w = Watch(client, taint.Rules{}, heard)
	told = &record{source: w}
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	ended := make(chan error)
	go func() { ended <- w.Run(ctx, told) }()
	return w, told, func() {
		cancel()
		must(t, <-ended)
		transport.CloseIdleConnections()
		web.Close()
	}
}

func TestAWatcherTakesStreamedAndPlainListsOverHTTP(t *testing.T) {
	for name, streams := range map[string]bool{"streamed": true, "plain": false} {
		t.Run(name, func(t *testing.T) {
			defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
			s := &server{streams: streams}
			heard := make(chan struct{}, 100)
			w, told, end := watching(t, s, func() { heard <- struct{}{} })
			defer end()
			<-w.Synced()
			<-heard
			if got := told.take(); len(got) != 1 {
				t.Errorf("told %q, want a node", got)
			}
			if n, pods := w.PodsOn("n"); !n.Tainted() || len(pods) != 1 {
				t.Errorf("got %+v and %d pods", n, len(pods))
			}
			if got := s.selector.Load(); got != "spec.nodeName!=" {
				t.Errorf("the pods are selected by %q", got)
			}
			if got := s.streamed.Load(); (got == 2) != streams {
				t.Errorf("%d lists were streamed", got)
			}
			if err := w.Trouble(); err != nil {
				t.Error(err)
			}
		})
	}
}

// streaming hides that the fake clientset does not support streamed lists.
type streaming struct{ kubernetes.Interface }

// A reflector that cannot stream its list waits for some seconds, and ignores its context.
func TestRunEndsSoonWhileTheServerIsAway(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := fake.NewClientset()
		client.PrependWatchReactor("*", func(clienttesting.Action) (bool, watch.Interface, error) {
			return true, nil, syscall.ECONNREFUSED
		})
		w := Watch(streaming{client}, taint.Rules{}, func() { t.Error("heard of a server that is away") })
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		ended := make(chan error)
		go func() { ended <- w.Run(ctx, &record{source: w}) }()

		time.Sleep(10 * time.Minute)
		err := w.Trouble()
		if w.HasSynced() || err == nil || !strings.Contains(err.Error(), "watching pods for 10m0s without success: connection refused") {
			t.Errorf("in sync %t, trouble %v", w.HasSynced(), err)
		}
		begun := time.Now()
		cancel()
		must(t, <-ended)
		if took := time.Since(begun); took > reflectorBackoff {
			t.Errorf("Run ended %s after its context", took)
		}
	})
}
