package journal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// Record is what the journal holds of one tainted node.
type Record struct {
	// UID of the node: a node of the same name and another UID is another node.
	UID types.UID

	// Version is the node's resourceVersion when its writer last saw its taints change, or that of the record that it
	// has taken over; see [NodeHistory.UpTo].
	Version string

	// Taints are the histories as the writer knew them. Their times are wall times.
	Taints []taint.History

	// Writing is the writing of the partition that the record was read from. It is for the partition's store to set.
	Writing Writing
}

// RecordOf is what is to be recorded now of a node. Where times are rounded up, the states stay in their order: a pod may
// bear one of them without a limit, and is exposed anew by the one after it.
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

// wallTime is a moment of this age by the wall clock as it goes now. Where that clock was set meanwhile,
// what it has shown then would be off for whoever reads it, and too old where it was set forward; it is rounded up, so
// that it is the same at each call. The two clocks are not read at the very same moment.
func wallTime(then, now time.Time, age time.Duration) time.Time {
	shown, wall := then.Round(0), now.Round(0).Add(-age)
	if off := wall.Sub(shown); off > -time.Second && off < 10*time.Millisecond {
		return shown.UTC()
	}
	return NextSecond(wall).UTC()
}
