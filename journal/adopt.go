package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// AdoptParams is the reading of a record, for a node that is there.
type AdoptParams struct {
	// UID and Created are those of the node.
	UID     types.UID
	Created time.Time

	// Version is the node's resourceVersion at the last look.
	Version string

	// At is the moment of the reading. It carries the monotonic clock.
	At time.Time

	// Ahead is as in a [Observation].
	Ahead time.Duration

	// Watched is the last moment at which somebody is known to have watched the node before this
	// process did; zero when nobody is.
	Watched time.Time

	// Distinguishes is as in a [Observation].
	Distinguishes func(a, b *v1.Taint) bool
}

// Adopt returns the history after a record of the node was read, and reports whether it differs. What this process
// has observed is kept beside what records say. A record is not used for a taint
//
//   - if it is of a node with another UID, or does not have that taint;
//   - that this process has seen appear, if the record's writer had not seen as much of the node, or if
//     that cannot be decided; the same holds for a taint that this process has seen the node without;
//   - if its writer began later, and has seen nothing that this process has seen, or if it is about another
//     presence of the taint, which this process has not seen yet;
//   - that was found after a gap, and after the record, if its timeAdded shows that it is another one;
//   - if another record, whose writer had seen more, was adopted for it.
//
// A record's age is counted by its writer's clock up to the writing, and from there on by the monotonic clock of this
// process, where it received that writing. Where it found the record, the time since then is by the wall clocks; the
// first writing that it receives converts the record once more. All times are clamped to the node's presence.
func (k NodeHistory) Adopt(r Record, now AdoptParams) (NodeHistory, bool) {
	if r.UID != now.UID {
		return k, false
	}
	presences := slices.Clone(k.presences)
	changed := false
	for i := range presences {
		theirs := find(r.Taints, &presences[i].seen[0].Taint)
		if theirs == nil {
			continue
		}
		if recorded, isNew := presences[i].after(theirs, &r, &now); isNew {
			presences[i], changed = recorded, true
		}
	}
	if !changed {
		return k, false
	}
	return historyOf(presences, now.Version, now.Distinguishes), true
}

// after merges what a record says into the presence; it reports false if nothing changes.
func (l presence) after(theirs taint.History, r *Record, now *AdoptParams) (presence, bool) {
	version, live := r.Version, r.Writing.live()
	theirs = sorted(slices.Clone(theirs))
	same := l.recorded.version == version && unchangedHistory(l.recorded.read, theirs) && (l.recorded.live || !live)
	if same || isNewer(l.recorded.version, version) || !l.reachedBy(version) {
		return l, false
	}
	l.recorded = recorded{states: l.recorded.converted(theirs, &r.Writing, now), read: theirs, version: version, live: live}
	older := !reaches(version, l.from) // else the record's writer has seen what was found here
	if l.found != nil && older && renewed(l.recorded.states, &Observation{Taints: l.found, At: now.At, Ahead: now.Ahead, Watched: now.Watched}) {
		return l, false
	}
	return l, l.overlaps(now.Version)
}

// overlaps reports whether the recorded states begin no later than those seen, or any state seen is among those
// recorded. If states seen were dropped, it may have been one of these.
func (l *presence) overlaps(looked string) bool {
	if l.shortened && !isNewer(l.recorded.version, looked) {
		return true
	}
	if slices.ContainsFunc(l.recorded.states, func(s taint.State) bool { return !isNewer(s.From, l.from) }) {
		return true
	}
	for i := range l.seen {
		if l.among(i, looked) >= 0 {
			return true
		}
	}
	return false
}

// reachedBy says whether who has seen the node up to this version may have seen this presence.
func (l *presence) reachedBy(version string) bool {
	if l.found == nil {
		return reaches(version, l.from)
	}
	return l.absent == "" || isNewer(version, l.absent)
}
