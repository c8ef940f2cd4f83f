package journal

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
)

// Explain returns the history of the node with this UID with the starts of a record of it, and reports whether that
// changes it. A record only explains what this process has found in a list, the first one or one after a gap of its
// watch: a taint that it has seen appear keeps its time. The record is not used for a taint
//
//   - if the record is of a node with another UID;
//   - if the record lacks the taint with the value that was found, or that value had ended before (not-ready and
//     unreachable count as one taint with two values);
//   - if this process has seen the node later than the recorded state began, without that state;
//   - if timeAdded or managedFields show that the taint was set again after the writer last watched.
//
// The node must have reached the version of the record. Starts are not before the node's creation.
func (n NodeHistory) Explain(uid types.UID, r Record, now Look) (NodeHistory, bool) {
	if r.UID != uid {
		return n, false
	}
	next, changed := n, false
	next.presences = slices.Clone(n.presences)
	for i := range next.presences {
		p := &next.presences[i]
		if p.role == audited {
			continue
		}
		explained, ok := p.explained(&r, &now)
		changed = changed || ok && !equalStates(p.states, explained.states)
		*p = explained // also if only starts are recorded as they were read
	}
	if IsNewer(r.Version, n.version) {
		next.version = r.Version
	}
	return next, changed
}

// entered returns recorded states with their times on the monotonic clock of this process, in their order, and not
// before the node's creation.
func (l *Look) entered(states []TaintState) []TaintState {
	least := l.At.Add(-max(l.At.Sub(l.At.Enter(l.Created)), 0))
	for i := range states {
		s := &states[i]
		if s.Since = l.At.Enter(s.Start); s.Since.Before(least) {
			s.Since = least
		}
		least = s.Since
		if !s.Listed.IsZero() {
			s.Relisted = l.At.Enter(s.Listed)
		}
	}
	return states
}

// explained returns the presence as the record explains it, or unchanged and false if it does not. What a list after a
// gap has shown is explained by a state that began in the gap, after the writer had seen the node without it.
func (p *presence) explained(r *Record, now *Look) (presence, bool) {
	theirs := slices.DeleteFunc(slices.Clone(r.find(&p.states[0].Taint)), func(s TaintState) bool {
		return now.Keys.roleOf(&s.Taint) != p.role
	})
	theirs = now.entered(theirs)
	for _, again := range p.again {
		last := again.lastOf(theirs, r.Version)
		if last >= 0 && theirs[last].afterAbsence() && IsNewer(theirs[last].From, again.before) {
			return p.explainedBy(again, theirs, last, r, now), true
		}
	}
	if p.found == nil {
		return *p, false
	}
	last := p.found.lastOf(theirs, r.Version)
	if last < 0 && len(theirs) > 0 && taint.ReportsOutage(theirs[0].Taint.Key) {
		last = len(theirs) - 1 // the two of the pair count as one taint
	}
	if last < 0 || p.found.before != "" && !IsNewer(theirs[last].From, p.found.before) {
		return *p, false
	}
	return p.explainedBy(p.found, theirs, last, r, now), true
}

// explainedBy returns the presence with the recorded states theirs up to the last one that was found in the list,
// followed by the states that this process has seen since.
func (p *presence) explainedBy(found *finding, theirs []TaintState, last int, r *Record, now *Look) presence {
	if !Reaches(now.Reached, found.version) && !Reaches(r.Version, found.version) {
		if now.byRecord(theirs, r.List).differs(found.taints, found.list, found.written) {
			return p.setAgain(found, now)
		}
	}
	explained := *p
	explained.states, explained.recorded = found.continuing(theirs[:last+1], p.states), true
	explained.states = bound(explained.states, now.Distinguishes)
	return explained
}

// lastOf returns the index of the last recorded state that was found: it has the same taint, began by the version at
// which it was found, and had not ended before it. If there is none, it is the first with that taint that a list has
// shown to the writer. -1 means that no state was found. The argument recorded is the version of the record.
func (f *finding) lastOf(theirs []TaintState, recorded string) int {
	first := -1
	for i := len(theirs) - 1; i >= 0; i-- {
		s := &theirs[i]
		switch {
		case present(f.taints, &s.Taint) == nil:
		case s.Ended && !IsNewer(recorded, f.version): // what was found is a later taint with the same value
		case !IsNewer(s.From, f.version):
			return i
		case s.Found:
			first = i
		}
	}
	return first
}

// continuing returns the recorded states, of which those that are not on the node have ended, followed by the states
// that this process has found and that are not among them, or has seen appear since. What was found had begun by then.
func (f *finding) continuing(theirs, own []TaintState) []TaintState {
	states, own := slices.Clone(theirs), slices.Clone(own)
	for i := len(states) - 1; i >= 0; i-- {
		s := &states[i]
		if !s.Ended {
			s.Ended, s.To = true, f.version // at the latest
		}
		if s.Since.After(f.at) {
			s.Since = f.at
		}
		for j := len(own) - 1; j >= 0; j-- {
			if o := &own[j]; same(&o.Taint, &s.Taint) && !IsNewer(o.From, f.version) {
				s.Ended, s.To, s.TimeAdded = o.Ended, o.To, o.TimeAdded
				if o.Relisted.After(s.Relisted) {
					s.Relisted, s.Listed = o.Relisted, o.Listed
				}
				own = slices.Delete(own, j, j+1)
				break
			}
		}
	}
	return dropCovered(append(states, slices.DeleteFunc(own, func(o TaintState) bool {
		return o.From != f.version && !IsNewer(o.From, f.version) // it began before the gap
	})...))
}

// setAgain returns the presence if it was set again after the writer of a record last watched: taints without timeAdded
// began when managedFields say that they were written.
func (p *presence) setAgain(found *finding, now *Look) presence {
	next := *p
	next.states = slices.Clone(p.states)
	for i := range next.states {
		s := &next.states[i]
		since, start := now.At.Timestamp(found.written), skew.NextSecond(found.written).UTC()
		listed := s.Found && s.From == found.version
		if listed && s.Taint.TimeAdded == nil && since.Before(s.Since) && start.After(now.Watched) {
			s.Since, s.Start = since, start
		}
	}
	return next
}
