package oracle

import (
	"maps"
	"slices"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is the oracle's counterpart of what a process has recorded of a node.
type Record struct {
	node    string
	uid     types.UID
	version int64
	taints  []v1.Taint // of the node, as the writer was shown them last
	lives   []*life
	since   map[string]time.Duration // since when the writer was shown the node with a taint, by the taint's group
}

// IsOf reports whether the record is of this version of the node.
func (r *Record) IsOf(version string) bool { return strconv.FormatInt(r.version, 10) == version }

// Recorded returns what the process records of a node now. It returns an error unless the version is at least that of
// the last change of the taints that the process was shown, and at most the latest version that it was shown.
func (p *Process) Recorded(node, version string) (Record, error) {
	k := p.node(node)
	r := Record{node: node, uid: k.node.UID, version: number(version), taints: k.node.Spec.Taints}
	r.since = maps.Clone(k.since)
	for _, l := range k.lives {
		r.lives = append(r.lives, l.clone())
	}
	if r.version < k.changed || r.version > k.version {
		return r, Broken(Records, "%s records node %s at version %d, and knows its taints from %d up to %d", p.Name,
			node, r.version, k.changed, k.version)
	}
	return r, nil
}

// LastWatch is when a process last watched the nodes.
type LastWatch struct {
	At      time.Duration
	Reached int64
}

// LastWatched returns when the process last watched the nodes.
func (p *Process) LastWatched() LastWatch { return LastWatch{p.watched, p.reached} }

// Explained records that the process has begun a term, and has read the record r of a node; last is when the writer of
// r last watched the nodes. docs/journal.md: a record only explains what the process has found in a list.
func (p *Process) Explained(at time.Duration, r Record, last LastWatch) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	for i, own := range k.lives {
		if theirs := lifeIn(r.lives, own.group); theirs != nil {
			if k.lives[i] = p.explain(own, theirs, k, &r, last, at); k.lives[i].recorded > 0 {
				k.since[own.group] = min(k.since[own.group], r.since[own.group])
			}
		}
	}
}

// explain returns the life after a record of it was read. Where the record may or may not be about this life, the
// bounds cover both cases.
func (p *Process) explain(own, theirs *life, k *nodeView, r *Record, last LastWatch, at time.Duration) *life {
	v := p.view(at, FirstListed)
	created := v.creation(k.node)
	entered := theirs.entered(v.skew, created, at)
	switch {
	case own.foundIn == nil && own.gap == 0: // the process has seen it appear
		return own
	case own.gap > 0 && r.version > own.gap, own.foundIn != nil && own.absentAt > 0 && r.version > own.absentAt:
		own.joinSeen(entered, r.version)
		return own
	case own.foundIn == nil || own.absentAt > 0:
		return own
	}
	taints := own.foundIn.Spec.Taints
	has := slices.ContainsFunc(theirs.states, func(s state) bool { return carries(taints, s.pair) })
	if !has && own.group != v1.TaintNodeUnreachable {
		return own // the value that was found is another one
	}
	found := number(own.foundIn.ResourceVersion)
	v.skew, v.now, v.before = span{0, time.Millisecond}, own.foundIn, r.taints
	v.watched, v.margin, v.reached = last.At, uncertain+p.oracle.Apart+2*time.Millisecond, max(last.Reached, r.version)
	may, must := theirs.entered(span{}, none, Far).continues(of(taints, own.group), v) // as it was recorded
	if !may {
		p.oracle.Seen["Renewed"]++
		own.lowerTo(v)
		return own
	}
	entered = theirs.entered(p.skew(), created, own.foundBy)
	if p.oracle.nodes[k.node.UID].absentAt(r.version, k.version, own.group) > 0 {
		p.oracle.Seen["OneByException"]++
	}
	standing := entered.at(len(entered.shown) - 1)
	if !must || own.doubted || r.version > found || own.recorded > 0 || !sameStates(own.at(0), standing) {
		own.join(entered, r.version)
		if !must {
			own.lowerTo(v)
		}
		return own
	}
	entered.carryOn(own)
	entered.foundIn, entered.foundBy, entered.absentAt = own.foundIn, own.foundBy, own.absentAt
	entered.recorded, entered.gap = r.version, own.gap
	p.oracle.Seen["TakenOver"]++
	return entered
}

