package pending

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

func pendingPod(uid, name string, seconds float64, from time.Time) foresight.PendingPod {
	at := from.Add(time.Duration(seconds * float64(time.Second)))
	return foresight.PendingPod{
		PodRef: foresight.PodRef{Namespace: "shop", Name: name, UID: uid, Node: "node-1"}, State: foresight.Scheduled,
		Prediction: foresight.Prediction{Evict: true, At: &at, Taint: "node.kubernetes.io/unreachable:NoExecute", Reason: "because"},
	}
}

// A watch goes on where an answer lacks something, and says so instead of that nothing is scheduled.
func TestAWatchSaysWhatIsNotKnown(t *testing.T) {
	now := foresight.NewPending(time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC), foresight.Focus{}, nil, nil)
	now.Incomplete = []string{"half is not known"}
	shown := shown(now, 0)
	if strings.Contains(shown, "No eviction") || !strings.Contains(shown, "Note: incomplete answer: half is not known.") {
		t.Errorf("a screen has:\n%s", shown)
	}
	var out, notes strings.Builder
	l := &lines{form: answer.AsTable, w: &out, notes: &notes}
	for range 2 {
		if err := l.show(now, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := notes.String(); got != "Note: incomplete answer: half is not known.\n" {
		t.Errorf("lines have %q", got)
	}
}

// shown returns what a screen of that many columns has.
func shown(now *foresight.Pending, columns int) string {
	var t answer.Text
	writeFrame(&t, now, columns, " Ctrl-C ends this.")
	return t.String()
}

// TestAFrameFitsTheTerminal checks what a user sees.
func TestAFrameFitsTheTerminal(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	now := foresight.NewPending(at, foresight.Focus{}, nil, []foresight.PendingPod{pendingPod("a", "a", 0, at), pendingPod("b", "b", 30, at)})
	now.Notes = []string{"this is a note that is longer than a terminal of forty columns is wide"}
	want := []string{
		"2026-05-01T12:00:00Z. Ctrl-C ends this.",
		"Note: this is a note that is longer than",
		" a terminal of forty columns is wide.",
		"2 evictions: 2 scheduled; next now.",
		"",
		"WHEN    AT         POD     NODE    STATE      TAINT",
		"now     12:00:00Z  shop/a  node-1  scheduled  node.kubernetes.io/unreachable",
		"in 30s  12:00:30Z  shop/b  node-1  scheduled  node.kubernetes.io/unreachable",
	}
	text := shown(now, 40)
	for rows, want := range map[int][]string{
		0: want, 9: want, 8: append(slices.Clone(want[:6]), "…"), 3: {want[0], "…"}, 2: {"…"}, 1: {"…"},
	} {
		if diff := cmp.Diff(want, frame(text, rows)); diff != "" {
			t.Errorf("on %d rows (-want +got):\n%s", rows, diff)
		}
	}
}

// A pod that does not tolerate a taint is due at once.
func TestEachEvictionIsNamedOnce(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var out strings.Builder
	l := &lines{form: answer.AsName, w: &out, notes: new(strings.Builder)}
	due, scheduled, held := pendingPod("d", "d", 0, at), pendingPod("s", "s", 1, at), pendingPod("h", "h", 0, at)
	due.State, held.State, held.Evict = foresight.Due, foresight.Held, false
	free, late := held, scheduled
	free.State, free.Evict, late.State = foresight.Due, true, foresight.Due
	for _, pods := range [][]foresight.PendingPod{{due, scheduled, held}, {due, late, held}, {due, late, free}, {}} {
		if err := l.show(foresight.NewPending(at, foresight.Focus{}, nil, pods), stays{}); err != nil {
			t.Fatal(err)
		}
	}
	if got := out.String(); got != "shop/d\nshop/s\nshop/h\n" {
		t.Errorf("got %q", got)
	}
}

// stays returns the changes of two pods.
type stays struct{ following }

func (stays) Ended(uid string) (change, reason string) {
	if uid == "stays" {
		return source.Cancelled, "the node has no NoExecute taint"
	}
	return source.Gone, ""
}

func TestOnlyChangesAreShown(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var out, notes strings.Builder
	l := &lines{form: answer.AsTable, w: &out, notes: &notes}
	show := func(seconds int, notes []string, pods ...foresight.PendingPod) {
		now := foresight.NewPending(at.Add(time.Duration(seconds)*time.Second), foresight.Focus{}, nil, pods)
		now.Notes = notes
		if err := l.show(now, stays{}); err != nil {
			t.Fatal(err)
		}
	}
	a, b := pendingPod("goes", "a", 10, at), pendingPod("stays", "b", 20, at)
	later, moment, due := pendingPod("goes", "a", 15, at), pendingPod("stays", "b", 20.5, at), pendingPod("goes", "a", 15, at)
	due.State = foresight.Due
	show(0, []string{"one", "one"}, a, b)
	show(1, []string{"one", "two"}, a, b)
	show(2, []string{"two"}, later, moment)
	show(15, nil, due, moment)
	show(16, nil)
	want := `2026-05-01T12:00:00Z scheduled shop/a on node node-1, at 2026-05-01T12:00:10Z: because
2026-05-01T12:00:00Z scheduled shop/b on node node-1, at 2026-05-01T12:00:20Z: because
2026-05-01T12:00:02Z moved shop/a on node node-1, at 2026-05-01T12:00:15Z: because
2026-05-01T12:00:15Z due shop/a on node node-1, at 2026-05-01T12:00:15Z: because
2026-05-01T12:00:16Z gone shop/a on node node-1
2026-05-01T12:00:16Z cancelled shop/b on node node-1: the node has no NoExecute taint
`
	if diff := cmp.Diff(want, out.String()); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if diff := cmp.Diff("Note: one.\nNote: two.\n", notes.String()); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
}
