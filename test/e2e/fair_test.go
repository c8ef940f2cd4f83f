package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// In these tests a tenant's webhook holds each deletion of the tenant's pods for 30 s. Each of these pods has a label of
// its own, so nothing shows before its deletion that it will be slow. On the same nodes are pods of another namespace, due
// at the same time.

// What the others need alone depends on the machine, and is measured in the same world before.
func TestATenantsSlowWebhookDelaysNobodyElse(t *testing.T) {
	w := worldOfTenants(t)
	w.manage(t, "--leader-elect=false")
	alone := w.lateness(t, newPodLoad(t, w.admin, "alone", 20, 5), 0)
	late := w.besideATenant(t, 20, 15, 5)
	for what, i := range map[string]int{"median": len(late) / 2, "last": len(late) - 1} {
		if most := 2*alone[i] + 500*time.Millisecond; late[i] > most {
			t.Errorf("the others' %s is %v, alone %v; want at most %v", what, late[i], alone[i], most)
		}
	}
}

// Tokens go round between the namespaces, so the tenant's pods take as many tokens as quick pods would, and no more. With
// 5 tokens a second, the k-th of the others' 75 pods goes after k + min(k, 30) tokens at the latest: the 38th, which is the
// median, after 13.6 s, and the last after 21 s. The bucket may be empty at first. The want has a fifth added.
func TestSlowDeletionsUnderARateTakeTheirShareOfItsTokens(t *testing.T) {
	t.Parallel()
	const rate, fifth = 5, 1.2
	file := configFile(t, configHead+fmt.Sprintf("guards: {rates: [{name: cluster, evictionsPerSecond: %d, burst: 5}]}\n", rate))
	w := worldOfTenants(t)
	w.manage(t, "--leader-elect=false", "--config="+file)
	late := w.besideATenant(t, 15, 2, 5)
	for what, k := range map[string]int{"median": len(late)/2 + 1, "last": len(late)} {
		want := time.Duration(fifth * float64(k+min(k, 30)) / rate * float64(time.Second))
		if got := late[k-1]; got > want {
			t.Errorf("the others' %s is %v, want at most %v", what, got, want)
		}
	}
}

// Three tenants, whose webhook holds their deletions for 30 s, begin 2 s apart. The pods of another namespace are due a
// second after the last of them.
func TestTenantsThatBeginToHangOneAfterAnotherDelayOthersByASecondOrTwo(t *testing.T) {
	w := worldOfTenants(t)
	var tenants []*podLoad
	for i := range 3 {
		namespace := fmt.Sprint("tenant-", i)
		must(t, load.EnsureNamespace(t.Context(), w.admin, namespace))
		pods := newPodLoad(t, w.admin, namespace, 10, 0)
		pods.fill(t, namespace, 12, func(_ int, p *v1.Pod) { p.Labels[load.HeldLabel] = "yes" })
		tenants = append(tenants, pods)
	}
	others := newPodLoad(t, w.admin, "others", 10, 10)
	hook := w.holdingWebhook(t, tenants[0].Pods[0])
	m := w.manage(t, "--leader-elect=false")
	began := time.Now()
	for i, pods := range tenants {
		pause(t, time.Until(began.Add(time.Duration(i)*2*time.Second)))
		pods.taint(t, true)
	}
	pause(t, time.Until(began.Add(5*time.Second)))
	late := w.lateness(t, others, 0)
	if p99 := late[len(late)*99/100-1]; p99 > 3*time.Second {
		t.Errorf("the others' 99th percentile is %v, want at most 3 s", p99)
	}
	metrics := w.managerMetrics(t, m)
	if got := load.Sum(metrics, `taint_manager_pending_evictions`, `waits_for="share"`); got == 0 {
		t.Error("no eviction waits for its namespace's share")
	}
	if got := load.Sum(metrics, "taint_manager_slow_evictions_in_flight"); got < 32 || got > 96 {
		t.Errorf("%v calls have been in flight for more than a second, want 32 to 96", got)
	}
	hook.Release()
}

// worldOfTenants returns a world with the namespace of the tenant.
func worldOfTenants(t *testing.T) *world {
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	must(t, load.EnsureNamespace(t.Context(), w.admin, "tenant"))
	return w
}

// besideATenant taints nodes, each with so many pods of the tenant and of the others, and returns the lateness of the
// others' pods.
func (w *world) besideATenant(t *testing.T, nodes, tenantsEach, othersEach int) []time.Duration {
	c := newPodLoad(t, w.admin, "fair", nodes, 0)
	c.fill(t, "tenant", tenantsEach, func(i int, p *v1.Pod) {
		p.Labels[load.HeldLabel], p.Labels["own"] = "yes", fmt.Sprint(i)
	})
	held := len(c.Pods)
	c.fill(t, "default", othersEach, alike)
	hook := w.holdingWebhook(t, c.Pods[0])
	late := w.lateness(t, c, held)
	if hook.Held() == 0 {
		t.Error("the webhook was not asked: it held nobody up")
	}
	hook.Release()
	return late
}

// lateness taints the nodes of a load, and returns how long after the taints each of its pods but the first ones was
// deleted, the earliest first.
func (w *world) lateness(t *testing.T, c *podLoad, but int) (late []time.Duration) {
	began := time.Now()
	c.taint(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	times, err := w.deletions.Wait(ctx, c.Pods[but:], 0)
	must(t, err)
	for _, at := range times {
		late = append(late, at.Sub(began))
	}
	slices.Sort(late)
	t.Logf("%d pods of %s: median %v, last %v", len(late), c.Name, late[len(late)/2], late[len(late)-1])
	return late
}

// holdingWebhook makes the API server call a webhook that holds the deletions of held pods, of which this is one, until it
// releases them or the test ends.
func (w *world) holdingWebhook(t *testing.T, pod load.Identity) *load.Webhook {
	t.Helper()
	hook := load.NewWebhook()
	t.Cleanup(hook.Close)
	must(t, hook.Register(t.Context(), w.admin, pod))
	t.Cleanup(func() {
		if err := hook.Unregister(context.WithoutCancel(t.Context()), w.admin); err != nil {
			t.Error(err)
		}
	})
	return hook
}
