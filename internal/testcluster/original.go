package testcluster

import (
	"context"
	"fmt"
	"path/filepath"
	"syscall"
	"time"
)

// An Original is one run of the controller that taint-manager replaces: kube-controller-manager of the
// same build with its taint-eviction-controller, and the node-lifecycle-controller beside it, alone.
type Original struct{ process *process }

// LaunchOriginal starts it with these flags added, and does not wait until it has seen the cluster. It is
// a cluster-admin, and calls no node unhealthy within a day.
func (c *Cluster) LaunchOriginal(ctx context.Context, flags ...string) (*Original, error) {
	port, err := freePort(ctx, nil)
	if err != nil {
		return nil, err
	}
	admin := c.Kubeconfig()
	args := append(c.serving(), featureGates,
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

// Pid is its process id.
func (o *Original) Pid() int { return o.process.cmd.Process.Pid }

// Stop asks it to end and returns when it has; an error when it had ended by itself. It is killed when it
// takes too long.
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
