package e2e

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// In these tests a tenant's webhook holds each deletion of the tenant's pods for 30 s. Each of these pods has a label of
// its own, so nothing shows before its deletion that it will be slow. On the same nodes are pods of another namespace, due
// at the same time.

func TestATenantsSlowWebhookDelaysNobodyElse(t *testing.T) {
	late := besideATenant(t, 20, 15, 5)
	if median, last := medianOf(late), late[len(late)-1]; median > 500*time.Millisecond || last > 2*time.Second {
		t.Errorf("the others' median is %v, the last %v; want at most 500ms and 2s", median, last)
	}
}

// A held deletion takes a token when it starts. A namespace with calls under way lets others have the tokens, so the
// others are as fast as the rate lets them be without the tenant, within a fifth. A bucket that is empty at first lets
// the k-th pod go after k/5 s: of 75 pods the 38th, which is the median, after 7.6 s, and the last after 15 s. A bucket
// that is full at first lets each of them go a second earlier. The want here is the later time, with the fifth added: 9.12
// s and 18 s. If both namespaces took every second token, the tenant's 30 pods would delay the last to 21 s.
func TestSlowDeletionsUnderARateLeaveItsTokensToOthers(t *testing.T) {
	t.Parallel()
	const rate, fifth = 5, 1.2
	file := filepath.Join(t.TempDir(), "config.yaml")
	text := configHead + fmt.Sprintf("guards: {rates: [{name: cluster, evictionsPerSecond: %d, burst: 5}]}\n", rate)
	if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	late := besideATenant(t, 15, 2, 5, "--config="+file)
	for what, k := range map[string]int{"median": len(late)/2 + 1, "last": len(late)} {
		want := time.Duration(fifth * float64(k) / rate * float64(time.Second))
		if got := late[k-1]; got > want {
			t.Errorf("the others' %s is %v, want at most %v", what, got, want)
		}
	}
}

// besideATenant runs taint-manager with these flags, taints the nodes, each with so many pods of the tenant and of the
// others, and returns how long after the taints each of the others' pods was deleted, the earliest first.
func besideATenant(t *testing.T, nodes, tenantsEach, othersEach int, flags ...string) (late []time.Duration) {
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	if err := load.EnsureNamespace(t.Context(), w.admin, "tenant"); err != nil {
		t.Fatal(err)
	}
	c := newPodLoad(t, w.admin, "fair", nodes, 0)
	c.fill(t, "tenant", tenantsEach, func(i int) map[string]string {
		return map[string]string{load.HeldLabel: "yes", "own": fmt.Sprint(i)}
	})
	held := len(c.pods)
	c.fill(t, "default", othersEach, alike)
	hook := newHoldingWebhook(t)
	hook.register(t, w, false, c.pods[0])
	w.manage(t, append(flags, "--leader-elect=false")...)

	began := time.Now()
	c.taint(t, true)
	ctx, cancel := context.WithTimeout(t.Context(), 5*time.Minute)
	defer cancel()
	times, err := w.deletions.Wait(ctx, c.identities()[held:], 0)
	if err != nil {
		t.Fatal(err)
	}
	for _, at := range times {
		late = append(late, at.Sub(began))
	}
	slices.Sort(late)
	t.Logf("%d pods of others: median %v, last %v; the webhook was asked %d times", len(late), medianOf(late), late[len(late)-1], hook.Held())
	if hook.Held() == 0 {
		t.Error("the webhook was not asked: it held nobody up")
	}
	hook.Release()
	return late
}

// medianOf returns the middle of a sorted list.
func medianOf(list []time.Duration) time.Duration { return list[len(list)/2] }
