package journal

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// converted returns a recorded history on the clock of this process. If this process received a state in an earlier
// writing, it keeps that time, unless this writing was shorter on its way: neither time can make the state too old.
func (t *recorded) converted(recorded taint.History, w *Writing, now *AdoptParams) taint.History {
	history := slices.Clone(recorded)
	for i := range history {
		state := &history[i]
		before := t.received(state)
		state.Since = now.since(state.Since, w)
		if before != nil && (!w.live() || before.Since.Before(state.Since)) {
			state.Since = before.Since
		}
	}
	return sorted(history)
}

// received returns this recorded state as converted from an earlier writing that this process received; nil if there is
// none.
func (t *recorded) received(recorded *taint.State) *taint.State {
	if !t.live {
		return nil
	}
	i := slices.IndexFunc(t.read, func(s taint.State) bool {
		return same(&s.Taint, &recorded.Taint) && s.From == recorded.From && s.Since.Equal(recorded.Since)
	})
	if i < 0 {
		return nil
	}
	return &t.states[i] // both are sorted by time
}

// since returns when a recorded state began, on the monotonic clock of this process, clamped to the node's lifetime.
func (now *AdoptParams) since(recorded time.Time, w *Writing) time.Time {
	since := now.written(w).Add(recorded.Sub(w.At))
	if w.At.IsZero() {
		since = now.At.Add(recorded.Sub(now.At)).Add(now.Ahead)
	}
	born := now.At.Add(-max(now.At.Add(-now.Ahead).Sub(now.Created), 0))
	switch {
	case since.After(now.At):
		return now.At
	case since.Before(born):
		return born
	}
	return since
}

// written returns when the writing was made, on the monotonic clock of this process, or a later time. If this process
// received the writing, that is the moment of receipt. If it found the partition, the time comes from the wall clocks
// of the two processes, unless it disagrees with the API server's time of the writing; then the API server's time
// decides.
func (now *AdoptParams) written(w *Writing) time.Time {
	if w.live() {
		return w.Received
	}
	byWriter := now.At.Add(w.At.Sub(now.At))
	if w.Stored.IsZero() {
		return byWriter.Add(now.Ahead)
	}
	byServer := now.At.Add(NextSecond(w.Stored).Sub(now.At)).Add(now.Ahead)
	if apart := byServer.Sub(byWriter); apart < -inStep || apart > inStep {
		return byServer
	}
	return byWriter
}
