package cli

import (
	"bufio"
	"context"
	"net"
	"time"
)

// dialCalls dials as client-go would do it, for a connection that carries many small requests at once.
func dialCalls(ctx context.Context, network, address string) (net.Conn, error) {
	dialer := net.Dialer{Timeout: dialTimeout, KeepAlive: 30 * time.Second}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return newCallConn(conn), nil
}

// callConn is a connection that reads ahead, and sends together what several requests write.
type callConn struct {
	net.Conn
	ahead *bufio.Reader
	out   *gatherer
}

func newCallConn(conn net.Conn) callConn {
	return callConn{conn, bufio.NewReaderSize(lightly(conn), ahead), newGatherer(conn)}
}

func (c callConn) Read(b []byte) (int, error)  { return c.ahead.Read(b) }
func (c callConn) Write(b []byte) (int, error) { return c.out.Write(b) }
