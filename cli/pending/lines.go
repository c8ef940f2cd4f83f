package pending

import (
	"fmt"
	"io"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// lines writes a line when a pod begins to hold up a wait, and when its state changes. New notes follow these lines.
// Notes are not delayed until the answer, because a wait answers only at its end.
type lines struct {
	w, notes io.Writer
	shown    map[string]string // states and causes by UID
	noted    []string
}

// show writes the changes, and then the new notes.
func (l *lines) show(now *foresight.Pending) error {
	before := l.shown
	l.shown = map[string]string{}
	for _, p := range now.Pods {
		last, shown := before[p.UID]
		if !shown && !holdsUp(p.State) {
			continue
		}
		l.shown[p.UID] = string(p.State) + p.Cause
		if last == l.shown[p.UID] {
			continue
		}
		if _, err := io.WriteString(l.w, terminal.Escape(lineOf(p, now.At))+"\n"); err != nil {
			return fmt.Errorf("printing a change: %w", err)
		}
	}
	for _, n := range now.All() {
		if !slices.Contains(l.noted, n) {
			answer.Note(l.notes, n)
			l.noted = append(l.noted, n)
		}
	}
	return nil
}

// lineOf describes the state of a pod in a line.
func lineOf(p pod, at time.Time) string {
	s := fmt.Sprintf("%s %s %s on node %s", taint.Stamp(at.Truncate(time.Second)), p.State, &p.PodRef, p.Node)
	if p.Message != "" {
		return s + " (" + p.Cause + "): " + p.Message
	}
	return s + ", " + answer.AtTheLatest(&p.Prediction) + ": " + p.Reason
}
