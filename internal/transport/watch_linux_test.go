package transport

import (
	"net"
	"syscall"
	"testing"
	"time"
)

func TestAWatchNoticesWithin45SecondsThatTheMachineIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	conn, err := dialWatch(t.Context(), "tcp", listener.Addr().String())
	must(t, err)
	defer func() { _ = conn.Close() }()
	raw, err := conn.(watchConn).Conn.(syscall.Conn).SyscallConn()
	must(t, err)
	option := func(number int) (value int) {
		var failed error
		must(t, raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, number) }))
		must(t, failed)
		return value
	}
	if got := time.Duration(option(tcpUserTimeout)) * time.Millisecond; got != lostAfter {
		t.Errorf("what was sent may stay unanswered for %v, want %v", got, lostAfter)
	}
	probed := option(syscall.TCP_KEEPIDLE) + option(syscall.TCP_KEEPINTVL)*option(syscall.TCP_KEEPCNT)
	if got := time.Duration(probed) * time.Second; got != lostAfter {
		t.Errorf("a quiet connection is given up after %v, want %v", got, lostAfter)
	}
}
