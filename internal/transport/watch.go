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
	// dialTimeout is how long it may take until there is a connection.
	dialTimeout = 30 * time.Second

	// lostAfter is after how long without a sign of the peer's machine a connection counts as dead.
	lostAfter = 45 * time.Second

	// quiet is how long a watch may send nothing before its server counts as hanging. The API server sends
	// a bookmark every minute.
	quiet = 150 * time.Second
)

// watchConfig is for the watches of pods and nodes. They have connections of their own and speak HTTP/1.1:
// a stream that only flows one way gains nothing from HTTP/2, which takes more steps for each event, here
// and in the API server, and answers each event with a packet.
func watchConfig(base *rest.Config, c config.Configuration, userAgent string) *rest.Config {
	made := commonConfig(base, c, userAgent)
	made.NextProtos = []string{"http/1.1"}
	if made.Dial == nil {
		made.Dial = dialWatch
	}
	return made
}

// dialWatch notices what HTTP/2 would notice by its pings: by the kernel's probes that the machine is gone,
// and by the silence that the server hangs.
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

// watchConn is a connection that reads ahead, as TLS asks for each record in two pieces, and that fails when
// nothing comes for too long.
type watchConn struct {
	net.Conn
	ahead *bufio.Reader
}

// ahead is how much is read at once: several events or answers, if there are.
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
