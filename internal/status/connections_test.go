package status_test

import (
	"context"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/internal/status"
)

// pipes is a listener in memory.
type pipes struct {
	dialed   chan net.Conn
	closed   chan struct{}
	accepted atomic.Int32
}

func (p *pipes) Accept() (net.Conn, error) {
	select {
	case conn := <-p.dialed:
		p.accepted.Add(1)
		return conn, nil
	case <-p.closed:
		return nil, net.ErrClosed
	}
}

func (p *pipes) Close() error   { close(p.closed); return nil }
func (p *pipes) Addr() net.Addr { return &net.TCPAddr{} }

// dial returns a connection that is accepted some time.
func (p *pipes) dial(t *testing.T) net.Conn {
	here, there := net.Pipe()
	go func() {
		select {
		case p.dialed <- there:
		case <-p.closed:
			_ = there.Close()
		}
	}()
	t.Cleanup(func() { _ = here.Close() })
	return here
}

// served runs a test over a server that serves.
func served(t *testing.T, s *status.Server, test func(p *pipes)) {
	p := &pipes{dialed: make(chan net.Conn), closed: make(chan struct{})}
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- s.Serve(ctx, p) }()
	test(p)
	cancel()
	must(t, <-ended)
}

func TestAConnectionThatSendsNoWholeRequestIsClosedSoon(t *testing.T) {
	const head = "GET /api/v1/nodes HTTP/1.1\r\nHost: localhost\r\n"
	for name, test := range map[string]struct {
		sends string
		after time.Duration
	}{
		"nothing":                    {"", 5 * time.Second},
		"the beginning of a request": {head, 5 * time.Second},
		"a request, then nothing":    {head + "\r\n", 30 * time.Second},
		"a request without its body": {head + "Content-Length: 1000\r\n\r\n", 0},
		"a body without an end":      {head + "Transfer-Encoding: chunked\r\n\r\n1\r\nx", 0},
		"another method's body":      {strings.Replace(head, "GET", "POST", 1) + "Content-Length: 1000\r\n\r\n", 0},
	} {
		synctest.Test(t, func(t *testing.T) {
			served(t, (&world{}).server(), func(p *pipes) {
				conn := p.dial(t)
				began := time.Now()
				go func() { _, _ = io.WriteString(conn, test.sends) }()
				over := time.AfterFunc(time.Hour, func() { _ = conn.Close() })
				defer over.Stop()
				_, _ = io.Copy(io.Discard, conn)
				if took := time.Since(began).Round(time.Second); took != test.after {
					t.Errorf("%s: closed after %s, want %s", name, took, test.after)
				}
			})
		})
	}
}

func TestARequestWithABodyIsRefused(t *testing.T) {
	s := (&world{}).server()
	for name, edit := range map[string]func(*http.Request){
		"of a known length":    func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), 1 },
		"of an unknown length": func(r *http.Request) { r.Body, r.ContentLength = io.NopCloser(strings.NewReader("x")), -1 },
	} {
		w := ask(s, "/api/v1/nodes", edit)
		if w.Code != http.StatusRequestEntityTooLarge || !strings.Contains(w.Body.String(), "a request body is not allowed; use GET without a body") || w.Header().Get("Connection") != "close" {
			t.Errorf("%s: %d %s", name, w.Code, w.Body)
		}
	}
}

func TestSixtyFourConnectionsAreServedAndOthersWaitForTheirTurn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		served(t, (&world{}).server(), func(p *pipes) {
			for range 100 {
				p.dial(t)
			}
			synctest.Wait()
			if n := p.accepted.Load(); n != 64 {
				t.Errorf("%d are served at once", n)
			}
			time.Sleep(6 * time.Second) // those that send nothing are closed
			if n := p.accepted.Load(); n != 100 {
				t.Errorf("%d have had their turn", n)
			}
		})
	})
}
