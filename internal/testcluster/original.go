package testcluster

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// An Original is one run of the controller that taint-manager replaces: kube-controller-manager of the same build
// with only its taint-eviction-controller and node-lifecycle-controller.
type Original struct{ process *process }

// LaunchOriginal starts the original with these additional flags, and does not wait until it is ready. It runs as a
// cluster-admin, and marks no node unhealthy within a day.
func (c *Cluster) LaunchOriginal(ctx context.Context, flags ...string) (*Original, error) {
	port, err := freePort(ctx, nil)
	if err != nil {
		return nil, err
	}
	admin := c.Kubeconfig()
	args := append(c.common(),
		"--kubeconfig="+admin, "--authentication-kubeconfig="+admin, "--authorization-kubeconfig="+admin,
		"--leader-elect=false", "--bind-address=127.0.0.1", fmt.Sprintf("--secure-port=%d", port),
		"--controllers=taint-eviction-controller,node-lifecycle-controller", "--node-monitor-grace-period=24h")
	args = append([]string{ControllerManager}, append(args, flags...)...)
	log := filepath.Join(c.LogDir(), fmt.Sprintf("original-%d.log", port))
	p, err := startProcess(c.Binary(), args, c.dir, log)
	if err != nil {
		return nil, fmt.Errorf("starting the original controller: %w", err)
	}
	return &Original{p}, nil
}

// Pid returns its process id.
func (o *Original) Pid() int { return o.process.cmd.Process.Pid }

// Stop asks the original to end and returns when it has ended; an error if it had ended by itself. It is killed if
// it takes too long.
func (o *Original) Stop() error {
	if err := o.process.signal(syscall.SIGTERM); err != nil {
		return fmt.Errorf("stopping the original controller: %w", err)
	}
	select {
	case <-o.process.done:
	case <-time.After(managerTimeout):
		o.process.kill()
	}
	return nil
}
