package e2e

import (
	"context"
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// maxForLargePods is the maximum memory for 50 pods together, each as large as the API server takes it, in MB. Most of it
// is garbage: the pods take 120 MB on a machine so busy that the collector lags.
const maxForLargePods = 150

// A tenant chooses the size of its pods. The peak counts, and with it the start and a time in which each of the
// pods is updated.
func TestPodsAsLargeAsTheAPIServerTakesThemCostLittleMemory(t *testing.T) {
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	if !w.streamsLists() {
		t.Skipf("Kubernetes 1.%d sends 500 pods in one response, which costs more", w.Minor())
	}
	c := newPodLoad(t, w.admin, "large", 2, 0)
	without := w.peakOf(t, c, func() {})
	for _, part := range []struct {
		pods     int
		elements int // about as many as the API server takes in one pod
		fill     func(p *v1.Pod, i int)
	}{
		{13, 100_000, func(p *v1.Pod, i int) { p.Labels[fmt.Sprintf("%05x", i)] = "" }},
		{13, 65_000, func(p *v1.Pod, i int) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("%05x", i), Operator: v1.TolerationOpExists})
		}},
		{12, 72_000, func(p *v1.Pod, i int) {
			owner := metav1.OwnerReference{APIVersion: "v1", Kind: "K", Name: "n", UID: types.UID(fmt.Sprintf("%05x", i))}
			p.OwnerReferences = append(p.OwnerReferences, owner)
		}},
		{12, 15_000, func(p *v1.Pod, i int) { p.Annotations[fmt.Sprintf("%05x", i)] = "0123456789" }},
	} {
		c.fillLarge(t, part.pods, part.elements, part.fill)
	}
	with := w.peakOf(t, c, func() { c.touch(t) })
	t.Logf("%d large pods: a peak of %.0f MB, %.0f MB without them", len(c.Pods), with, without)
	if with-without > maxForLargePods {
		t.Errorf("they cost %.0f MB, want at most %d MB", with-without, maxForLargePods)
	}
}

// peakOf returns the peak memory of a manager from its start until it has seen what happens, in MB.
func (w *world) peakOf(t *testing.T, c *podLoad, happens func()) float64 {
	t.Helper()
	m, err := w.StartManager(t.Context(), "--leader-elect=false")
	must(t, err)
	defer func() { _ = m.Stop() }()
	happens()
	c.evictsOneMore(t, w) // its pod comes after everything else in the watch
	_, peak, err := load.Memory(m.Pid())
	must(t, err)
	return peak
}

// evictsOneMore creates a pod on the second node, and waits until it is evicted.
func (pl *podLoad) evictsOneMore(t *testing.T, w *world) {
	t.Helper()
	pod := load.Pod("one-more", pl.Nodes[1], nil)
	pod, err := pl.admin.CoreV1().Pods(pod.Namespace).Create(t.Context(), pod, metav1.CreateOptions{})
	must(t, err)
	node := []byte(`{"spec": {"taints": [{"key": "maintenance", "effect": "NoExecute"}]}}`)
	_, err = pl.admin.CoreV1().Nodes().Patch(t.Context(), pl.Nodes[1], types.MergePatchType, node, metav1.PatchOptions{})
	must(t, err)
	if _, gone := w.deletion(t, pod.UID, time.Now().Add(time.Minute)); !gone {
		t.Fatal("the manager evicts nobody")
	}
}

// fillLarge adds pods to the first node, each with this number of elements.
func (pl *podLoad) fillLarge(t *testing.T, pods, elements int, fill func(p *v1.Pod, i int)) {
	t.Helper()
	first := len(pl.Pods)
	pl.Pods = append(pl.Pods, make([]load.Identity, pods)...)
	pl.inPairs(t, pods, func(ctx context.Context, i int) (err error) {
		pod := load.Pod(fmt.Sprintf("%s-%d", pl.Name, first+i), pl.Nodes[0], map[string]string{})
		pod.Annotations = map[string]string{}
		for n := range elements {
			fill(pod, i*1_000_000+n)
		}
		client := pl.admin.CoreV1().Pods(pod.Namespace)
		pl.Pods[first+i] = load.IdentityOf(pod)
		_, err = client.Create(ctx, pod, metav1.CreateOptions{})
		if apierrors.IsAlreadyExists(err) { // a try that timed out has created it
			return nil
		}
		return err
	})
}

// touch updates each pod.
func (pl *podLoad) touch(t *testing.T) {
	t.Helper()
	pl.inPairs(t, len(pl.Pods), func(ctx context.Context, i int) error {
		patch := []byte(`{"status": {"message": "updated"}}`)
		_, err := pl.admin.CoreV1().Pods(pl.Pods[i].Namespace).Patch(ctx, pl.Pods[i].Name, types.MergePatchType, patch, metav1.PatchOptions{}, "status")
		return err
	})
}

// inPairs makes n requests, two at a time: the API server works for seconds on one that has 100,000 labels.
func (pl *podLoad) inPairs(t *testing.T, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	patiently := func(ctx context.Context, i int) error { return load.Patiently(func() error { return do(ctx, i) }) }
	must(t, load.Spread(t.Context(), 2, n, patiently))
}
