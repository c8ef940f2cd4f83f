package cli

import (
	"context"
	"net"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/config"
)

// quiet is how long a watch may send nothing, to a tenth, before its connection counts as dead. The API
// server sends a bookmark every minute.
const quiet = 150 * time.Second

// watchConfig is for the watches of pods and nodes. They have connections of their own and speak HTTP/1.1:
// a stream that only flows one way gains nothing from HTTP/2, which wakes more threads for each event, here
// and in the API server, and answers each event with a packet.
func watchConfig(base *rest.Config, c config.Configuration, b build) *rest.Config {
	made := mainConfig(base, c, b)
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
		Timeout:         30 * time.Second,
		KeepAliveConfig: net.KeepAliveConfig{Enable: true, Idle: 15 * time.Second, Interval: 5 * time.Second, Count: 4},
	}
	conn, err := dialer.DialContext(ctx, network, address)
	if err != nil {
		return nil, err
	}
	return &impatient{Conn: conn}, nil
}

// impatient is a connection that fails when nothing comes for too long. One goroutine at a time may read.
type impatient struct {
	net.Conn
	until time.Time // the deadline that is set
}

// Read moves the deadline now and then only, as there is a Read for each event.
func (c *impatient) Read(b []byte) (int, error) {
	if now := time.Now(); c.until.Sub(now) < quiet*9/10 {
		c.until = now.Add(quiet)
		if err := c.SetReadDeadline(c.until); err != nil {
			return 0, err
		}
	}
	return c.Conn.Read(b)
}
