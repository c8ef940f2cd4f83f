package journal

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// inStep is the maximum difference of two clocks that count as agreeing.
const inStep = 2 * time.Second

// Writing is one writing of a partition: when it was written, and how this process received it.
type Writing struct {
	// At is when it was written, by its writer's clock; zero if unknown.
	At time.Time

	// Stored is when it was stored, by the API server's clock, truncated to the second; zero if unknown.
	Stored time.Time

	// Received is when this process received it from its watch of the partition; zero if it found the partition in this
	// state. It carries the monotonic clock.
	Received time.Time

	// Undone is as in a [Partition].
	Undone time.Time
}

// live reports whether the writing gives ages without a comparison of two clocks.
func (w *Writing) live() bool { return !w.At.IsZero() && !w.Received.IsZero() }

// agrees reports whether the times of this writing count although the next one was received. They do not if an edit
// was undone between the two, or if this writing claims to be the later one: it may be an edit of which no leader has
// heard, because its client has restored the content before.
func (w *Writing) agrees(next *Writing) bool {
	return w.Undone.Equal(next.Undone) && !w.At.After(next.At)
}

// converted returns a recorded history on the clock of this process. If this process received a state in an earlier
// writing, it keeps that time, unless this writing was shorter on its way: neither time can make the state too old.
func (r *recorded) converted(recorded taint.History, w *Writing, now *Observation) taint.History {
	history := onClock(recorded, func(t time.Time) time.Time { return now.since(t, w) })
	for i := range history {
		state, before := &history[i], r.received(&recorded[i], w)
		if before != nil && (!w.live() || before.Since.Before(state.Since)) {
			state.Since, state.Relisted = before.Since, before.Relisted
		}
	}
	return sorted(history)
}

// received returns this recorded state as converted from an earlier writing that this process received; nil if there is
// none, or if the two writings do not agree.
func (r *recorded) received(recorded *taint.State, w *Writing) *taint.State {
	if !r.writing.live() || !r.writing.agrees(w) {
		return nil
	}
	i := slices.IndexFunc(r.read, func(s taint.State) bool {
		return same(&s.Taint, &recorded.Taint) && s.From == recorded.From && s.Since.Equal(recorded.Since)
	})
	if i < 0 {
		return nil
	}
	return &r.states[i] // both are sorted by time
}

// since returns when a recorded state began, on the monotonic clock of this process, clamped to the node's lifetime.
func (o *Observation) since(recorded time.Time, w *Writing) time.Time {
	since := w.Moment(recorded, o.At, o.Ahead)
	born := o.At.Add(-max(o.At.Add(-o.Ahead).Sub(o.Created), 0))
	if since.Before(born) {
		return born
	}
	return since
}

// Moment returns a time that this writing contains, on the monotonic clock of this process, or a later time; it is not
// in the future. now is when the writing is read, and ahead is as in an Observation.
func (w *Writing) Moment(recorded, now time.Time, ahead time.Duration) time.Time {
	moment := w.made(now, ahead).Add(recorded.Sub(w.At))
	if w.At.IsZero() {
		moment = now.Add(recorded.Sub(now)).Add(ahead)
	}
	if moment.After(now) {
		return now
	}
	return moment
}

// made returns when the writing was made, on the monotonic clock of this process, or a later time. If this process
// received the writing, that is the moment of receipt. If it found the partition, the time comes from the wall clocks
// of the two processes, unless it disagrees with the API server's time of the writing; then the API server's time
// decides.
func (w *Writing) made(now time.Time, ahead time.Duration) time.Time {
	if w.live() {
		return w.Received
	}
	byWriter := now.Add(w.At.Sub(now))
	if w.Stored.IsZero() {
		return byWriter.Add(ahead)
	}
	byServer := now.Add(NextSecond(w.Stored).Sub(now)).Add(ahead)
	if apart := byServer.Sub(byWriter); apart < -inStep || apart > inStep {
		return byServer
	}
	return byWriter
}
