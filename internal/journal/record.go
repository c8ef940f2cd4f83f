package journal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/guard"
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
	return Record{UID: n.UID, Version: n.Version, Taints: wallTimes(n.Taints, now), Triggers: wallTimes(n.Triggers,
		now)}
}

// Forward returns a record that this process has read, to be written once more at this moment: its times are on the
// wall clock of this process, and no older. ahead is as in an [Observation].
func Forward(r Record, now time.Time, ahead time.Duration) Record {
	read := func(histories []taint.History) []taint.History {
		histories = slices.Clone(histories)
		for i := range histories {
			histories[i] = slices.Clone(histories[i])
			for j := range histories[i] {
				histories[i][j] = onClock(histories[i][j], func(t time.Time) time.Time {
					return r.Writing.Moment(t, now, ahead)
				})
			}
		}
		return histories
	}
	return RecordOf(&taint.Node{
		UID: r.UID, Version: r.Version, Taints: read(r.Taints),
		Triggers: read(r.Triggers),
	}, now)
}

// onClock returns the state with its times converted to another clock.
func onClock(s taint.State, convert func(time.Time) time.Time) taint.State {
	s.Since = convert(s.Since)
	if !s.Relisted.IsZero() {
		s.Relisted = convert(s.Relisted)
	}
	return s
}

// GuardsOf returns the record of guards and holds at this moment, with wall times.
func GuardsOf(r guard.Record, now time.Time) guard.Record {
	return r.Converted(func(t time.Time) time.Time { return wallTime(t, now, now.Sub(t)) })
}

// Guards returns a record that this writing contains, on the monotonic clock of this process; see [Writing.Moment].
func (w *Writing) Guards(r guard.Record, now time.Time, ahead time.Duration) guard.Record {
	return r.Converted(func(t time.Time) time.Time { return w.Moment(t, now, ahead) })
}

func wallTimes(histories []taint.History, now time.Time) []taint.History {
	if len(histories) == 0 {
		return nil
	}
	taints := make([]taint.History, len(histories))
	for i, history := range histories {
		taints[i] = slices.Clone(history)
		for j, s := range history {
			taints[i][j] = onClock(s, func(t time.Time) time.Time { return wallTime(t, now, now.Sub(t)) })
			taints[i][j].To = ""
			if j > 0 && taints[i][j].Since.Before(taints[i][j-1].Since) {
				taints[i][j].Since = taints[i][j-1].Since
			}
		}
	}
	return taints
}

// wallTime returns the time that lies age before now, by the wall clock as it is set at this moment. If that clock was
// set since then, the time that it showed then would be wrong for readers of the record, and too old if the clock was
// set forward. The result is rounded up then, so that it is the same at each call. The two clocks are not read at the
// very same moment, hence the tolerance.
func wallTime(then, now time.Time, age time.Duration) time.Time {
	shown, wall := then.Round(0), now.Round(0).Add(-age)
	if off := wall.Sub(shown); off > -time.Second && off < 10*time.Millisecond {
		return shown.UTC()
	}
	return NextSecond(wall).UTC()
}
