package cli

import (
	"net"
	"sync"
)

// mostWaiting is how much may wait to be sent before writers have to wait.
const mostWaiting = 64 << 10

// gatherer sends together what is written in quick succession: HTTP/2 writes a request in two pieces, and
// TLS sends each by itself, which costs both ends a system call and a packet more.
//
// Write returns before its bytes are sent. When sending fails, the connection is closed, so that those who
// wait for an answer learn of it, and later Writes return the failure. It is safe for concurrent use.
type gatherer struct {
	conn net.Conn

	mu      sync.Mutex
	sent    sync.Cond // something was sent, or that has failed
	waiting []byte
	spare   []byte // was sent, and is free for what is written next
	sending bool
	failed  error
}

func newGatherer(conn net.Conn) *gatherer {
	g := &gatherer{conn: conn}
	g.sent.L = &g.mu
	return g
}

// Write takes the bytes; the goroutine that sends them gets its turn when the writer has nothing more to do.
func (g *gatherer) Write(b []byte) (int, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) >= mostWaiting && g.failed == nil {
		g.sent.Wait()
	}
	if g.failed != nil {
		return 0, g.failed
	}
	g.waiting = append(g.waiting, b...)
	if !g.sending {
		g.sending = true
		go g.send()
	}
	return len(b), nil
}

// send sends until nothing waits.
func (g *gatherer) send() {
	g.mu.Lock()
	defer g.mu.Unlock()
	for len(g.waiting) > 0 && g.failed == nil {
		g.sendAll()
		g.sent.Broadcast()
	}
	g.sending = false
}

// sendAll sends all that waits by now. It lets go of the lock meanwhile.
func (g *gatherer) sendAll() {
	out := g.waiting
	g.waiting = g.spare[:0]
	g.mu.Unlock()
	_, err := g.conn.Write(out)
	g.mu.Lock()
	g.spare = out
	if err != nil {
		g.failed = err
		_ = g.conn.Close() // what counts is why sending failed
	}
}
