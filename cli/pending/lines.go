package pending

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
	"github.com/taint-manager/taint-manager/taint"
)

// The changes of a scheduled eviction, beside its states.
const (
	moved     = "moved"     // its time has changed
	cancelled = "cancelled" // the pod stays
	gone      = "gone"      // the pod is gone, or is being deleted
	evicted   = "evicted"   // the manager reports that it has evicted the pod
	over      = "over"      // the manager does not report why the eviction has ended
)

// pendingChange is one change of the scheduled evictions.
type pendingChange struct {
	APIVersion string    `json:"apiVersion"`
	Kind       string    `json:"kind"` // PendingChange
	At         time.Time `json:"at"`

	// Change is moved, cancelled, gone, evicted or over, or the new state of the eviction.
	Change string `json:"change"`

	// Why is the reason why the pod stays, if the change is cancelled.
	Why string               `json:"why,omitempty"`
	Pod foresight.PendingPod `json:"pod"`
}

// lines writes each change in a line, for files and other programs.
type lines struct {
	*options
	w, notes io.Writer
	shown    map[string]foresight.PendingPod
	noted    []string
}

func (l *lines) show(now *foresight.Pending, of current) error {
	all := remarks(now)
	for _, n := range all {
		if !slices.Contains(l.noted, n) {
			answer.Note(l.notes, n)
		}
	}
	l.noted = all
	for _, c := range l.changes(now, of) {
		if err := l.write(c); err != nil {
			return fmt.Errorf("printing a change: %w", err)
		}
	}
	return nil
}

func (l *lines) end(*foresight.Pending) error { return nil }

// changes returns the changes since the last call: first the evictions that have ended, then the others in the order
// of their times.
func (l *lines) changes(now *foresight.Pending, of current) []pendingChange {
	var list []pendingChange
	add := func(change, why string, p foresight.PendingPod) {
		list = append(list, pendingChange{foresight.APIVersion, "PendingChange", now.At, change, why, p})
	}
	there := map[string]foresight.PendingPod{}
	for _, p := range now.Pods {
		there[p.UID] = p
	}
	for _, uid := range slices.SortedFunc(maps.Keys(l.shown), func(a, b string) int {
		return cmp.Or(l.shown[a].At.Compare(*l.shown[b].At), cmp.Compare(a, b))
	}) {
		if _, ok := there[uid]; ok {
			continue
		}
		change, why := of.left(uid)
		add(change, why, l.shown[uid])
	}
	for _, p := range now.Pods {
		before, ok := l.shown[p.UID]
		switch {
		case !ok, before.State != p.State, before.Cause != p.Cause:
			add(p.State, "", p)
		case hasMoved(&before, &p):
			add(moved, "", p)
		}
	}
	l.shown = there
	return list
}

// hasMoved ignores a difference below a second: this program and the manager that wrote the record may have seen a
// change at slightly different moments.
func hasMoved(before, now *foresight.PendingPod) bool {
	by := now.At.Sub(*before.At)
	return by >= time.Second || by <= -time.Second || (before.Earliest == nil) != (now.Earliest == nil)
}

func (l *lines) write(c pendingChange) error {
	var text []byte
	var err error
	switch form := l.output.Form; form {
	case answer.AsTable, answer.AsWide:
		text = []byte(terminal.Escape(c.String()) + "\n")
	case answer.AsName:
		if c.Change == status.Scheduled {
			text = []byte(terminal.Escape(c.Pod.String()) + "\n")
		}
	case answer.AsJSON: // in a line
		text, err = json.Marshal(c)
		text = append(terminal.EscapeJSON(text), '\n')
	case answer.AsYAML:
		text, err = answer.Document(c, form)
		text = append([]byte("---\n"), text...)
	default:
		text, err = answer.Document(c, form)
		text = append(text, '\n')
	}
	if err != nil {
		return err
	}
	_, err = l.w.Write(text)
	return err
}

// String returns the change as a line of a log.
func (p pendingChange) String() string {
	s := fmt.Sprintf("%s %s %s on node %s", taint.Stamp(p.At.Truncate(time.Second)), p.Change, &p.Pod.PodRef,
		p.Pod.Node)
	switch p.Change {
	case gone, evicted, over:
		return s
	case cancelled:
		return s + ": " + p.Why
	}
	if p.Pod.Message != "" {
		return s + " (" + p.Pod.Cause + "): " + p.Pod.Message
	}
	return s + ", " + answer.AtTheLatest(&p.Pod.Prediction) + ": " + p.Pod.Reason
}
