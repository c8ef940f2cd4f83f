package e2e

import (
	"os"
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// A webhook delays deletions for longer than a process has to end. The process cancels these calls, logs their
// pods, and exits with 0: their evictions are left to the next leader.
func TestAProcessThatCutsHeldCallsEndsWithZeroAndNamesTheirPods(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	held := newPodLoadOf(t, w.admin, "cut", 2, 4, heldLabels)
	hook := newHoldingWebhook(t)
	hook.register(t, w, held.pods[0])
	m, err := w.StartManager(t.Context(), "--leader-elect=false")
	if err != nil {
		t.Fatal(err)
	}
	held.taint(t, true)
	hook.await(t, len(held.pods))

	began := time.Now()
	if err := m.Stop(); err != nil {
		t.Errorf("SIGTERM: %v, want exit code 0", err)
	}
	if took := time.Since(began); took < 9*time.Second || took > 14*time.Second {
		t.Errorf("it took %v to end, want the 10 seconds that calls under way have", took)
	}
	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	_, after, found := strings.Cut(log, "calls were cancelled")
	if !found {
		t.Fatalf("the log does not say that calls were cancelled:\n%s", log[max(0, len(log)-4000):])
	}
	for _, pod := range held.pods {
		if !strings.Contains(after, pod.Name) {
			t.Errorf("the log does not name %s as cancelled:\n%s", pod.Name, after)
		}
	}
}

// Messages of admission are truncated when they are received. When they were kept whole, 300 of a megabyte made a
// process of 1.1 GB and a log of 300 MB.
func TestDenialsOfAMegabyteFillNeitherMemoryNorLog(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	denied := newPodLoadOf(t, w.admin, "denied", 10, 30, heldLabels)
	hook := newHoldingWebhook(t)
	hook.Denial = strings.Repeat("no, ", 1<<18)
	hook.register(t, w, denied.pods[0])
	m := w.manage(t, "--leader-elect=false")
	denied.taint(t, true)
	hook.await(t, len(denied.pods))

	_, peak, err := load.Memory(m.Pid())
	if err != nil {
		t.Fatal(err)
	}
	log, err := os.Stat(m.LogPath())
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%d denials: peak memory %.0f MB, log %d kB", hook.Held(), peak, log.Size()>>10)
	if peak > 400 || log.Size() > 4<<20 {
		t.Errorf("peak memory %.0f MB and a log of %d kB, want at most 400 MB and 4096 kB", peak, log.Size()>>10)
	}
}

func heldLabels(int) map[string]string {
	return map[string]string{"app": "held", load.HeldLabel: "yes"}
}
