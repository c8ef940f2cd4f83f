package pending

import (
	"fmt"
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
	shown := strings.Join(frame(now, false, false, 0, 0, ""), "\n")
	if strings.Contains(shown, "No eviction") || !strings.Contains(shown, "Note: cannot say all: half is not known.") {
		t.Errorf("a screen has:\n%s", shown)
	}
	var out, notes strings.Builder
	l := &lines{form: answer.AsTable, w: &out, notes: &notes}
	for range 2 {
		if err := l.show(now, nil); err != nil {
			t.Fatal(err)
		}
	}
	if got := notes.String(); got != "Note: cannot say all: half is not known.\n" {
		t.Errorf("lines have %q", got)
	}
}

// TestAFrameFitsTheTerminal checks what a user sees.
func TestAFrameFitsTheTerminal(t *testing.T) {
	at := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	var pods []foresight.PendingPod
	for i := range 9 {
		pods = append(pods, pendingPod(fmt.Sprint(i), fmt.Sprintf("web-5d4f8c7b9-%05d", i), float64(i*30), at))
	}
	now := foresight.NewPending(at, foresight.Focus{}, nil, pods)
	now.Notes = []string{"this is a note that is longer than a terminal of eighty columns is wide, and so goes on"}
	for _, c := range []struct{ columns, rows int }{{80, 24}, {160, 24}, {80, 12}, {40, 8}, {20, 3}, {1, 1}} {
		lines := frame(now, false, false, c.columns, c.rows, howToEnd)
		if len(lines) > max(1, c.rows-1) {
			t.Errorf("%d lines on %d rows", len(lines), c.rows)
		}
		if c.rows >= 8 && !strings.Contains(strings.Join(lines, " "), "next now. Ctrl-C ends this.") {
			t.Errorf("on %d columns the headline is cut: %q", c.columns, lines)
		}
		for _, line := range lines {
			if len([]rune(line)) > c.columns && strings.Contains(line, " ") {
				t.Errorf("on %d columns: %q", c.columns, line)
			}
		}
	}
	want := []string{
		"2026-05-01T12:00:00Z  9 evictions: 9 scheduled; next now. Ctrl-C ends this.",
		"",
		"WHEN    AT         PODS  OWNER                     STATE",
		"now     12:00:00Z  1     shop/web-5d4f8c7b9-00000  scheduled",
		"in 30s  12:00:30Z  1     shop/web-5d4f8c7b9-00001  scheduled",
		"Left out: TAINT (node.kubernetes.io/unreachable).",
		"... and 7 more",
		"",
		"Note: this is a note that is longer than a terminal of eighty columns is wide,",
		"and so goes on.",
	}
	if diff := cmp.Diff(want, frame(now, false, false, 80, 11, howToEnd)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
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
	show(0, []string{"one"}, a, b)
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
