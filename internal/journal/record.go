package journal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/taint"
)

// Record is the journal's record of one tainted node.
type Record struct {
	// UID of the node: a node with the same name and another UID is another node.
	UID types.UID

	// Version is the node's resourceVersion when the writer last saw its taints change, or that of the record that the
	// writer has adopted; see [NodeHistory.UpTo].
	Version string

	// Taints and Triggers are the histories that the writer had. Their times are wall times.
	Taints, Triggers []taint.History

	// Writing is the writing of the partition that contained the record. The partition's store sets it.
	Writing Writing
}

// RecordOf returns the record of a node at this moment. If times are rounded up, the states keep their order: a pod may
// tolerate one of them without a limit, and its exposure begins again with the next one.
func RecordOf(n *taint.Node, now time.Time) Record {
	r := Record{UID: n.UID, Version: n.Version, Taints: n.Taints, Triggers: n.Triggers}
	return r.converted(func(t time.Time) time.Time { return wallTime(t, now) })
}

// Forward returns a record that this process has read, to be written once more at this moment: its times are on the
// wall clock of this process, and no older. ahead is as in an [Observation].
func Forward(r Record, now time.Time, ahead time.Duration) Record {
	return r.converted(func(t time.Time) time.Time { return wallTime(r.Writing.Moment(t, now, ahead), now) })
}

// converted returns the record with its times converted to another clock.
func (r Record) converted(convert func(time.Time) time.Time) Record {
	for _, histories := range []*[]taint.History{&r.Taints, &r.Triggers} {
		*histories = slices.Clone(*histories)
		for i, history := range *histories {
			(*histories)[i] = onClock(history, convert)
		}
	}
	return r
}

// onClock returns the states with their times converted to another clock, in their order.
func onClock(history taint.History, convert func(time.Time) time.Time) taint.History {
	history = slices.Clone(history)
	for i := range history {
		s := &history[i]
		s.Since, s.To = convert(s.Since), ""
		if i > 0 && s.Since.Before(history[i-1].Since) {
			s.Since = history[i-1].Since
		}
		if !s.Relisted.IsZero() {
			s.Relisted = convert(s.Relisted)
		}
	}
	return history
}

// GuardsOf returns the record of guards and holds at this moment, with wall times.
func GuardsOf(r breaker.Record, now time.Time) breaker.Record {
	return r.Converted(func(t time.Time) time.Time { return wallTime(t, now) })
}

// Guards returns a record that this writing contains, on the monotonic clock of this process; see [Writing.Moment].
func (w *Writing) Guards(r breaker.Record, now time.Time, ahead time.Duration) breaker.Record {
	return r.Converted(func(t time.Time) time.Time { return w.Moment(t, now, ahead) })
}

// wallTime returns a time by the wall clock as it is set now. If that clock was set since then, the time that it showed
// then would be wrong for readers of the record, and too old if the clock was set forward. The result is rounded up in
// this case, so that it is the same at each call. The two clocks are not read at the very same moment, hence the
// tolerance.
func wallTime(then, now time.Time) time.Time {
	shown, wall := then.Round(0), now.Round(0).Add(-now.Sub(then))
	if off := wall.Sub(shown); off > -time.Second && off < 10*time.Millisecond {
		return shown.UTC()
	}
	return NextSecond(wall).UTC()
}
