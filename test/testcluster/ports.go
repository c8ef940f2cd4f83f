package testcluster

import (
	"context"
	"errors"
	"math/rand/v2"
	"net"
	"strconv"
)

// Ports are chosen below the range from which systems take the ports of outgoing connections (32768 up on Linux,
// 49152 elsewhere). In that range, a client that keeps dialling a dead component could get the component's own
// port, and prevent it from starting again.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// ports are the components' ports. They are free when they are chosen; a conflict is possible until the components
// have bound them.
type ports struct {
	etcd, etcdPeer, apiServer, controllerManager, scheduler, nodes int
}

func choosePorts(ctx context.Context) (ports, error) {
	var p ports
	taken := make(map[int]bool)
	for _, port := range []*int{&p.etcd, &p.etcdPeer, &p.apiServer, &p.controllerManager, &p.scheduler, &p.nodes} {
		free, err := freePort(ctx, taken)
		if err != nil {
			return ports{}, err
		}
		taken[free] = true
		*port = free
	}
	return p, nil
}

func freePort(ctx context.Context, taken map[int]bool) (int, error) {
	var listen net.ListenConfig
	for range 200 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := listen.Listen(ctx, "tcp", address(port))
		if err != nil {
			continue
		}
		_ = listener.Close()
		if !taken[port] {
			return port, nil
		}
	}
	return 0, errors.New("no free port on loopback in 200 tries")
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
