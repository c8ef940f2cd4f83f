package testcluster

import (
	"context"
	"fmt"
	"syscall"
)

// An Original is one run of the controller that taint-manager replaces: kube-controller-manager of the same build with
// only its taint-eviction-controller and node-lifecycle-controller.
type Original struct{ *Component }

// LaunchOriginal starts the original with these additional flags, and does not wait until it is ready. It runs as a
// cluster-admin, and marks no node unhealthy within a day.
func (c *Cluster) LaunchOriginal(ctx context.Context, flags ...string) (*Original, error) {
	port, err := freePort(ctx, nil)
	if err != nil {
		return nil, err
	}
	args := append(c.client("admin", port),
		"--controllers=taint-eviction-controller,node-lifecycle-controller", "--node-monitor-grace-period=24h")
	o := &Original{c.newComponent("original", fmt.Sprintf("-%d", port),
		c.part("https://"+address(port)+"/healthz", ControllerManager, append(args, flags...)...), c.http)}
	return o, o.launch()
}

// Stop asks the original to end and returns when it has ended, which the signal itself does; an error if it had ended
// before.
func (o *Original) Stop() error {
	if err := o.signal(syscall.SIGTERM); err != nil {
		return err
	}
	_ = o.Wait(endTimeout)
	return nil
}
