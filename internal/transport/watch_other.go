//go:build !linux

package transport

import (
	"io"
	"net"
	"syscall"
)

// unanswered leaves the bound to the operating system.
func unanswered(_, _ string, _ syscall.RawConn) error { return nil }

// newRawReader returns the connection itself.
func newRawReader(conn net.Conn) io.Reader { return conn }
