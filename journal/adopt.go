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

// Adopt is what is known after a record of the node was read, and whether that is anything new. What this
// process has seen stays beside what it was told. Nothing is told of a taint
//
//   - by the record of a node with another UID, or without that taint;
//   - that this process has seen to appear, when the record's writer had not seen as much of the node,
//     or that can't be told; nor, likewise, of one that it has seen the node without;
//   - when the record's writer has begun later, and has seen nothing that this process has seen, or tells of
//     another life of the taint, which this process is still to see;
//   - that was found after a gap, and after the record, when its timeAdded shows that it is another one;
//   - of which a writer has told who had seen more.
//
// A record's age is counted by its writer's clock up to the writing, and from there on by the monotonic clock of this
// process, where it received that writing. Where it found the record, the time since then is by the wall clocks; the
// first writing that it receives converts the record once more. All times are clamped to the node's life.
func (k NodeHistory) Adopt(r Record, now AdoptParams) (NodeHistory, bool) {
	if r.UID != now.UID {
		return k, false
	}
	lives := slices.Clone(k.presences)
	changed := false
	for i := range lives {
		theirs := find(r.Taints, &lives[i].seen[0].Taint)
		if theirs == nil {
			continue
		}
		if told, isNew := lives[i].after(theirs, &r, &now); isNew {
			lives[i], changed = told, true
		}
	}
	if !changed {
		return k, false
	}
	return historyOf(lives, now.Version, now.Distinguishes), true
}

// after is the life after the record has told this of it; false when nothing is to be told, or nothing new.
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

// overlaps says whether what was told begins no later than what was seen, or any state seen is among those told. Where
// states seen were lost, it may have been one of these.
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

// reachedBy says whether who has seen the node up to this version may have seen this life.
func (l *presence) reachedBy(version string) bool {
	if l.found == nil {
		return reaches(version, l.from)
	}
	return l.absent == "" || isNewer(version, l.absent)
}
