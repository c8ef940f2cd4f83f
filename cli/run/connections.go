package run

import (
	"net"
	"net/http"
	"slices"
	"sync"
)

const (
	// maxConnections is the number of connections to the secure port at once. Everybody who reaches the port may open
	// some, and an idle one costs up to 100 kB.
	maxConnections = 100

	// maxHeaderBytes is the size of the headers of a request to the secure port. A token of a service account has 2 kB
	// at most. The API server is asked about each token, so a stranger's long token costs both processes.
	maxHeaderBytes = 16 << 10
)

// boundedListener keeps at most a number of connections open. A new connection makes room by closing the oldest one of
// the client address with the most. So a client that opens many closes its own, and the kubelet's probes get through.
type boundedListener struct {
	net.Listener
	most int

	mu   sync.Mutex
	open []*connection // the oldest first
}

// connection is an open connection.
type connection struct {
	net.Conn
	of   *boundedListener
	host string
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

// add adds a connection, and returns the connection that makes room; nil if there is room.
func (b *boundedListener) add(c *connection) (last *connection) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if len(b.open) >= b.most {
		hosts := map[string]int{}
		for _, other := range b.open {
			hosts[other.host]++
		}
		for _, other := range b.open {
			if last == nil || hosts[other.host] > hosts[last.host] {
				last = other
			}
		}
	}
	b.open = append(b.open, c)
	return last
}

// Close closes the connection, and makes room.
func (c *connection) Close() error {
	c.of.mu.Lock()
	c.of.open = slices.DeleteFunc(c.of.open, func(other *connection) bool { return other == c })
	c.of.mu.Unlock()
	return c.Conn.Close()
}

// boundHeaders refuses requests with headers of more than maxHeaderBytes before they reach the next handler.
func boundHeaders(next http.Handler) http.Handler {
	return http.HandlerFunc(func(answer http.ResponseWriter, r *http.Request) {
		size := 0
		for name, values := range r.Header {
			for _, value := range values {
				size += len(name) + len(value)
			}
		}
		if size > maxHeaderBytes {
			http.Error(answer, "the headers have more than 16 KiB", http.StatusRequestHeaderFieldsTooLarge)
			return
		}
		next.ServeHTTP(answer, r)
	})
}
