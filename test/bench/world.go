package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// world is a control plane with the observed deletions of its pods.
type world struct {
	*testcluster.Cluster
	admin     kubernetes.Interface
	worker    kubernetes.Interface // of the plain workers: authenticates as taint-manager's user
	deletions *load.DeletionTimes
	against   string // another build, which replaces the built-in controller in comparisons; may be empty
	crowds    int    // the number of crowds so far, for their names

	population *load.Crowd // 30,000 pods; nil before the first measurement with them
}

// newWorld starts a control plane without other controllers than the measured subject. Nodes get only the benchmark's
// taint.
func newWorld(ctx context.Context, against string) (*world, error) {
	c, err := testcluster.Start(ctx, testcluster.Options{
		WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true, Log: os.Stderr,
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"},
	})
	if err != nil {
		return nil, err
	}
	w := &world{Cluster: c, deletions: load.NewDeletionTimes(), against: against}
	if err := w.connect(ctx); err != nil {
		return nil, errors.Join(err, w.Stop())
	}
	return w, nil
}

func (w *world) connect(ctx context.Context) error {
	if err := w.Permit(ctx, "--eviction-method=evict"); err != nil {
		return err
	}
	user, err := w.ManagerKubeconfig()
	if err != nil {
		return err
	}
	if w.worker, err = load.NewClient(user); err != nil {
		return err
	}
	if w.admin, err = load.NewClient(w.Kubeconfig()); err != nil {
		return err
	}
	return w.deletions.Follow(ctx, w.admin)
}

func (w *world) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}

// newCrowd creates nodes with this number of pods each. A pod does not tolerate the benchmark's taint, unless change
// adds that.
func (w *world) newCrowd(ctx context.Context, nodes, each int, change func(p *v1.Pod)) (*load.Crowd, error) {
	w.crowds++
	c, err := load.NewCrowd(ctx, w.admin, fmt.Sprintf("crowd-%d", w.crowds), nodes)
	if err != nil {
		return nil, err
	}
	return c, c.Fill(ctx, load.Namespace, each, func(_ int, p *v1.Pod) { change(p) })
}

func unchanged(*v1.Pod) {}

// waitFor waits until the pods are deleted, and returns the time of each deletion.
func (w *world) waitFor(ctx context.Context, pods []load.Identity) ([]time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, burstTimeout)
	defer cancel()
	return w.deletions.Wait(ctx, pods, 0)
}

// subject is a program to be measured. The subject with the name of the baseline is plain workers.
type subject struct {
	name  string
	evict bool // by the eviction subresource
}

// plainly evicts the pods if the subject is plain workers, which decide nothing. Their client is that of
// taint-manager's user.
func (w *world) plainly(ctx context.Context, s subject, pods []load.Identity) error {
	if s.name != baseline {
		return nil
	}
	do := load.PatchAndDelete
	if s.evict {
		do = load.Evict
	}
	return load.Spread(ctx, load.PlainWorkers, len(pods), func(ctx context.Context, i int) error {
		err := load.Patiently(func() error { return do(ctx, w.worker, pods[i]) })
		if err != nil && !apierrors.IsNotFound(err) { // a try that timed out may have deleted it
			return fmt.Errorf("a plain worker: pod %s: %w", pods[i].Name, err)
		}
		return nil
	})
}

// launch starts a subject, and does not wait until it is ready.
func (w *world) launch(ctx context.Context, s subject) (*testcluster.Component, error) {
	flags, binary := []string{"--leader-elect=false"}, ""
	if s.evict {
		flags = append(flags, "--eviction-method=evict")
	}
	switch s.name {
	case builtin:
		return w.LaunchOriginal(ctx, "--kube-api-qps=100000", "--kube-api-burst=100000")
	case builtinDefault:
		return w.LaunchOriginal(ctx)
	case otherBuild:
		binary = w.against
	}
	m, err := w.Launch(ctx, binary, "", flags...)
	if err != nil {
		return nil, err
	}
	return m.Component, nil
}

// stop stops a subject. Plain workers, which have no component, were not started.
func stop(c *testcluster.Component) error {
	if c == nil {
		return nil
	}
	return c.Stop()
}

// ready launches a subject, and returns when the subject has evicted a pod from a node that was tainted before: then
// the subject has observed the whole cluster. It also returns the time of that. Plain workers need no start, and have
// no component.
func (w *world) ready(ctx context.Context, s subject) (c *testcluster.Component, at time.Time, err error) {
	if s.name == baseline {
		return nil, at, nil
	}
	probe, err := w.newCrowd(ctx, 1, 0, unchanged)
	if err == nil {
		err = probe.Taint(ctx, tainted)
	}
	if err == nil {
		err = probe.Fill(ctx, load.Namespace, 1, func(int, *v1.Pod) {})
	}
	if err == nil {
		c, err = w.launch(ctx, s)
	}
	if err != nil {
		return nil, at, err
	}
	times, err := w.waitFor(ctx, probe.Pods)
	if err != nil {
		return nil, at, fmt.Errorf("waiting for %s: %w", s.name, err)
	}
	if err := w.admin.CoreV1().Nodes().Delete(ctx, probe.Nodes[0], metav1.DeleteOptions{}); err != nil {
		return nil, at, err
	}
	// The built-in controller's client limits recover, and the work after its start ends.
	return c, times[0], load.Pause(ctx, 2*time.Second)
}