// lowerTo lowers the bounds to the time at which managedFields say that the taints were written, which may be too
// early, and which the process records, too.
func (l *life) lowerTo(v *view) {
	if w := written(v.now); w != nil {
		lo := v.moment(w.Unix()).lo
		for i := range l.states {
			s := &l.states[i]
			s.lo, s.recorded.lo = min(s.lo, lo), min(s.recorded.lo, lo-v.skew.lo)
		}
	}
}

// creation returns the node's creation by the process's clock. docs/semantics.md, "When a taint was set": a
// record does not count from before the node's creation. So a start may become later if that clock is behind.
func (v *view) creation(n *v1.Node) time.Duration {
	return v.moment(n.CreationTimestamp.Unix()).hi - time.Second
}

// joinSeen joins the lives. docs/journal.md: a taint that a new leader saw appear keeps that time. So if the
// process knows all states of the record, the record changes no state that the process saw appear. But a record that
// has the first of two joined states replaces both (docs/lab/simulation.md), and one whose writer had read another
// record of the gap may have a state of that one.
func (l *life) joinSeen(other *life, version int64) {
	isNew := func(s state) bool { return !l.has(s.pair, other.shown[s.from]) }
	before, known := *l, (l.gap == 0 || other.recorded <= l.gap) && !slices.ContainsFunc(other.states, isNew)
	before.states = slices.Clone(l.states)
	if l.join(other, version); !known || before.total > kept || other.total > kept {
		return
	}
	l.total, l.dropped = before.total, before.dropped || other.dropped
	for i, s := range before.states {
		if s.seen && other.has(s.pair, l.shown[s.from]) {
			l.states[i] = s
		}
	}
}

// has reports whether the life has a state of this taint that began at that version of the node.
func (l *life) has(p pair, version int64) bool {
	return slices.ContainsFunc(l.states, func(s state) bool { return s.pair == p && l.shown[s.from] == version })
}

// join makes the bounds cover both lives; the other one is from a record that knew the node up to the version.
func (l *life) join(other *life, version int64) {
	own, starts := l.starts(), other.starts()
	if l.foundIn == nil { // the process saw it appear
		starts.lo = max(starts.lo, own.lo)
	}
	starts.hi = max(starts.hi, own.hi)
	for i := range l.states {
		s := &l.states[i]
		s.span = s.covering(starts)
		for j := range other.states {
			s.recorded = s.recorded.covering(other.states[j].recorded)
		}
	}
	l.recorded = max(l.recorded, version)
	l.heard = together(l.heard, other.states, other.heard)
	l.total += other.total
	l.dropped = l.dropped || other.dropped || l.total > kept
}

// together returns all these states. It merges states of one taint with the same timeAdded; the bounds then cover both.
func together(lists ...[]state) (all []state) {
	for i := range lists {
		for _, s := range lists[i] {
			j := slices.IndexFunc(all, func(o state) bool {
				return o.pair == s.pair && o.added.Equal(s.added)
			})
			if j < 0 {
				all = append(all, s)
				continue
			}
			all[j].span = all[j].covering(s.span)
		}
	}
	return all
}

// carryOn continues a recorded life by the process's own life, whose first states are the record's last. States are in
// the order in which they began, so a later state that was found in a list may count from as late as the recorded ones.
func (l *life) carryOn(own *life) {
	steps, latest := len(l.shown), l.starts().hi
	shift, now := steps-1, l.at(steps-1)
	for i := range own.states {
		s := own.states[i]
		if s.to != standing {
			s.to += shift
		}
		switch s.from += shift; {
		case s.from >= steps:
			if !s.seen {
				s.hi = max(s.hi, latest)
			}
			l.states = append(l.states, s)
			l.total++
		case s.to >= steps:
			same := like(now, &own.states[i])
			same.to, same.added = s.to, s.added
		}
	}
	l.shown = append(l.shown, own.shown[1:]...)
	l.dropped = l.dropped || own.dropped
}
