package run

import (
	"net"
	"net/http"
	"sync"
)

// maxConnections is the number of connections to the secure port at once. Everybody who reaches the port may open
// some, and an idle one costs up to 100 kB.
const maxConnections = 100

// boundedListener keeps at most a number of connections open. A new connection makes room by closing another one: of
// the client address with the most connections, the oldest idle one, or the oldest one if all are busy. So a client
// that opens many closes its own, and the kubelet's probes get through.
type boundedListener struct {
	net.Listener
	most int

	mu    sync.Mutex
	open  map[string]*connection // by remote address and port
	hosts map[string]int         // connections by remote address
	turn  int                    // counts accepted connections and ends of requests
}

// connection is an open connection. The fields are the listener's.
type connection struct {
	net.Conn
	of       *boundedListener
	host     string
	since    int // turn at which it was accepted, or at which its last request ended
	requests int // under way
}

func newBoundedListener(l net.Listener, most int) *boundedListener {
	return &boundedListener{Listener: l, most: most, open: map[string]*connection{}, hosts: map[string]int{}}
}

// Accept returns the next connection, for which it has made room.
func (b *boundedListener) Accept() (net.Conn, error) {
	accepted, err := b.Listener.Accept()
	if err != nil {
		return nil, err
	}
	host, _, err := net.SplitHostPort(accepted.RemoteAddr().String())
	if err != nil {
		host = accepted.RemoteAddr().String()
	}
	c := &connection{Conn: accepted, of: b, host: host}
	if last := b.add(c); last != nil {
		_ = last.Close()
	}
	return c, nil
}

// add adds a connection, and returns the one that makes room; nil if there is room.
func (b *boundedListener) add(c *connection) (last *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= b.most {
		for _, other := range b.open {
			if last == nil || b.before(other, last) {
				last = other
			}
		}
	}
	b.turn++
	c.since = b.turn
	b.open[c.RemoteAddr().String()] = c
	b.hosts[c.host]++
	return last
}

// before reports whether a connection makes room before another one.
func (b *boundedListener) before(x, y *connection) bool {
	switch ofX, ofY := b.hosts[x.host], b.hosts[y.host]; {
	case ofX != ofY:
		return ofX > ofY
	case (x.requests == 0) != (y.requests == 0):
		return x.requests == 0
	}
	return x.since < y.since
}

// Close closes the connection, and makes room.
func (c *connection) Close() error {
	c.of.remove(c)
	return c.Conn.Close()
}

func (b *boundedListener) remove(c *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	name := c.RemoteAddr().String()
	if b.open[name] != c {
		return // it was closed before
	}
	delete(b.open, name)
	if b.hosts[c.host]--; b.hosts[c.host] == 0 {
		delete(b.hosts, c.host)
	}
}

// counts wraps a handler so that connections with a request under way are not idle.
func (b *boundedListener) counts(next http.Handler) http.Handler {
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		b.count(r.RemoteAddr, 1)
		defer b.count(r.RemoteAddr, -1)
		next.ServeHTTP(w, r)
	})
}

func (b *boundedListener) count(name string, requests int) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if c := b.open[name]; c != nil { // otherwise it has made room
		b.turn++
		c.since = b.turn
		c.requests += requests
	}
}
