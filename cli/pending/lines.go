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
	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/taint"
)

// moved is the change of an eviction whose time has changed. The others are its states, and why it has ended.
const moved = "moved"

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

	begins bool // the pod was not to be evicted before
}

// lines writes each change in a line, for files and other programs.
type lines struct {
	form     string // of the output
	stuck    bool   // only the changes of pods that hold a wait up, or did
	w, notes io.Writer
	shown    map[string]foresight.PendingPod // by UID
	noted    []string
}

// show writes the notes that are new, and the changes.
func (l *lines) show(now *foresight.Pending, of following) error {
	all := now.All()
	for i, n := range all {
		if !slices.Contains(l.noted, n) && !slices.Contains(all[:i], n) {
			answer.Note(l.notes, n)
		}
	}
	before := l.shown
	l.noted = all
	for _, c := range l.changes(now, of) {
		if l.stuck && !holdsUp(c.Pod.State) && !holdsUp(before[c.Pod.UID].State) {
			continue
		}
		if err := l.write(c); err != nil {
			return fmt.Errorf("printing a change: %w", err)
		}
	}
	return nil
}

// changes returns the changes since the last call: first the evictions that have ended, then the others in the order
// of their times.
func (l *lines) changes(now *foresight.Pending, of following) []pendingChange {
	var list []pendingChange
	add := func(change, reason string, p foresight.PendingPod) {
		begins := p.Evict && !l.shown[p.UID].Evict
		list = append(list, pendingChange{foresight.APIVersion, "PendingChange", now.At, change, reason, p, begins})
	}
	before, after := l.shown, map[string]foresight.PendingPod{}
	for _, p := range now.Pods {
		after[p.UID] = p
	}
	for _, uid := range slices.SortedFunc(maps.Keys(before), func(a, b string) int {
		return cmp.Or(before[a].At.Compare(*before[b].At), cmp.Compare(a, b))
	}) {
		if _, ok := after[uid]; !ok {
			change, reason := of.Ended(uid)
			add(change, reason, before[uid])
		}
	}
	for _, p := range now.Pods {
		switch was, ok := before[p.UID]; {
		case !ok, was.State != p.State, was.Cause != p.Cause:
			add(p.State, "", p)
		case hasMoved(&was, &p):
			add(moved, "", p)
		}
	}
	l.shown = after
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
	switch l.form {
	case answer.AsTable, answer.AsWide:
		text = []byte(terminal.Escape(c.String()) + "\n")
	case answer.AsName:
		if c.begins {
			text = []byte(terminal.Escape(c.Pod.String()) + "\n")
		}
	case answer.AsJSON: // in a line
		text, err = json.Marshal(c)
		text = append(terminal.EscapeJSON(text), '\n')
	case answer.AsYAML:
		text, err = answer.Document(c, l.form)
		text = append([]byte("---\n"), text...)
	default:
		text, err = answer.Document(c, l.form)
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
	case source.Gone, source.Evicted, source.Over:
		return s
	case source.Cancelled:
		return s + ": " + p.Why
	}
	if p.Pod.Message != "" {
		return s + " (" + p.Pod.Cause + "): " + p.Pod.Message
	}
	return s + ", " + answer.AtTheLatest(&p.Pod.Prediction) + ": " + p.Pod.Reason
}
