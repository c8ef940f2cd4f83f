package cli

import (
	"errors"
	"io"
	"net"
	"syscall"
	"unsafe"
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

// lightly reads from the connection without telling Go's scheduler of each system call. The socket does not
// block, so that there is nothing to tell; but in a process that was idle it would wake a second thread,
// the scheduler's watchdog, and that costs more than the call.
func lightly(conn net.Conn) io.Reader {
	if c, ok := conn.(*net.TCPConn); ok {
		if raw, err := c.SyscallConn(); err == nil {
			return lightReader{raw}
		}
	}
	return conn
}

type lightReader struct{ syscall.RawConn }

func (r lightReader) Read(b []byte) (n int, err error) {
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

// readNow is read(2), of a file that does not block.
func readNow(fd uintptr, b []byte) (int, syscall.Errno) {
	n, _, errno := syscall.RawSyscall(syscall.SYS_READ, fd, uintptr(unsafe.Pointer(&b[0])), uintptr(len(b)))
	if errno != 0 {
		return 0, errno
	}
	return int(n), 0
}
