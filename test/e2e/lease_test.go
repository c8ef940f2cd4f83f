package e2e

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// These measure, and each needs the API server for itself.
func TestTheLease(t *testing.T) {
	w := newWorld(t, bare())
	t.Run("a first installation evicts within 3 s of its start", w.firstInstallation)
	t.Run("a lease that is deleted in a burst: every pod goes once, by the two that ran before", w.leaseDeleted)
	t.Run("processes that overlap because the lease is deleted count what they repeat", w.newcomerOverlaps)
}

// firstInstallation starts one process in a cluster of 1000 nodes and 10,000 pods that has no lease.
func (w *world) firstInstallation(t *testing.T) {
	c := newPodLoad(t, w.admin, "first", 1000, 10)
	tainted := *c
	tainted.Nodes, tainted.Pods = c.Nodes[:10], c.Pods[:100]
	tainted.taint(t, true)
	began := time.Now()
	m := w.manage(t)
	tainted.gone(t, w.deletions, 0)
	first := time.Duration(1<<63 - 1)
	for _, r := range ofPods(writes(t, w.AuditLog(), began)) {
		first = min(first, r.RequestReceivedTimestamp.Sub(m.Started()))
	}
	t.Logf("the first eviction call was received %v after the start of the process", first.Round(time.Millisecond))
	if first > 3*time.Second {
		t.Errorf("the first eviction call was received %v after the start", first)
	}
}

// deleteLease deletes the lease; it may be absent.
func (w *world) deleteLease(t *testing.T) {
	t.Helper()
	err := w.admin.CoordinationV1().Leases("kube-system").Delete(t.Context(), "taint-manager", metav1.DeleteOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
}

func (w *world) leaseDeleted(t *testing.T) {
	flags := append([]string{"--max-evictions-per-second=100"}, election...)
	c := newPodLoad(t, w.admin, "deleted", 45, 20)
	for range 2 {
		w.manage(t, flags...)
	}
	before := w.waitForHolder(t)
	began := time.Now()
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.Pods)*2/3)
	w.deleteLease(t)
	c.gone(t, w.deletions, 0)
	c.deletedOnce(t, w.AuditLog(), began)
	t.Logf("the lease was held by %s, and is held by %s after its deletion", before, w.waitForHolder(t))
}

// newcomerOverlaps deletes the lease until a process that was started meanwhile holds it. Its pods are Terminating for
// long after their deletion, so that it can repeat one.
func (w *world) newcomerOverlaps(t *testing.T) {
	flags := append([]string{"--max-evictions-per-second=100"}, election...)
	c := newPodLoad(t, w.admin, "overlap", 45, 0)
	c.fill(t, v1.NamespaceDefault, 20, func(_ int, p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(60)) })
	all := []*testcluster.Manager{w.manage(t, flags...), w.manage(t, flags...)}
	w.waitForHolder(t)
	began := time.Now()
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.Pods)*2/3)
	newcomer := w.launchIn(t, "newcomer", flags...)
	t.Cleanup(func() { must(t, newcomer.Stop()) })
	for until := time.Now().Add(10 * time.Second); !strings.HasPrefix(w.waitForHolder(t), "newcomer_"); pause(t, 10*time.Millisecond) {
		if w.deleteLease(t); time.Now().After(until) {
			t.Fatal("the newcomer has not taken the lease")
		}
	}
	c.gone(t, w.deletions, 0)
	awaitDeletions(t, w.AuditLog(), c.podNames()...)
	deletes := 0
	for _, r := range ofPods(writes(t, w.AuditLog(), began)) {
		if r.Verb == "delete" {
			deletes++
		}
	}
	counted := 0.0
	for _, m := range append(all, newcomer) { // one that led before may lead again
		counted += load.Sum(w.managerMetrics(t, m), "taint_manager_repeated_evictions_total")
	}
	t.Logf("%d DELETEs for %d pods; %v calls are counted that repeat what another process has begun", deletes, len(c.Pods), counted)
	if repeated := deletes - len(c.Pods); float64(repeated) > counted {
		t.Errorf("%d DELETEs were repeated, and %v are counted", repeated, counted)
	}
}
