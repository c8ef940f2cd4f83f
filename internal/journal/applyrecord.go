package journal

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// ApplyRecord returns the history of the node with this UID, with starts from record r, and whether it changed for
// readers. A taint takes a start only if a LIST showed it first (the process's first one, or one after a watch gap), if
// the LIST shows a recorded state (see explainedBy), and unless the taint was set again after the writer last watched.
// The caller must have seen the record's version of the node. No start is before the node's creation.
func (n NodeHistory) ApplyRecord(uid types.UID, r Record, from Viewpoint) (NodeHistory, bool) {
	if r.UID != uid {
		return n, false
	}
	next, changed := n, false
	next.presences = slices.Clone(n.presences)
	for i := range next.presences {
		p := next.presences[i].applyRecord(&r, &from)
		changed = changed || !equalStates(next.presences[i].states, p.states)
		next.presences[i] = p
	}
	if IsNewer(r.Version, n.version) {
		next.version = r.Version
	}
	return next, changed
}

// applyRecord returns the presence (a taint's uninterrupted stay) with the record's states; unchanged if none applies.
func (p *presence) applyRecord(r *Record, from *Viewpoint) presence {
	recorded := from.toLocal(slices.DeleteFunc(slices.Clone(r.find(&p.states[0].Taint)), func(s TaintState) bool {
		return p.role == audited || from.Keys.roleOf(&s.Taint) != p.role
	}), p.earliest(from))
	for _, list := range p.lists {
		last := list.explainedBy(recorded, r.Version)
		if last < 0 {
			continue
		}
		start := func(s *TaintState) time.Time { return s.Start }
		seen := lastSeen{recorded, start, from.Watched, skew.NextSecond, r.List}
		if !Reaches(from.Reached, list.version) && !Reaches(r.Version, list.version) && seen.differs(list) {
			return p.setAgain(list, from, &recorded[len(recorded)-1])
		}
		states := bound(list.continuing(recorded[:last+1], p.states), from.Distinguishes)
		return presence{role: p.role, states: states, lists: p.lists, recorded: true}
	}
	return *p
}

// earliest returns the earliest possible start of a recorded state: when this process saw the taint appear or, if the
// process found the taint in a list, the node's creation.
func (p *presence) earliest(from *Viewpoint) time.Time {
	if n := len(p.lists); n > 0 && !p.lists[n-1].first {
		return p.states[0].Since
	}
	return from.At.ToLocal(from.Created)
}

// toLocal returns recorded states with their times on the monotonic clock of this process. No start is before the
// parameter least.
func (v *Viewpoint) toLocal(states []TaintState, least time.Time) []TaintState {
	for i := range states {
		s := &states[i]
		s.Since = slices.MaxFunc([]time.Time{v.At.ToLocal(s.Start), least}, time.Time.Compare)
		if !s.Listed.IsZero() {
			s.Relisted = v.At.ToLocal(s.Listed)
		}
	}
	return states
}

// explainedBy returns the index of the last recorded state that the list shows, or -1. If the list is the first to show
// the presence, the state must have begun after this process last saw the node, if it ever did. In a later list, it
// must have begun in the watch gap before the list, after the record's writer saw the node without it. Not-ready and
// unreachable count as one taint, but the state began no later than the list.
func (l *listing) explainedBy(recorded []TaintState, recordVersion string) int {
	last := l.lastOf(recorded, recordVersion)
	if last < 0 && len(recorded) > 0 && taint.ReportsOutage(recorded[0].Key) {
		last = len(recorded) - 1
		for last >= 0 && IsNewer(recorded[last].From, l.version) {
			last--
		}
	}
	switch {
	case last < 0, !l.first && recorded[last].Found && recorded[last].Listed.IsZero():
		return -1
	case l.first && l.before == "", IsNewer(recorded[last].From, l.before):
		return last
	}
	return -1
}

