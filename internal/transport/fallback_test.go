package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/go-logr/logr/funcr"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
)

// way is a transport that responds with a status, or fails, and records its requests.
type way struct {
	name   string
	status int
	err    error
	asked  *[]string
}

func (w *way) RoundTrip(*http.Request) (*http.Response, error) {
	*w.asked = append(*w.asked, w.name)
	if w.err != nil {
		return nil, w.err
	}
	return &http.Response{StatusCode: w.status, Body: io.NopCloser(strings.NewReader(w.name))}, nil
}

func TestWatchesUseTheMainConnectionOnlyWhereTheFirstRequestShowsThatHTTP1IsNotTaken(t *testing.T) {
	dial := &net.OpError{Op: "dial", Err: errors.New("connection refused")}
	for name, test := range map[string]struct {
		own, main *way
		want      string // who responds; empty for an error
		asked     []string
		switched  bool
	}{
		"HTTP/1.1 is taken":            {&way{status: 200}, &way{status: 200}, "own", []string{"own", "own"}, false},
		"the handshake is refused":     {&way{err: tls.AlertError(120)}, &way{status: 200}, "main", []string{"own", "main", "main"}, true},
		"the connection is closed":     {&way{err: io.EOF}, &way{status: 200}, "main", []string{"own", "main", "main"}, true},
		"another version is asked for": {&way{status: 426}, &way{status: 200}, "main", []string{"own", "main", "main"}, true},
		"the version is not supported": {&way{status: 505}, &way{status: 200}, "main", []string{"own", "main", "main"}, true},
		"neither is taken":             {&way{err: io.EOF}, &way{err: io.EOF}, "", []string{"own", "main", "own", "main"}, false},
		"neither is granted":           {&way{status: 400}, &way{status: 503}, "own", []string{"own", "main", "own", "main"}, false},
		"nobody listens":               {&way{err: dial}, &way{status: 200}, "", []string{"own", "own"}, false},
		"the API server is starting":   {&way{status: 503}, &way{status: 200}, "own", []string{"own", "own"}, false},
		"this user may not watch":      {&way{status: 403}, &way{status: 200}, "own", []string{"own", "own"}, false},
	} {
		var asked, lines []string
		test.own.name, test.own.asked, test.main.name, test.main.asked = "own", &asked, "main", &asked
		transport := &fallback{own: test.own, main: test.main}
		for range 2 {
			answer, err := transport.RoundTrip(requestOf(t, &lines))
			if err == nil {
				body, _ := io.ReadAll(answer.Body)
				answer.Body.Close()
				if string(body) != test.want {
					t.Errorf("%s: answered by %q, want %q", name, body, test.want)
				}
			}
			if (err != nil) != (test.want == "") || err != nil && !errors.Is(err, test.own.err) {
				t.Errorf("%s: %v", name, err)
			}
		}
		if !slices.Equal(asked, test.asked) || (len(lines) == 1) != test.switched || len(lines) > 1 {
			t.Errorf("%s: asked %q, want %q; said %q", name, asked, test.asked, lines)
		}
	}
}

func requestOf(t *testing.T, lines *[]string) *http.Request {
	t.Helper()
	log := funcr.New(func(_, line string) { *lines = append(*lines, line) }, funcr.Options{})
	request, err := http.NewRequestWithContext(klog.NewContext(t.Context(), log), http.MethodGet, "https://a:1/", nil)
	must(t, err)
	return request
}

func TestWatchesThatWorkedOnceKeepTheirConnections(t *testing.T) {
	var asked, lines []string
	own, main := &way{name: "own", status: 200, asked: &asked}, &way{name: "main", status: 200, asked: &asked}
	transport := &fallback{own: own, main: main}
	for _, err := range []error{nil, io.EOF} {
		own.err = err
		if answer, failed := transport.RoundTrip(requestOf(t, &lines)); failed == nil {
			answer.Body.Close()
		}
	}
	if want := []string{"own", "own"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

func TestARequestThatIsGivenUpProvesNothing(t *testing.T) {
	var asked, lines []string
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	transport := &fallback{own: &way{name: "own", err: context.Canceled, asked: &asked}, main: &way{name: "main", status: 200, asked: &asked}}
	answer, err := transport.RoundTrip(requestOf(t, &lines).WithContext(ctx))
	if err == nil {
		answer.Body.Close()
	}
	if want := []string{"own"}; !slices.Equal(asked, want) {
		t.Errorf("asked %q, want %q", asked, want)
	}
}

// A load balancer that accepts only HTTP/2 rejects the handshake of the watches' own connections.
func TestWhereNothingButHTTP2IsTakenPodsAndNodesAreListedAllTheSame(t *testing.T) {
	var spoken sync.Map
	server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		spoken.Store(r.RemoteAddr, r.Proto)
		w.Header().Set("Content-Type", "application/json")
		kind := map[string]string{"/api/v1/pods": "PodList", "/api/v1/nodes": "NodeList"}[r.URL.Path]
		_, _ = io.WriteString(w, `{"kind": "`+kind+`", "apiVersion": "v1", "items": []}`)
	}))
	server.TLS = &tls.Config{NextProtos: []string{"h2"}}
	server.Config.Protocols = new(http.Protocols)
	server.Config.Protocols.SetHTTP2(true)
	server.Config.ErrorLog = nil
	server.EnableHTTP2 = true
	server.StartTLS()
	defer server.Close()
	base := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}}
	to, err := New(base, config.Default(), "")
	must(t, err)
	var lines []string
	var mu sync.Mutex
	log := funcr.New(func(_, line string) { mu.Lock(); defer mu.Unlock(); lines = append(lines, line) }, funcr.Options{})
	ctx := klog.NewContext(t.Context(), log)
	_, err = to.Main.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
	must(t, err)
	var both sync.WaitGroup
	both.Go(func() {
		_, err := to.Watch.CoreV1().Nodes().List(ctx, metav1.ListOptions{})
		must(t, err)
	})
	both.Go(func() {
		_, err := to.Watch.CoreV1().Pods("").List(ctx, metav1.ListOptions{})
		must(t, err)
	})
	both.Wait()
	connections := 0
	spoken.Range(func(_, protocol any) bool {
		connections++
		return protocol == "HTTP/2.0"
	})
	if connections != 1 || len(lines) != 1 || !strings.Contains(lines[0], "HTTP/2") {
		t.Errorf("%d connections, want the main one alone; said %q", connections, lines)
	}
}
