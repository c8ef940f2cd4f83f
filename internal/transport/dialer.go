package transport

import (
	"net"
	"time"
)

const (
	// dialTimeout bounds how long it takes to establish a connection.
	dialTimeout = 30 * time.Second

	// lostAfter is the time without a packet from the peer's machine after which an idle connection counts as dead.
	lostAfter = 45 * time.Second
)

// newDialer returns a dialer whose connections let the kernel probe whether the peer's machine is still there.
func newDialer() *net.Dialer {
	return &net.Dialer{
		Timeout: dialTimeout,
		KeepAliveConfig: net.KeepAliveConfig{
			Enable: true, Idle: lostAfter / 3, Interval: lostAfter / 9, Count: 6,
		},
	}
}
