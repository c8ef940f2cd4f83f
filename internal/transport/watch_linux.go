package transport

import (
	"errors"
	"io"
	"net"
	"syscall"
	"unsafe"
)

// tcpUserTimeout is TCP_USER_TIMEOUT, see tcp(7), which package syscall does not have.
const tcpUserTimeout = 0x12

// unanswered bounds how long sent data may remain unacknowledged by the peer's machine. The probes of an idle
// connection do not cover that.
func unanswered(_, _ string, conn syscall.RawConn) error {
	var failed error
	err := conn.Control(func(fd uintptr) {
		failed = syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, tcpUserTimeout, int(lostAfter.Milliseconds()))
	})
	return errors.Join(err, failed)
}

// newRawReader returns a reader of the connection whose system calls bypass Go's scheduler. The socket does not block,
// so the scheduler need not know of them; in an idle process they would wake a second thread, the scheduler's watchdog,
// which costs more than the call (ADR 0016).
func newRawReader(conn net.Conn) io.Reader {
	if c, ok := conn.(*net.TCPConn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			return rawReader{raw}
		}
	}
	return conn
}

// rawReader reads with read(2) directly.
type rawReader struct{ syscall.RawConn }

func (r rawReader) Read(b []byte) (n int, err error) {
	if len(b) == 0 {
		return 0, nil
	}
	var errno syscall.Errno
	err = r.RawConn.Read(func(fd uintptr) bool {
		for {
			n, errno = readNow(fd, b)
			if errno != syscall.EINTR {
				return errno != syscall.EAGAIN
			}
		}
	})
	switch {
	case err != nil:
		return 0, err
	case errno != 0:
		return 0, errno
	case n == 0:
		return 0, io.EOF
	}
	return n, nil
}

// readNow calls read(2) on a file that does not block.
func readNow(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
