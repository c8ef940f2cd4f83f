package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

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
	against   string // another build, which replaces the original in comparisons; may be empty
	workloads int    // the number of workloads so far, for their names

	shared    *workload // the population of 30,000 pods that several works share
	fewPods   int       // the size of the shared population when fewMemory was measured
	fewMemory float64   // MB of this build when idle
	evicted   int       // the number of nodes of the shared population that bursts have emptied
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

// waitFor returns when each of the pods was deleted. It fails if that takes longer than atMost.
func (w *world) waitFor(ctx context.Context, pods []load.Identity, atMost time.Duration) ([]time.Time, error) {
	ctx, cancel := context.WithTimeout(ctx, atMost)
	defer cancel()
	return w.deletions.Wait(ctx, pods, 0)
}
