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
// port, and prevent the component from starting again.
const (
	lowestPort  = 20000
	highestPort = 32000
)

// freePorts returns n different ports that are free now. Another process may take them before the components do.
func freePorts(ctx context.Context, n int) (ports []int, err error) {
	var listen net.ListenConfig
	for range 200 {
		port := lowestPort + rand.IntN(highestPort-lowestPort)
		listener, err := listen.Listen(ctx, "tcp", address(port))
		if err != nil {
			continue
		}
		defer func() { _ = listener.Close() }() // not before all ports are chosen
		if ports = append(ports, port); len(ports) == n {
			return ports, nil
		}
	}
	return nil, errors.New("too few free ports on loopback in 200 tries")
}

func address(port int) string { return net.JoinHostPort("127.0.0.1", strconv.Itoa(port)) }
