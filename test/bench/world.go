package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

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
	cancel    context.CancelFunc
	against   string // another build, which replaces the built-in controller in comparisons; may be empty
	workloads int    // the number of workloads so far, for their names

	shared *workload // the population of 30,000 pods that several works share
}

// newWorld starts a control plane without other controllers than the measured subject. Nodes get only the benchmark's
// taint.
func newWorld(ctx context.Context, kubernetes, against string) (*world, error) {
	c, err := testcluster.Start(ctx, testcluster.Options{
		WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true, Log: os.Stderr,
		Kubernetes:    kubernetes,
		APIServerArgs: []string{"--disable-admission-plugins=ServiceAccount,TaintNodesByCondition"},
	})
	if err != nil {
		return nil, err
	}
	w := &world{Cluster: c, deletions: load.NewDeletionTimes(), against: against}
	w.shared = w.emptyWorkload()
	following, cancel := context.WithCancel(ctx)
	w.cancel = cancel
	if err := w.connect(following); err != nil {
		return nil, errors.Join(err, w.close())
	}
	return w, nil
}

func (w *world) connect(ctx context.Context) error {
	if err := w.Permit(ctx, "--leader-elect=false", "--eviction-method=evict"); err != nil {
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

func (w *world) close() error {
	w.cancel()
	return w.Stop()
}

func (w *world) say(format string, args ...any) {
	fmt.Fprintf(os.Stderr, time.Now().Format(time.TimeOnly)+"  "+format+"\n", args...)
}

// atLeast ensures that the shared population has this number of nodes, with their pods.
func (w *world) atLeast(ctx context.Context, nodes int) error {
	missing := nodes - len(w.shared.nodes)
	if missing <= 0 {
		return nil
	}
	began := time.Now()
	err := w.shared.grow(ctx, size{nodes: missing, each: podsEach})
	w.say("%d pods were made in %.0f s", missing*podsEach, time.Since(began).Seconds())
	return err
}

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

func (s subject) plain() bool { return s.name == baseline }

// call evicts one pod, as plain workers do.
func (s subject) call(ctx context.Context, client kubernetes.Interface, pod load.Identity) error {
	do := load.PatchAndDelete
	if s.evict {
		do = load.Evict
	}
	err := load.Patiently(func() error { return do(ctx, client, pod) })
	if err != nil && !apierrors.IsNotFound(err) { // a try that timed out may have deleted it
		return fmt.Errorf("a plain worker: pod %s: %w", pod.Name, err)
	}
	return nil
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
// the subject has observed the whole cluster. Plain workers need no start, and have no component.
func (w *world) ready(ctx context.Context, s subject) (*testcluster.Component, error) {
	if s.plain() {
		return nil, nil
	}
	c, _, err := w.firstDeletion(ctx, s)
	if err != nil {
		return nil, err
	}
	// The built-in controller's client limits recover, and the work after its start ends.
	return c, load.Pause(ctx, 2*time.Second)
}

// firstDeletion launches a subject in a cluster with a pod that is due. It returns the time from the start of the
// subject's process to the deletion of the pod.
func (w *world) firstDeletion(
	ctx context.Context, s subject,
) (c *testcluster.Component, after time.Duration, err error) {
	probe, err := w.newWorkload(ctx, size{nodes: 1})
	if err == nil {
		err = probe.taint(ctx, nil)
	}
	if err == nil {
		err = probe.fill(ctx, probe.nodes, size{each: 1})
	}
	if err != nil {
		return nil, 0, err
	}
	if c, err = w.launch(ctx, s); err != nil {
		return nil, 0, err
	}
	times, err := w.waitFor(ctx, probe.pods)
	if err != nil {
		return nil, 0, fmt.Errorf("waiting for %s: %w", s.name, err)
	}
	err = w.admin.CoreV1().Nodes().Delete(ctx, probe.nodes[0], metav1.DeleteOptions{})
	return c, times[0].Sub(c.Started()), err
}
