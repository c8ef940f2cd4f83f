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

func TestANewConnectionClosesTheOldestIdleOneOfTheClientWithTheMost(t *testing.T) {
	for name, test := range map[string]struct {
		accepted []string // the last one finds no room
		requests []string // begin after the others are accepted
		ended    []string // of them
		want     string
	}{
		"the oldest":                             {[]string{"a:1", "a:2", "a:3", "a:4"}, nil, nil, "a:1"},
		"not one with a request under way":       {[]string{"a:1", "a:2", "a:3", "a:4"}, []string{"a:1"}, nil, "a:2"},
		"the one whose request ended first":      {[]string{"a:1", "a:2", "a:3", "a:4"}, []string{"a:1", "a:3", "a:2"}, []string{"a:3", "a:1", "a:2"}, "a:3"},
		"the oldest if all are busy":             {[]string{"a:1", "a:2", "a:3", "a:4"}, []string{"a:2", "a:1", "a:3"}, nil, "a:2"},
		"of the client with the most":            {[]string{"kubelet:1", "a:1", "a:2", "b:1"}, nil, nil, "a:1"},
		"of that client even if all it has work": {[]string{"kubelet:1", "a:1", "a:2", "b:1"}, []string{"a:1", "a:2"}, nil, "a:1"},
		"its own":                                {[]string{"kubelet:1", "a:1", "a:2", "a:3"}, nil, nil, "a:1"},
		"of IPv6":                                {[]string{"[::1]:1", "[::2]:1", "[::2]:2", "[::3]:1"}, nil, nil, "[::2]:1"},
	} {
		var closed []string
		l := newBoundedListener(&queue{remotes: test.accepted, closed: &closed}, len(test.accepted)-1)
		for i := range test.accepted {
			if i == l.most {
				for _, remote := range test.requests {
					l.count(remote, 1)
				}
				for _, remote := range test.ended {
					l.count(remote, -1)
				}
			}
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
	l := newBoundedListener(&queue{remotes: []string{"a:1", "a:2", "a:1", "a:3"}, closed: &closed}, 2)
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
	if got := strings.Join(closed, " "); got != "a:1 a:1 a:2" || len(l.open) != 2 || l.hosts["a"] != 2 {
		t.Errorf("closed %s, and %d of %v are open; want a:2 closed last, and 2 open", got, len(l.open), l.hosts)
	}
}
