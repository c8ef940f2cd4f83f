package transport

import (
	"bufio"
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/config"
)

const (
	// dialTimeout bounds how long it takes to establish a connection.
	dialTimeout = 30 * time.Second

	// lostAfter is the time without a packet from the peer's machine after which a connection counts as dead.
	lostAfter = 45 * time.Second

	// quiet is the time without data after which the server of a watch counts as hanging. The API server sends a
	// bookmark every minute.
	quiet = 150 * time.Second
)

// watchConfig returns the configuration for the watches of pods and nodes. They have their own connections and use
// HTTP/1.1: a one-way stream does not benefit from HTTP/2, which takes more steps for each event, here and in the API
// server, and answers each event with a packet.
func watchConfig(base *rest.Config, c config.Configuration, userAgent string) *rest.Config {
	made := commonConfig(base, c, userAgent)
	made.NextProtos = []string{"http/1.1"}
	if made.Dial == nil {
		made.Dial = dialWatch
	}
	return made
}

// dialWatch returns a connection that detects what HTTP/2 would detect with its pings: the kernel's probes detect that
// the peer's machine is gone, and silence shows that the server hangs.
func dialWatch(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{
		Timeout: dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: lostAfter / 3, Interval: lostAfter / 9, Count: 6,
		},
		Control: unanswered,
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newWatchConn(conn), nil
}

// watchConn is a connection that reads ahead, because TLS reads each record in two pieces, and that fails if nothing
// arrives for too long.
type watchConn struct {
	net.Conn
	ahead *bufio.Reader
}

// ahead is how much is read at once: several events or responses, if available.
const ahead = 32 << 10

func newWatchConn(conn net.Conn) watchConn {
	return watchConn{conn, bufio.NewReaderSize(newRawReader(conn), ahead)}
}

func (c watchConn) Read(b []byte) (int, error) {
	if c.ahead.Buffered() == 0 {
		if err := c.SetReadDeadline(time.Now().Add(quiet)); err != nil {
			return 0, err
		}
	}
	return c.ahead.Read(b)
}
