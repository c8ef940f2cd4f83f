package transport

import (
	"net"
	"syscall"
	"testing"
	"time"

	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/internal/config"
)

func TestWatchesAndTheLeaseNoticeWithin45SecondsThatTheMachineIsGone(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	defer listener.Close()
	for _, made := range []*rest.Config{
		separate(commonConfig(&rest.Config{}, config.Default(), "")), leaseConfig(&rest.Config{}, config.Default()),
	} {
		conn, err := made.Dial(t.Context(), "tcp", listener.Addr().String())
		must(t, err)
		defer func() { _ = conn.Close() }()
		raw, err := conn.(syscall.Conn).SyscallConn()
		must(t, err)
		option := func(number int) (value int) {
			var failed error
			must(t, raw.Control(func(fd uintptr) { value, failed = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, number) }))
			must(t, failed)
			return value
		}
		probed := option(syscall.TCP_KEEPIDLE) + option(syscall.TCP_KEEPINTVL)*option(syscall.TCP_KEEPCNT)
		if got := time.Duration(probed) * time.Second; got != 45*time.Second {
			t.Errorf("an idle connection is given up after %v, want 45 s", got)
		}
	}
}
