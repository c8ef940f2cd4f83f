//go:build !linux

package transport

import (
	"io"
	"net"
	"syscall"
)

// unanswered leaves it to the system how long what was sent may stay without an answer.
func unanswered(_, _ string, _ syscall.RawConn) error { return nil }

// newRawReader returns the connection itself.
func newRawReader(conn net.Conn) io.Reader { return conn }
