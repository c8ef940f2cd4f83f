// Command demo shows the main function with real input: a real control plane with simulated nodes, the real
// taint-manager with its own permissions, a node that gets two taints, and pods that are evicted or stay.
//
// It prints events as they happen, then the expectations (constants in this package) next to the observations, and
// exits with 0 only if they agree. With -keep, it keeps running until Ctrl-C.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/go-logr/logr"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

func main() {
	keep := flag.Bool("keep", false, "stay up when done, until Ctrl-C")
	flag.Parse()
	klog.SetLogger(logr.Discard()) // client-go writes nothing between the lines of the timeline
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := run(ctx, os.Stdout, *keep)
	stop()
	os.Exit(code)
}

// run returns the exit code. It stops everything that it has started.
func run(ctx context.Context, out io.Writer, keep bool) int {
	agree, err := show(ctx, out, keep)
	switch {
	case err != nil && ctx.Err() != nil:
		fmt.Fprintln(out, "\nInterrupted; everything is stopped.")
		return 130
	case err != nil:
		fmt.Fprintln(out, "\nThe demo failed:", err)
		return 1
	case !agree:
		fmt.Fprintln(out, "\nThe result differs from what was expected.")
		return 1
	}
	return 0
}

// show plays the story, and reports whether it went as expected.
func show(ctx context.Context, out io.Writer, keep bool) (agree bool, err error) {
	fmt.Fprintln(out, "Starting a control plane on loopback: etcd, kube-apiserver, kube-controller-manager")
	fmt.Fprintln(out, "without its taint-eviction-controller, kube-scheduler, and simulated kubelets.")
	c, err := testcluster.Start(ctx, testcluster.Options{Log: out})
	if err != nil {
		return false, err
	}
	defer func() { err = errors.Join(err, c.Stop()) }()
	fmt.Fprintln(out, "Starting taint-manager with the permissions of deploy/rbac.yaml.")
	m, err := c.StartManager(ctx)
	if err != nil {
		return false, err
	}
	defer m.Kill()
	s, err := newStage(ctx, c, out)
	if err != nil {
		return false, err
	}
	if err := s.play(ctx); err != nil {
		return false, err
	}
	agree = s.compare()
	if keep && ctx.Err() == nil {
		stay(ctx, out, c, m)
	}
	return agree, m.Stop()
}

// stay prints how to try the cluster by hand, and waits for Ctrl-C.
func stay(ctx context.Context, out io.Writer, c *testcluster.Cluster, m *testcluster.Manager) {
	fmt.Fprintf(out, `
The cluster runs until Ctrl-C. Try it:

  export KUBECONFIG=%s
  alias kubectl='%s kubectl'
  kubectl get pods -o wide
  kubectl taint node demo-2 maintenance=now:NoExecute
  kubectl get events --field-selector reason=TaintManagerEviction

taint-manager logs to %s
The page with all evictions and their reasons: %s
`, c.Kubeconfig(), c.Binary(), m.LogPath(), m.Page())
	<-ctx.Done()
	fmt.Fprintln(out, "\nStopping.")
}
