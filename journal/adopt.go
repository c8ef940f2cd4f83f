package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/resourceversion"

	"github.com/taint-manager/taint-manager/taint"
)

// Record is what the journal holds of one tainted node.
type Record struct {
	// UID of the node: a node of the same name and another UID is another node.
	UID types.UID

	// Version is the node's resourceVersion when its writer last saw its taints change.
	Version string

	// Taints are the histories as the writer knew them. Their times are wall times.
	Taints []taint.History
}

// RecordOf is what is to be recorded now of a node.
func RecordOf(n *taint.Node, now time.Time) Record {
	taints := make([]taint.History, len(n.Taints))
	for i, history := range n.Taints {
		taints[i] = slices.Clone(history)
		for j, s := range history {
			taints[i][j].Since = wallTime(s.Since, now, now.Sub(s.Since))
		}
	}
	return Record{UID: n.UID, Version: n.Version, Taints: taints}
}

// wallTime is a moment of this age by the wall clock as it goes now. Where that clock was set meanwhile,
// what it has shown then would be off for whoever reads it; it is rounded up, so that it is the same
// at each call.
func wallTime(then, now time.Time, age time.Duration) time.Time {
	shown, wall := then.Round(0), now.Round(0).Add(-age)
	if off := wall.Sub(shown); off > -time.Second && off < time.Second {
		return shown.UTC()
	}
	return NextSecond(wall).UTC()
}

// Adopt returns the histories of a node's taints, bettered by the journal's record of it. A taint for
// which there is no such record keeps its own history, and so does every taint of a node
//
//   - that the record does not mean, as its UID is another, or
//   - whose taints this process has seen change, while the writer of the record has not, or where that
//     can't be told.
//
// The times of a record are clamped to the node's life, and run on the monotonic clock of now. watched
// is the last moment at which somebody is known to have watched the node before this process did;
// zero when nobody is. What is returned is the node's own slice when nothing changes.
func Adopt(own *taint.Node, r Record, now, watched time.Time) []taint.History {
	if r.UID != own.UID || !own.Listed && !reaches(r.Version, own.Version) {
		return own.Taints
	}
	adopted := make([]taint.History, len(own.Taints))
	for i, history := range own.Taints {
		look := Sighting{Taints: standingOf(history), At: now, Created: own.Created, Gap: own.Listed, Watched: watched}
		known := clamped(find(r.Taints, &history[0].Taint), &look)
		adopted[i] = join(continued(known, &look), history)
	}
	if unchanged(own.Taints, adopted) {
		return own.Taints
	}
	return adopted
}

// reaches says whether one resourceVersion is certainly not older than the other.
func reaches(version, other string) bool {
	order, err := resourceversion.CompareResourceVersion(version, other)
	return err == nil && order >= 0
}

// standingOf are the taints of a history that are on the node.
func standingOf(h taint.History) []v1.Taint {
	taints := make([]v1.Taint, 0, len(h))
	for i := range h {
		if !h[i].Past {
			taints = append(taints, h[i].Taint)
		}
	}
	return taints
}

// clamped is a recorded history with each time within the node's life, on the clock of the look.
func clamped(recorded taint.History, look *Sighting) taint.History {
	history := make(taint.History, len(recorded))
	for i, state := range recorded {
		age := min(max(look.At.Sub(state.Since), 0), max(look.At.Sub(look.Created), 0))
		state.Since = look.At.Add(-age)
		history[i] = state
	}
	return sorted(history)
}

// join is the recorded history carried on by what this process has seen since.
func join(recorded, own taint.History) taint.History {
	if len(recorded) == 0 {
		return own
	}
	taints, last := standingOf(own), recorded[len(recorded)-1].Since
	joined := make(taint.History, 0, len(recorded)+len(own))
	for i := range recorded {
		joined = append(joined, again(recorded[i], taints))
	}
	for i := range own {
		t := &own[i].Taint
		ended := own[i].Past && (standing(recorded, t) || !own[i].Since.After(last))
		if !ended && !standing(joined, t) {
			joined = append(joined, own[i])
		}
	}
	return bound(settle(sorted(joined)), nil)
}
