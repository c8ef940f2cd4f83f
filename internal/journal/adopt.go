package journal

import (
	"slices"

	"github.com/taint-manager/taint-manager/taint"
)

// after merges the recorded states theirs of the record r into the presence; it reports false if nothing changes. They
// replace the states of an earlier writing. An earlier writing of a later version of the node was undone: its states
// are dropped even if the record is not used. If theirs is empty, the record's writer may not have seen the taint yet;
// then only states of a writing that disagrees are dropped.
func (p presence) after(theirs taint.History, r *Record, now *Observation) (presence, bool) {
	version, before := r.Version, &p.recorded.writing
	if len(theirs) == 0 {
		undone := len(p.recorded.states) > 0 && !before.agrees(&r.Writing)
		if undone {
			p.recorded = recorded{}
		}
		return p, undone
	}
	theirs = sorted(slices.Clone(theirs))
	if p.recorded.version == version && unchangedHistory(p.recorded.read, theirs) &&
		(before.live() || !r.Writing.live()) && before.agrees(&r.Writing) {
		return p, false
	}
	next := p
	next.recorded = recorded{
		states: p.recorded.converted(theirs, &r.Writing, now), read: theirs, version: version,
		writing: r.Writing, relisted: p.relisted,
	}
	if p.reachedBy(version) && !next.foundAnew(now) && next.overlaps(now.Version) {
		return next, true
	}
	undone := IsNewer(p.recorded.version, version)
	if undone {
		p.recorded = recorded{}
	}
	return p, undone
}

// foundAnew reports whether the taints that were found after a gap differ from the recorded taints. They do not if the
// record's writer has seen the found taints.
func (p *presence) foundAnew(now *Observation) bool {
	found := *now
	found.Taints = p.found
	return p.found != nil && !reaches(p.recorded.version, p.from) && renewed(p.recorded.states, &found)
}

// overlaps reports whether the recorded states begin no later than the observed ones, or any observed state is among
// the recorded states. If observed states were dropped, a dropped state may have been. If the record's writer has seen
// the taint appear, the states before are of a presence that ended in a gap of this process's watch.
func (p *presence) overlaps(lastVersion string) bool {
	appeared := len(p.recorded.states) > 0 && !p.recorded.states[0].FoundInList
	if (p.shortened || appeared) && !IsNewer(p.recorded.version, lastVersion) {
		return true
	}
	if slices.ContainsFunc(p.recorded.states, func(s taint.State) bool { return !IsNewer(s.From, p.from) }) {
		return true
	}
	for i := range p.seen {
		if p.among(i, lastVersion) >= 0 {
			return true
		}
	}
	return false
}

// reachedBy reports whether a process that has observed the node up to this version may have seen this presence.
func (p *presence) reachedBy(version string) bool {
	if p.found == nil {
		return reaches(version, p.from)
	}
	return p.absent == "" || IsNewer(version, p.absent)
}