// lastOf returns the index of the last recorded state that the list shows: its taint is in the list, and it began at
// the list's version or earlier, and had not ended before. If there is none, it returns that of the earliest state
// whose taint is in the list, and which the writer first saw in a LIST. -1 means none.
func (l *listing) lastOf(recorded []TaintState, recordVersion string) int {
	first := -1
	for i := len(recorded) - 1; i >= 0; i-- {
		s := &recorded[i]
		switch {
		case present(l.taints, &s.Taint) == nil, s.Ended && !IsNewer(recordVersion, l.version):
		case !IsNewer(s.From, l.version):
			return i
		case s.Found:
			first = i
		}
	}
	return first
}

// continuing returns the recorded states, marked Ended if no longer on the node, then this process's others. What
// this process saw appear at the recorded version, or knew before the writer found it, replaces the recorded state.
// Invariant: each state began no later than the next one, and each recorded one no later than the list.
func (l *listing) continuing(recorded, own []TaintState) []TaintState {
	states, own, latest := slices.Clone(recorded), slices.Clone(own), l.at
	for i := len(states) - 1; i >= 0; i-- {
		s := &states[i]
		if !s.Ended {
			s.Ended, s.To = true, l.version // at the latest
		}
		if j := l.indexOf(own, recorded, i); j >= 0 {
			o := &own[j]
			s.Ended, s.To, s.Taint = o.Ended, o.To, o.Taint
			if o.Relisted.After(s.Relisted) {
				s.Relisted, s.Listed = o.Relisted, o.Listed
			}
			if !o.Found && o.From == s.From || IsNewer(s.From, l.version) && o.Since.Before(s.Since) {
				*s = *o
			}
			own = slices.Delete(own, j, j+1)
		}
		latest = slices.MinFunc([]time.Time{s.Since, latest}, time.Time.Compare)
		s.Since = latest
	}
	states = append(states, slices.DeleteFunc(own, func(o TaintState) bool { // those that ended before the gap
		return o.Ended && o.From != l.version && !IsNewer(o.From, l.version) && !IsNewer(o.From, l.before)
	})...)
	for i := 1; i < len(states); i++ {
		states[i].Since = slices.MaxFunc([]time.Time{states[i-1].Since, states[i].Since}, time.Time.Compare)
	}
	covered := func(s TaintState) bool { return s.Ended && s.To == l.version && Reaches(s.From, s.To) }
	return dropCovered(slices.DeleteFunc(states, covered))
}

// indexOf returns the index of this process's own state that equals recorded state i, or -1: the one that began at the
// same version, or else the last with the same taint that began no later than the list and equals no other.
func (l *listing) indexOf(own, recorded []TaintState, i int) int {
	last := -1
	for j := range own {
		switch o := &own[j]; {
		case IsNewer(o.From, l.version):
		case o.From == recorded[i].From && o.Key == recorded[i].Key: // perhaps joined with later values since
			return j
		case same(&o.Taint, &recorded[i].Taint) &&
			!slices.ContainsFunc(recorded, func(r TaintState) bool { return r.From == o.From && r.Key == o.Key }):
			last = j
		}
	}
	return last
}

// setAgain returns the presence of taints that were set again after a record's writer last watched: a taint without
// timeAdded began at the later write that managedFields show.
func (p *presence) setAgain(l *listing, from *Viewpoint, recorded *TaintState) presence {
	next, write := *p, skew.NextSecond(l.written).UTC()
	next.states = slices.Clone(p.states)
	since, start := recorded.orLater(from.At.Timestamp(l.written), write, from.At)
	for i := range next.states {
		s := &next.states[i]
		if s.Found && s.From == l.version && s.TimeAdded == nil && write.After(from.Watched) && since.Before(s.Since) {
			s.Since, s.Start = since, start
		}
	}
	return next
}

// orLater returns a start by both clocks, or this state's if it is later: what is set again is set no earlier. A start
// in the future was recorded by a clock that was ahead, and does not count.
func (s *TaintState) orLater(since, start time.Time, at skew.Instant) (time.Time, time.Time) {
	latest := func(a, b time.Time) time.Time { return slices.MaxFunc([]time.Time{a, b}, time.Time.Compare) }
	if s.Start.Before(at.Late(at.Time)) {
		start = latest(s.Start, start)
	}
	return latest(s.Since, since), start
}
