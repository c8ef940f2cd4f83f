package transport

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/internal/config"
)

func TestCallsWatchesAndTheLeaseEachHaveAnHTTP2ConnectionOfTheirOwn(t *testing.T) {
	for name, dial := range map[string]func(ctx context.Context, network, address string) (net.Conn, error){
		"with client-go's dialer":            nil,
		"with a dialer of the configuration": (&net.Dialer{}).DialContext,
	} {
		t.Run(name, func(t *testing.T) {
			var from sync.Map
			server := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
				from.Store(r.RemoteAddr, r.Proto)
				answerNodes(w)
			}))
			server.EnableHTTP2 = true
			server.StartTLS()
			defer server.Close()
			base := &rest.Config{Host: server.URL, TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Dial: dial}
			clients, err := New(base, config.Default(), "")
			must(t, err)
			for range 2 {
				for _, client := range []kubernetes.Interface{clients.Main, clients.Watch, clients.Lease} {
					_, err := client.CoreV1().Nodes().List(t.Context(), metav1.ListOptions{})
					must(t, err)
				}
			}
			connections := 0
			from.Range(func(_, protocol any) bool {
				connections++
				if protocol != "HTTP/2.0" {
					t.Errorf("a connection speaks %s", protocol)
				}
				return true
			})
			if connections != 3 {
				t.Errorf("got %d connections, want 3", connections)
			}
		})
	}
}

func TestAWatchWhoseServerFallsSilentEndsWithinAMinute(t *testing.T) {
	certificate := newCertificate()
	for name, test := range map[string]struct {
		silent bool
		ends   bool
	}{
		"a server that hangs":              {true, true},
		"a server that has nothing to say": {false, false},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := serve(t, certificate)
				shown, err := world.clients.Watch.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
				must(t, err)
				if event := <-shown.ResultChan(); event.Type != watch.Added {
					t.Fatalf("got %v", event)
				}
				began := time.Now()
				world.silent.Store(test.silent)
				ended := false
				select {
				case event := <-shown.ResultChan(): // an error, or closed
					ended = event.Type == watch.Error || event.Type == ""
				case <-time.After(time.Hour):
				}
				if took := time.Since(began); ended != test.ends || ended && took > time.Minute {
					t.Errorf("the watch has ended: %v, after %v", ended, took)
				}
				shown.Stop()
			})
		})
	}
}

func TestAConnectionThatBreaksAtTheStartChangesNothingForTheNext(t *testing.T) {
	certificate := newCertificate()
	for name, failure := range map[string]func(net.Conn) (net.Conn, error){
		"it ends in the handshake": func(c net.Conn) (net.Conn, error) { return broken{c, io.EOF}, nil },
		"it is reset": func(c net.Conn) (net.Conn, error) {
			return broken{c, errors.New("read: connection reset by peer")}, nil
		},
		"it is refused": func(net.Conn) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Err: errors.New("connection refused")}
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				world := serve(t, certificate)
				world.failure.Store(&failure)
				failed, err := world.clients.Watch.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
				if err == nil {
					if event, open := <-failed.ResultChan(); open {
						t.Fatalf("got %v through a broken connection", event)
					}
				}
				world.failure.Store(nil)
				for range 2 {
					shown, err := world.clients.Watch.CoreV1().Nodes().Watch(t.Context(), metav1.ListOptions{})
					must(t, err)
					if event := <-shown.ResultChan(); event.Type != watch.Added {
						t.Errorf("got %v", event)
					}
					shown.Stop()
				}
				synctest.Wait()
				if protocols := world.protocols(); len(protocols) != 1 || protocols[0] != "HTTP/2.0" {
					t.Errorf("got watches over the connections %v, want one by HTTP/2.0", protocols)
				}
			})
		})
	}
}

// world is an API server in virtual time, and its clients.
type world struct {
	clients Clients
	silent  atomic.Bool                                      // the server sends nothing, and answers no pings
	failure atomic.Pointer[func(net.Conn) (net.Conn, error)] // of the next connections

	accepting chan net.Conn
	mu        sync.Mutex
	spoken    map[any]string // by connection
}

// serve starts an API server in the bubble, whose watches show one node and stay open.
func serve(t *testing.T, certificate tls.Certificate) *world {
	t.Helper()
	w := &world{accepting: make(chan net.Conn), spoken: map[any]string{}}
	server := &http.Server{
		Handler:     http.HandlerFunc(w.watch),
		TLSConfig:   &tls.Config{Certificates: []tls.Certificate{certificate}},
		ConnContext: func(ctx context.Context, c net.Conn) context.Context { return context.WithValue(ctx, connection{}, c) },
	}
	listener := &listener{w: w, closed: make(chan struct{})}
	go func() { _ = server.ServeTLS(listener, "", "") }()
	t.Cleanup(func() { must(t, server.Close()); synctest.Wait() })
	base := &rest.Config{Host: "https://server", TLSClientConfig: rest.TLSClientConfig{Insecure: true}, Dial: w.dial}
	c := config.Default()
	c.ClientConnection.ContentType = config.ContentTypeJSON
	var err error
	w.clients, err = New(base, c, "")
	must(t, err)
	return w
}

func (w *world) watch(answer http.ResponseWriter, r *http.Request) {
	w.mu.Lock()
	w.spoken[r.Context().Value(connection{})] = r.Proto
	w.mu.Unlock()
	answer.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = io.WriteString(answer, `{"type": "ADDED", "object": {"kind": "Node", "apiVersion": "v1", "metadata": {"name": "n"}}}`)
	_ = http.NewResponseController(answer).Flush()
	<-r.Context().Done()
}

func (w *world) protocols() (list []string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, protocol := range w.spoken {
		list = append(list, protocol)
	}
	return list
}

func (w *world) dial(ctx context.Context, _, _ string) (net.Conn, error) {
	here, there := net.Pipe()
	if failure := w.failure.Load(); failure != nil {
		return (*failure)(here)
	}
	select {
	case w.accepting <- muted{there, w}:
		return here, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// connection is the key of a request's connection in its context.
type connection struct{}

// muted is a connection over which a silent server sends nothing.
type muted struct {
	net.Conn
	w *world
}

func (m muted) Write(b []byte) (int, error) {
	if m.w.silent.Load() {
		return len(b), nil
	}
	return m.Conn.Write(b)
}

// broken is a connection that takes everything and fails to answer.
type broken struct {
	net.Conn
	err error
}

func (b broken) Read([]byte) (int, error)    { return 0, b.err }
func (b broken) Write(p []byte) (int, error) { return len(p), nil }

// listener accepts what the clients dial.
type listener struct {
	w      *world
	once   sync.Once
	closed chan struct{}
}

func (l *listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.w.accepting:
		return conn, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *listener) Close() error {
	l.once.Do(func() { close(l.closed) })
	return nil
}

func (l *listener) Addr() net.Addr { return &net.TCPAddr{} }

// newCertificate returns the certificate of a server for tests.
func newCertificate() tls.Certificate {
	server := httptest.NewTLSServer(http.NotFoundHandler())
	defer server.Close()
	return server.TLS.Certificates[0]
}

func answerNodes(w http.ResponseWriter) {
	w.Header().Set("Content-Type", runtime.ContentTypeJSON)
	_, _ = io.WriteString(w, `{"kind": "NodeList", "apiVersion": "v1", "items": []}`)
}
