package run

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	appsv1 "k8s.io/api/apps/v1"
	coordinationv1 "k8s.io/api/coordination/v1"
	"k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/internal/transport"
)

// death is what an API server does with requests once it is dead.
type death int

const (
	refusing death = iota // it refuses connections
	silent                // it takes requests, and answers none
	readOnly              // it answers no writes
)

// doomed is an API server in memory that dies. Its deletions of pods hang from the beginning.
type doomed struct {
	dies time.Time
	then death

	mu    sync.Mutex
	lease []byte
	calls map[string]int // that were not answered, by method and resource
}

// RoundTrip implements http.RoundTripper.
func (d *doomed) RoundTrip(r *http.Request) (*http.Response, error) {
	resource := r.URL.Path[strings.LastIndex(r.URL.Path, "/")+1:]
	dead := !time.Now().Before(d.dies) && (d.then != readOnly || r.Method != http.MethodGet)
	switch {
	case dead && d.then == refusing:
		return nil, syscall.ECONNREFUSED
	case dead || r.Method == http.MethodDelete:
		d.mu.Lock()
		d.calls[r.Method+" "+resource]++
		d.mu.Unlock()
		<-r.Context().Done()
		return nil, r.Context().Err()
	case r.URL.Query().Get("sendInitialEvents") != "":
		return respond(http.StatusUnprocessableEntity, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 422, "reason": "Invalid"}`), nil
	case r.URL.Query().Get("watch") != "":
		return d.watch(r), nil
	case resource == "leases", resource == "taint-manager":
		return d.serveLease(r), nil
	case r.Method != http.MethodGet:
		return &http.Response{StatusCode: http.StatusOK, Header: http.Header{"Content-Type": {"application/json"}}, Body: r.Body}, nil
	}
	return respond(http.StatusOK, contentOf(resource)), nil
}

func respond(code int, body string) *http.Response {
	return &http.Response{StatusCode: code, Header: http.Header{"Content-Type": {"application/json"}}, Body: io.NopCloser(strings.NewReader(body))}
}

// watch returns a watch on which nothing happens. It breaks when a server dies that refuses connections.
func (d *doomed) watch(r *http.Request) *http.Response {
	body, w := io.Pipe()
	ctx, cancel := r.Context(), func() {}
	if d.then == refusing {
		ctx, cancel = context.WithDeadline(ctx, d.dies)
	}
	context.AfterFunc(ctx, func() { cancel(); _ = w.CloseWithError(io.ErrUnexpectedEOF) })
	response := respond(http.StatusOK, "")
	response.Body = body
	return response
}

// contentOf returns a tainted node, or a list with it, or a list of pods that go one after another.
func contentOf(resource string) string {
	const node = `{"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n1", "uid": "n1", "resourceVersion": "1"}, "spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}}`
	const pod = `{"metadata": {"name": "pod-%d-%d", "namespace": "default", "uid": "%[1]d-%[2]d"}, "spec": {"nodeName": "n1", "tolerations": [{"operator": "Exists", "tolerationSeconds": %[1]d}]}}`
	kind, items := "ConfigMap", []string(nil)
	switch resource {
	case "n1":
		return node
	case "nodes":
		kind, items = "Node", []string{node}
	case "pods":
		kind = "Pod"
		for i := range 60 {
			items = append(items, fmt.Sprintf(pod, 42+i/3, i))
		}
	}
	return fmt.Sprintf(`{"kind": "%sList", "apiVersion": "v1", "metadata": {"resourceVersion": "1"}, "items": [%s]}`, kind, strings.Join(items, ","))
}

func (d *doomed) serveLease(r *http.Request) *http.Response {
	d.mu.Lock()
	defer d.mu.Unlock()
	if r.Method != http.MethodGet {
		var written coordinationv1.Lease
		body, _ := io.ReadAll(r.Body)
		_, _, _ = scheme.Codecs.UniversalDeserializer().Decode(body, nil, &written)
		written.Kind, written.APIVersion = "Lease", "coordination.k8s.io/v1"
		d.lease, _ = json.Marshal(&written)
	}
	if d.lease == nil {
		return respond(http.StatusNotFound, `{"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 404, "reason": "NotFound"}`)
	}
	return respond(http.StatusOK, string(d.lease))
}

// afterRun is how long the servers of the page and of metrics may take after all else has ended, and a margin.
const afterRun = closeTimeout + time.Second + time.Second

// gracePeriod returns the shortest grace period of the manifests.
func gracePeriod(t *testing.T) time.Duration {
	shortest := time.Duration(1<<63 - 1)
	for _, file := range rendered(t) {
		var d appsv1.Deployment
		decodeKind(t, file, "Deployment", &d)
		seconds := int64(30) // Kubernetes' default
		if given := d.Spec.Template.Spec.TerminationGracePeriodSeconds; given != nil {
			seconds = *given
		}
		shortest = min(shortest, time.Duration(seconds)*time.Second)
	}
	return shortest
}

func TestAProcessWhoseAPIServerIsDeadEndsWithinTheGracePeriod(t *testing.T) {
	atMost := gracePeriod(t) - afterRun
	for name, then := range map[string]death{"it refuses connections": refusing, "it is silent": silent, "it is silent to writes": readOnly} {
		t.Run(name, func(t *testing.T) {
			worst, when := time.Duration(0), ""
			for _, signal := range []time.Duration{45 * time.Second, 53 * time.Second} { // calls are under way, and the journal is written at 60 s
				for dies := signal - 5900*time.Millisecond; dies < signal+16*time.Second; dies += 3 * time.Second {
					api := &doomed{then: then, calls: map[string]int{}}
					took := api.run(t, dies, signal)
					if took > worst {
						worst, when = took, fmt.Sprintf("signal after %v, death %v later, unanswered are %v", signal, dies-signal, api.calls)
					}
				}
			}
			t.Logf("it takes %v at most: %s", worst, when)
			if worst > atMost {
				t.Errorf("it may take %v", atMost)
			}
		})
	}
}

// run runs a process until the signal, and returns how long it goes on.
func (d *doomed) run(t *testing.T, dies, signal time.Duration) (took time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		d.dies = time.Now().Add(dies)
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		defer cancel()
		p := d.process(t, newSettings())
		ended := make(chan error, 1)
		go func() { ended <- p.run(ctx) }()
		time.Sleep(signal)
		cancel()
		began := time.Now()
		must(t, <-ended)
		took = time.Since(began)
	})
	return took
}

// process returns a process with these settings that serves nothing.
func (d *doomed) process(t *testing.T, s *settings) *process {
	s.serving.BindPort, s.StatusAddress = 0, ""
	to, err := transport.New(&rest.Config{Host: "http://api", Transport: d}, s.Configuration, "test")
	must(t, err)
	p := &process{settings: s, clock: skew.New()}
	must(t, p.assemble(to, prometheus.NewRegistry()))
	return p
}

func TestAStartThatWaitsForADeadAPIServerEndsAtOnce(t *testing.T) {
	asked, ended := make(chan struct{}, 10), make(chan struct{})
	api := httptest.NewServer(http.HandlerFunc(func(http.ResponseWriter, *http.Request) { asked <- struct{}{}; <-ended }))
	t.Cleanup(api.Close)
	t.Cleanup(func() { close(ended) })
	s := newSettings()
	s.ClientConnection.Kubeconfig = kubeconfigOf(t, api.URL)
	must(t, s.complete())
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	s.serving.Listener = listener
	ctx, cancel := context.WithCancel(t.Context())
	go func() { <-asked; cancel() }()
	if _, err := s.listen(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}
