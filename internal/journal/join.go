package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// recorded is the history that a record holds.
type recorded struct {
	states  taint.History // on the clock of this process
	read    taint.History // as it was read
	version string        // of the node when the record's writer last saw its taints change
	writing Writing       // that contained it

	// relisted is the presence's relisted when a record of this version was first adopted. Later lists must not move a
	// state that began again.
	relisted time.Time
}

// after returns the presence after the record r, which has the states theirs of it, and reports whether that changes
// anything. What earlier records said no longer counts. Only if this record has no states, which may mean that its
// writer has not seen the taint yet, earlier records count on, unless their writings were undone.
func (p presence) after(theirs taint.History, r *Record, now *Observation) (presence, bool) {
	before, next := p.recorded, recorded{}
	if len(theirs) == 0 && before.writing.agrees(&r.Writing) {
		return p, false
	}
	if len(theirs) > 0 && p.reachedBy(r.Version) && !IsNewer(r.Version, now.Version) {
		theirs = sorted(slices.Clone(theirs))
		if before.has(theirs, r) {
			return p, false
		}
		next = recorded{
			states: before.converted(theirs, &r.Writing, now), read: theirs, version: r.Version,
			writing: r.Writing, relisted: p.relisted,
		}
		if before.version == r.Version {
			next.relisted = before.relisted
		}
		if p.foundAfter(&next, now) {
			next = recorded{}
		}
	}
	p.recorded = next
	return p, len(before.states)+len(next.states) > 0
}

// has reports whether the states of a later record are the same, and its writing gives no better times.
func (r *recorded) has(theirs taint.History, later *Record) bool {
	return r.version == later.Version && unchangedHistory(r.read, theirs) &&
		(r.writing.live() || !later.Writing.live()) && r.writing.agrees(&later.Writing)
}

// reachedBy reports whether a process that has observed the node up to this version may have seen this presence.
func (p *presence) reachedBy(version string) bool {
	if p.found == nil {
		return reaches(version, p.from)
	}
	return p.absent == "" || IsNewer(version, p.absent)
}

// foundAfter reports whether the taints that were found after a gap are of a later presence than the recorded taints.
// They are not if the record's writer has seen the found taints.
func (p *presence) foundAfter(r *recorded, now *Observation) bool {
	found := *now
	found.Taints = p.found
	return p.found != nil && !reaches(r.version, p.from) && renewed(r.states, &found)
}

// joined returns the recorded states of a presence, continued by the observed states. A record is complete up to its
// version of the node. What is later than that, this process has observed itself.
func (p *presence) joined(apart func(a, b *v1.Taint) bool) taint.History {
	all, own := slices.Clone(p.recorded.states), taint.History{}
	open := p.standing(all)
	for _, state := range p.seen {
		begunBefore := reaches(p.recorded.version, state.From)
		i := slices.IndexFunc(open, func(s *taint.State) bool { return same(&s.Taint, &state.Taint) })
		switch {
		case i >= 0 && (begunBefore || state.FoundInList) && !reaches(p.recorded.version, state.To):
			continueAs(open[i], &state)
			open = slices.Delete(open, i, i+1)
		case begunBefore && state.Ended: // the record has it
		case begunBefore && p.recorded.relisted.After(state.Since): // it ended, and began again in a gap of the watch
			state.Since, state.Relisted, state.FoundInList = p.recorded.relisted, p.recorded.relisted, true
			own = append(own, state)
		default:
			own = append(own, state)
		}
	}
	return bound(dropCovered(sorted(inOrder(all, own))), apart)
}

// standing returns those of the recorded states that stood at the record's version. They count as ended from then on,
// at the first observation at the latest, unless an observed state continues them.
func (p *presence) standing(states taint.History) (standing []*taint.State) {
	for i := range states {
		if s := &states[i]; !s.Ended {
			standing = append(standing, s)
			s.Ended = true
			if IsNewer(p.from, p.recorded.version) {
				s.To = p.from
			}
		}
	}
	return standing
}

// continueAs updates a recorded state by the observed state that continues it.
func continueAs(recorded, seen *taint.State) {
	recorded.Ended, recorded.To, recorded.Taint.TimeAdded = seen.Ended, seen.To, seen.Taint.TimeAdded
	if seen.Relisted.After(recorded.Relisted) {
		recorded.Relisted = seen.Relisted
	}
}

// inOrder returns the recorded states, which began before the observed states, and the observed states. Because the
// clocks of two processes differ, a recorded state may seem to have begun later. If the beginning of the observed state
// was seen, it counts.
func inOrder(recorded, own taint.History) taint.History {
	for _, state := range own {
		for i := range recorded {
			if !state.FoundInList && state.Since.Before(recorded[i].Since) {
				recorded[i].Since = state.Since
			}
		}
	}
	for i := range own {
		for _, state := range recorded {
			if own[i].Since.Before(state.Since) {
				own[i].Since = state.Since
			}
		}
	}
	return append(recorded, own...)
}
