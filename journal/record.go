package journal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// Record is the journal's entry for one tainted node.
type Record struct {
	// UID of the node: a node with the same name and another UID is another node.
	UID types.UID

	// Version is the node's resourceVersion when the writer last saw its taints change, or that of the record that the
	// writer has adopted; see [NodeHistory.UpTo].
	Version string

	// Taints are the histories that the writer had. Their times are wall times.
	Taints []taint.History

	// Writing is the writing of the partition that contained the record. The partition's store sets it.
	Writing Writing
}

// RecordOf returns the record of a node at this moment. If times are rounded up, the states keep their order: a pod may
// tolerate one of them without a limit, and its exposure begins again with the next one.
func RecordOf(n *taint.Node, now time.Time) Record {
	taints := make([]taint.History, len(n.Taints))
	for i, history := range n.Taints {
		taints[i] = slices.Clone(history)
		for j, s := range history {
			taints[i][j].Since = wallTime(s.Since, now, now.Sub(s.Since))
			taints[i][j].To = ""
			if j > 0 && taints[i][j].Since.Before(taints[i][j-1].Since) {
				taints[i][j].Since = taints[i][j-1].Since
			}
		}
	}
	return Record{UID: n.UID, Version: n.Version, Taints: taints}
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
