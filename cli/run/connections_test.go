package run

import (
	"net"
	"strings"
	"testing"
)

// meets is a connection whose remote address is chosen, and that says when it is closed.
type meets struct {
	net.Conn
	remote string
	closed *[]string
}

func (m meets) RemoteAddr() net.Addr { return named(m.remote) }
func (m meets) Close() error         { *m.closed = append(*m.closed, m.remote); return nil }

type named string

func (named) Network() string  { return "tcp" }
func (n named) String() string { return string(n) }

// queue is a listener that accepts connections from these addresses.
type queue struct {
	net.Listener
	remotes []string
	closed  *[]string
}

func (q *queue) Accept() (net.Conn, error) {
	next := q.remotes[0]
	q.remotes = q.remotes[1:]
	return meets{remote: next, closed: q.closed}, nil
}

func TestANewConnectionClosesTheOldestOneOfTheClientWithTheMost(t *testing.T) {
	for name, test := range map[string]struct {
		accepted []string // the last one finds no room
		want     string
	}{
		"the oldest":              {[]string{"a:1", "a:2", "a:3", "a:4"}, "a:1"},
		"of the client with most": {[]string{"kubelet:1", "a:1", "a:2", "b:1"}, "a:1"},
		"its own":                 {[]string{"kubelet:1", "a:1", "a:2", "a:3"}, "a:1"},
		"of IPv6":                 {[]string{"[::1]:1", "[::2]:1", "[::2]:2", "[::3]:1"}, "[::2]:1"},
	} {
		var closed []string
		l := &boundedListener{Listener: &queue{remotes: test.accepted, closed: &closed}, most: len(test.accepted) - 1}
		for range test.accepted {
			if _, err := l.Accept(); err != nil {
				t.Fatal(err)
			}
		}
		if len(closed) != 1 || closed[0] != test.want {
			t.Errorf("%s: closed %q, want %s", name, closed, test.want)
		}
	}
}

func TestAConnectionThatIsClosedMakesRoomOnce(t *testing.T) {
	var closed []string
	l := &boundedListener{Listener: &queue{remotes: []string{"a:1", "a:2", "a:1", "a:3"}, closed: &closed}, most: 2}
	first, err := l.Accept()
	must(t, err)
	_, err = l.Accept()
	must(t, err)
	must(t, first.Close())
	_, err = l.Accept() // from the same address and port
	must(t, err)
	must(t, first.Close())
	_, err = l.Accept()
	must(t, err)
	if got := strings.Join(closed, " "); got != "a:1 a:1 a:2" || len(l.open) != 2 {
		t.Errorf("closed %s, and %d are open; want a:2 closed last, and 2 open", got, len(l.open))
	}
}
