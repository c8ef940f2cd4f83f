package cli

import (
	"errors"
	"syscall"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, see tcp(7), which package syscall does not have.
const tcpUserTimeout = 0x12

// unanswered bounds how long what was sent may stay without an answer of the peer's machine. The probes of
// a quiet connection don't cover that.
func unanswered(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(lostAfter.Milliseconds()))
	})
	return errors.Join(err, failed)
}
