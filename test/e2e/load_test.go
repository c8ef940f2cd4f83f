package e2e

import (
	"context"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
)

// podLoad is a crowd for one test.
type podLoad struct {
	load.Crowd
	admin kubernetes.Interface
}

// newPodLoad creates the nodes and the pods.
func newPodLoad(t testing.TB, admin kubernetes.Interface, name string, nodes, podsEach int) *podLoad {
	t.Helper()
	made, err := load.NewCrowd(t.Context(), admin, name, nodes)
	must(t, err)
	c := &podLoad{*made, admin}
	c.fill(t, v1.NamespaceDefault, podsEach, alike)
	return c
}

// alike leaves pods as they are.
func alike(int, *v1.Pod) {}

// fill adds pods to each node, and changes each before it is created.
func (pl *podLoad) fill(t testing.TB, namespace string, podsEach int, change func(i int, p *v1.Pod)) {
	t.Helper()
	must(t, pl.Fill(t.Context(), namespace, podsEach, change))
}

// taint sets the NoExecute taint "crowd" on all nodes, or removes it.
func (pl *podLoad) taint(t testing.TB, on bool) {
	t.Helper()
	taints := []v1.Taint{}
	if on {
		taints = append(taints, v1.Taint{Key: "crowd", Effect: v1.TaintEffectNoExecute})
	}
	must(t, pl.Taint(t.Context(), taints...))
}

// gone waits until all pods but this number are gone, and returns when the last one was deleted.
func (pl *podLoad) gone(t testing.TB, deletions *load.DeletionTimes, butFor int) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	times, err := deletions.Wait(ctx, pl.Pods, butFor)
	must(t, err)
	return slices.MaxFunc(times, time.Time.Compare)
}

func (pl *podLoad) podNames() (names []string) {
	for _, pod := range pl.Pods {
		names = append(names, pod.Name)
	}
	return names
}
