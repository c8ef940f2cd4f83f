package pending

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

func pendingPod(uid, name string, seconds float64, from time.Time) *foresight.PendingPod {
	at := from.Add(time.Duration(seconds * float64(time.Second)))
	return &foresight.PendingPod{
		PodRef: foresight.PodRef{Namespace: "shop", Name: name, UID: uid, Node: "node-1"}, State: eviction.StateScheduled,
		Prediction: foresight.Prediction{Evict: true, At: &at, Taint: "node.kubernetes.io/unreachable:NoExecute", Reason: "because"},
	}
}

// A watch goes on where an answer lacks something, and says so instead of that nothing is scheduled.
func TestAWatchSaysWhatIsNotKnown(t *testing.T) {
	now := foresight.NewPending(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), foresight.Focus{}, nil, nil)
	now.Incomplete = []string{"half is not known"}
	shown := shown(now, 0)
	if strings.Contains(shown, "No eviction is scheduled") || !strings.Contains(shown, "Note: incomplete answer: half is not known.") {
		t.Errorf("a screen has:\n%s", shown)
	}
}

// Cluster and manager may have the same note.
func TestAWaitNotesOnceWhatIsNewAfterTheLinesOfThePods(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	held := pendingPod("a", "a", 30, at)
	held.State = eviction.StateHeld
	now := foresight.NewPending(at, foresight.Focus{}, nil, []*foresight.PendingPod{held})
	now.Notes, now.Incomplete = []string{"of both", "of both"}, []string{"half is not known"}
	var out strings.Builder
	l := &lines{w: &out, notes: &out}
	for range 2 {
		if err := l.show(now); err != nil {
			t.Fatal(err)
		}
	}
	const want = "2026-05-01T12:00:00Z held shop/a on node node-1, at 2026-05-01T12:00:30Z: because\n" +
		"Note: of both.\nNote: incomplete answer: half is not known.\n"
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// shown returns what a screen of that many columns has.
func shown(now *foresight.Pending, columns int) string {
	var t answer.Text
	writeFrame(&t, now, columns, footer(now, columns, " Ctrl-C ends this."))
	return t.String()
}

// TestAFrameFitsTheTerminal checks what a user sees.
func TestAFrameFitsTheTerminal(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := foresight.NewPending(at, foresight.Focus{}, nil, []*foresight.PendingPod{pendingPod("a", "a", 0, at), pendingPod("b", "b", 30, at)})
	now.Notes = []string{"this is a note that is longer than a terminal of forty columns is wide"}
	want := []string{
		"2 evictions scheduled; next now.",
		"",
		"WHEN    AT         POD     NODE    STATE      TAINT",
		"now     12:00:00Z  shop/a  node-1  scheduled  node.kubernetes.io/unreachable",
		"in 30s  12:00:30Z  shop/b  node-1  scheduled  node.kubernetes.io/unreachable",
		"Note: this is a note that is longer than",
		" a terminal of forty columns is wide.",
		"2026-05-01T12:00:00Z. Ctrl-C ends this.",
	}
	text := shown(now, 40)
	for rows, want := range map[int][]string{
		0: want, 9: want, 8: slices.Concat(want[:3], []string{"…"}, want[5:]), 3: {want[0], "…"}, 2: {"…"}, 1: {"…"},
	} {
		if diff := cmp.Diff(want, frame(text, 3, rows)); diff != "" {
			t.Errorf("on %d rows (-want +got):\n%s", rows, diff)
		}
	}
}
