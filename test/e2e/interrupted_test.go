package e2e

import (
	"slices"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/load"
)

// election has short times: after a kill, the next leader starts within a little more than six seconds.
var election = []string{"--leader-elect-lease-duration=6s", "--leader-elect-renew-deadline=4s", "--leader-elect-retry-period=1s"}

// These interrupt a burst that is slowed down, so that there is time to interrupt it. Each pod is deleted once: no
// answer is lost, as calls under way may end. A busy API server may fail a DELETE, which then is repeated.
func TestABurstThatIsInterruptedGoesOn(t *testing.T) {
	w := newWorld(t, bare())
	t.Run("the leader is told to end: the standby goes on at once", w.leaderStopped)
	t.Run("the lease is taken away: no call until it is won back", w.leaseTaken)
}

func (w *world) leaderStopped(t *testing.T) {
	flags := append([]string{"--max-evictions-per-second=200"}, election...)
	c := newPodLoad(t, w.admin, "stopped", 40, 25)
	leader, err := w.StartManager(t.Context(), flags...)
	must(t, err)
	w.waitForHolder(t)
	w.manage(t, flags...)
	began := time.Now()
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.Pods)*2/3)
	stopped := time.Now()
	if err := leader.Stop(); err != nil {
		t.Errorf("SIGTERM: %v", err)
	}
	ended := time.Now()
	last := c.gone(t, w.deletions, 0)
	t.Logf("it ended after %v; the last pod was gone %v later", ended.Sub(stopped).Round(time.Millisecond), last.Sub(ended).Round(time.Millisecond))
	if took := ended.Sub(stopped); took > 3*time.Second {
		t.Errorf("with calls of some milliseconds under way, it took %v to end", took)
	}
	deleted := c.deletedOnce(t, w.AuditLog(), began)
	// The lease was released: a candidate notices within a second, and does not wait for the six seconds of the
	// lease.
	if wait := longestPause(deleted); wait > 4*time.Second {
		t.Errorf("nobody evicted for %v", wait)
	}
}

func (w *world) leaseTaken(t *testing.T) {
	c := newPodLoad(t, w.admin, "taken", 40, 25)
	w.manage(t, append([]string{"--max-evictions-per-second=100"}, election...)...)
	w.waitForHolder(t)
	began := time.Now()
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.Pods)*3/4)
	taken := w.takeLease(t)
	c.gone(t, w.deletions, 0)
	deleted := c.deletedOnce(t, w.AuditLog(), began)
	// It notices the loss when it renews, within a second; calls under way end.
	for _, at := range deleted {
		if since := at.Sub(taken); since > 2500*time.Millisecond && since < 6*time.Second {
			t.Errorf("a DELETE %v after the lease was taken away", since)
		}
	}
	// It gives up at its renew deadline, and only then begins to wait for the other's lease to expire.
	if wait := longestPause(deleted); wait > 4*time.Second+6*time.Second+22*time.Second/10+soon {
		t.Errorf("nobody evicted for %v", wait)
	}
}

// takeLease makes another holder take the lease, which never renews it.
func (w *world) takeLease(t *testing.T) time.Time {
	t.Helper()
	leases := w.admin.CoordinationV1().Leases("kube-system")
	for {
		lease, err := leases.Get(t.Context(), "taint-manager", metav1.GetOptions{})
		must(t, err)
		other, now := "somebody-else", metav1.NowMicro()
		lease.Spec.HolderIdentity, lease.Spec.RenewTime, lease.Spec.AcquireTime = &other, &now, &now
		if _, err = leases.Update(t.Context(), lease, metav1.UpdateOptions{}); err == nil {
			return now.Time
		}
		if t.Context().Err() != nil {
			t.Fatal(err) // any other error is a conflict with a renewal
		}
	}
}

// deletedOnce requires a DELETE for each pod, a second one only after a first that the API server failed, and no write
// for others. It returns when the DELETEs were received.
func (pl *podLoad) deletedOnce(t *testing.T, auditLog string, since time.Time) (at []time.Time) {
	t.Helper()
	awaitDeletions(t, auditLog, pl.podNames()...)
	last := map[string]load.Request{} // DELETE of each pod
	for _, r := range ofPods(writes(t, auditLog, since)) {
		name := r.ObjectRef.Name
		if !strings.HasPrefix(name, pl.Name+"-") {
			t.Errorf("%s %s %s: no pod of a tainted node", r.Verb, name, r.ObjectRef.Subresource)
		}
		if r.Verb != "delete" {
			continue
		}
		at = append(at, r.RequestReceivedTimestamp)
		if before, again := last[name]; again && before.ResponseStatus.Code < 500 {
			t.Errorf("%s was deleted again after this answer: %+v; again: %+v", name, before, r)
		}
		last[name] = r
	}
	for _, pod := range pl.Pods {
		if _, deleted := last[pod.Name]; !deleted {
			t.Errorf("%s was not deleted", pod.Name)
		}
	}
	return at
}

// longestPause is the longest time between one moment and the next.
func longestPause(moments []time.Time) (longest time.Duration) {
	slices.SortFunc(moments, time.Time.Compare)
	for i := 1; i < len(moments); i++ {
		longest = max(longest, moments[i].Sub(moments[i-1]))
	}
	return longest
}
