package testcluster

import (
	"context"
	"fmt"
)

// LaunchOriginal starts the controller that taint-manager replaces, with these additional flags, and does not wait
// until it is ready. The original is a kube-controller-manager of the same build with only its
// taint-eviction-controller and node-lifecycle-controller. It runs as a cluster-admin, and marks no node unhealthy
// within a day.
func (c *Cluster) LaunchOriginal(ctx context.Context, flags ...string) (*Component, error) {
	port, err := freePorts(ctx, 1)
	if err != nil {
		return nil, err
	}
	args := append(c.client(adminUser, port[0]),
		"--controllers=taint-eviction-controller,node-lifecycle-controller", "--node-monitor-grace-period=24h")
	o := c.part(ControllerManager, healthz(port[0]), append(args, flags...)...)
	o.name, o.endsBySignal = "original", true
	o.log = c.logOf(fmt.Sprintf("original-%d", port[0]))
	return o, o.launch()
}
