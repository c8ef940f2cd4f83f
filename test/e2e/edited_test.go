package e2e

import (
	"context"
	"io"
	"net/http"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/go-logr/logr/testr"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// holding is a transport that can hold back the data of the watch of pods, as a proxy that hangs does. It counts
// PATCHes, by path.
type holding struct {
	next http.RoundTripper

	mu      sync.Mutex
	free    chan struct{} // closed while nothing is held back
	patches map[string]int
}

func (h *holding) RoundTrip(r *http.Request) (*http.Response, error) {
	if r.Method == http.MethodPatch {
		h.mu.Lock()
		h.patches[r.URL.Path]++
		h.mu.Unlock()
	}
	response, err := h.next.RoundTrip(r)
	if err == nil && strings.HasSuffix(r.URL.Path, "/pods") && r.URL.Query().Get("watch") != "" {
		response.Body = heldBody{response.Body, h, r.Context()}
	}
	return response, err
}

// hold holds everything back until the returned function is called.
func (h *holding) hold() (release func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	free := make(chan struct{})
	h.free = free
	return sync.OnceFunc(func() { close(free) })
}

type heldBody struct {
	io.ReadCloser
	h   *holding
	ctx context.Context
}

func (h heldBody) Read(p []byte) (int, error) {
	n, err := h.ReadCloser.Read(p)
	h.h.mu.Lock()
	free := h.h.free
	h.h.mu.Unlock()
	select {
	case <-free:
	case <-h.ctx.Done():
	}
	return n, err
}

// embed runs a manager in this process whose watch of pods can be held back.
func (w *world) embed(t *testing.T) *holding {
	t.Helper()
	config, err := clientcmd.BuildConfigFromFlags("", w.Kubeconfig())
	if err != nil {
		t.Fatal(err)
	}
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	h := &holding{patches: map[string]int{}}
	h.hold()()
	config.Wrap(func(next http.RoundTripper) http.RoundTripper { h.next = next; return h })
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		t.Fatal(err)
	}
	m, err := taintmanager.New(client, nil, taintmanager.Options{Logger: testr.New(t)})
	if err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancel(context.Background())
	var running sync.WaitGroup
	running.Go(func() { _ = m.Run(ctx) })
	running.Go(func() { _ = m.Lead(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	if err := wait.PollUntilContextCancel(t.Context(), 10*time.Millisecond, true, func(context.Context) (bool, error) { return m.HasSynced(), nil }); err != nil {
		t.Fatal(err)
	}
	return h
}

// A toleration is edited while the watch of pods hangs: the answer to the PATCH shows it.
func TestAnEditThatTheWatchHasNotShownKeepsThePod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.since(t, 33, "generation of pods")
	s := w.scene(t)
	h := w.embed(t)
	grace := func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(30)) }
	at := s.pod("at-once")
	slow := s.podWith("graceful", grace)
	other := s.pod("not-edited")
	s.wait(2 * time.Second) // the manager has seen it then
	release := h.hold()
	defer release()
	for _, p := range []*v1.Pod{at, slow} {
		s.add(p, exists("key"))
	}
	tainted := s.taint("key")
	s.goes(other, tainted, 0)
	s.stays(at, tainted, 8)
	s.stays(slow, tainted, 8)
	for _, p := range []*v1.Pod{at, slow} {
		h.mu.Lock()
		if n := h.patches["/api/v1/namespaces/default/pods/"+p.Name+"/status"]; n != 1 {
			t.Errorf("%s: the condition was patched %d times, want once", p.Name, n)
		}
		h.mu.Unlock()
	}
	release()
	s.event(at, "Cancelling deletion")
	s.event(slow, "Cancelling deletion")
}

// add adds a toleration to a pod.
func (s *scene) add(pod *v1.Pod, toleration v1.Toleration) {
	s.Helper()
	s.until("the toleration is added", func() bool {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.Name, metav1.GetOptions{})
		if err != nil {
			return false
		}
		now.Spec.Tolerations = append(now.Spec.Tolerations, toleration)
		_, err = s.admin.CoreV1().Pods("default").Update(s.Context(), now, metav1.UpdateOptions{})
		return err == nil
	})
}

// The beginning of a deletion counts as an edit in the answer to a dry run, although the dry run edits nothing.
func TestADryRunOfADeletionIsNoEdit(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.since(t, 33, "generation of pods")
	s := w.scene(t)
	api := evict.NewAPI(w.admin, evict.APIOptions{Method: policy.Delete, Leading: func() bool { return true }})
	for name, seconds := range map[string]int64{"at-once": 0, "graceful": 30} {
		p := s.podWith(name, func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = &seconds })
		if p.Generation != 1 {
			t.Errorf("%s: generation %d", name, p.Generation)
		}
		pod := cluster.PodOf(p, time.Now())
		o := api.Evict(t.Context(), eviction.Request{Pod: &pod, Verdict: taint.Verdict{Node: s.node}, AfterRefusal: true})
		if o.Kind != eviction.Accepted {
			t.Errorf("%s: got %+v", name, o)
		}
	}
}
