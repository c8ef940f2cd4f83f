package oracle

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is what a process has written down of a node: the oracle's side of it.
type Record struct {
	node    string
	uid     types.UID
	version int64
	lives   []*life
	written time.Duration
	ahead   time.Duration // by how much the writer's wall clock was ahead of the API server's
	set     bool          // it was set before
}

// Adoption is how a process has come by a record.
type Adoption struct {
	// At is when it took the record in.
	At time.Duration

	// Stored is when the API server stored it.
	Stored time.Duration

	// Received is when the process received it, if it watched the partition change.
	Received time.Duration
	Watched  bool
}

// Recorded is what the process writes down of a node now, and up to which version of it: it was shown the taints as
// they are at that version, and no record that it has taken over tells of a later one that it was shown.
func (p *Process) Recorded(at time.Duration, node, version string) (Record, error) {
	k := p.node(node)
	r := Record{node: node, uid: k.node.UID, version: number(version), written: at, ahead: p.ahead(at), set: p.set}
	least := k.changed
	for _, l := range k.lives {
		r.lives = append(r.lives, l.copied(skew{}))
		if l.taken && l.told <= k.version {
			least = max(least, l.told)
		}
	}
	if r.version < least || r.version > k.version {
		return r, violation(Records, "%s records node %s at version %d, and knows its taints from %d up to %d", p.Name, node, r.version, least, k.version)
	}
	return r, nil
}

// Adopted says that the process has read a record. That it was written proves nothing more than it says: a
// swap of not-ready and unreachable that is not in it was not seen by its writer.
func (p *Process) Adopted(how Adoption, r Record) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	v := p.view(how.At, FirstListed)
	for i, own := range k.lives {
		if theirs := lifeIn(r.lives, own.group); theirs != nil && r.version > own.absentAt {
			by := v.between(&how, &r)
			if how.Watched {
				own.late = max(own.late, by.hi)
			}
			theirs = theirs.copied(skew{by.lo, max(by.hi, own.late)})
			theirs.late = own.late
			theirs.widen(far, v.creation(k.node))
			theirs.clamp(how.At)
			k.lives[i] = p.adopt(own, theirs, k, v, r.version)
			p.count(k.lives[i], k)
		}
	}
}

// clamp lets no state begin later than this.
func (l *life) clamp(latest time.Duration) {
	for i := range l.states {
		s := &l.states[i]
		s.lo, s.hi = min(s.lo, latest), min(s.hi, latest)
	}
}

// creation is since when the node is there, by the process's clock. Section 7: "a record is clamped to
// [node's creation, now]": so where that clock is behind, a time may become later.
func (v *view) creation(n *v1.Node) time.Duration {
	return v.moment(n.CreationTimestamp.Unix()).hi - time.Second
}

// between bounds by how much later the times of a record count for its reader. Where it watched the partition change, they
// are as old as they were when it was written, so they are later by as much as the writing was on its way. Where it
// found the partition so, see found. A writer whose clock was set rounds them up to whole seconds.
func (v *view) between(how *Adoption, r *Record) (by skew) {
	if how.Watched {
		by.hi = how.Received - r.written
	} else {
		by = v.found(r.ahead, how.Stored-r.written)
	}
	if r.set {
		by.lo -= 10 * time.Millisecond
		by.hi += time.Second
	}
	return by
}

// found is the skew of a record that was found on a partition: as much as the wall clocks of writer and reader are apart,
// unless the API server's time of the writing, which counts like all times of the API, says that this is more than 2 s.
func (v *view) found(writerAhead, took time.Duration) (by skew) {
	const tolerance, margin = 2 * time.Second, 100 * time.Millisecond
	byWriter, byServer := writerAhead-v.ahead, skew{v.skew.lo, v.skew.hi + took + time.Second}
	least, most := byServer.lo-byWriter, byServer.hi-byWriter
	switch {
	case least > -tolerance+margin && most < tolerance-margin:
		return skew{byWriter, byWriter}
	case most < -tolerance-margin || least > tolerance+margin:
		return byServer
	}
	return skew{min(byServer.lo, byWriter), max(byServer.hi, byWriter)}
}

// adopt is what a process may know of a taint after it has read a record whose writer may have seen this very
// life of it. The program lets a record win over what was seen here, so that all replicas have one deadline.
func (p *Process) adopt(own, theirs *life, k *known, v *view, version int64) *life {
	if !own.found || own.doubted {
		isNew := version > own.told
		own.join(theirs, version)
		own.taken = own.taken || isNew && !own.doubted && version <= k.version
		return own
	}
	return p.adoptFound(own, theirs, k, v, version)
}

// adoptFound is for a taint that was found after a gap: it counts from the record. "Wall times are converted once,
// on entry": so a record that is read again may count as it did.
func (p *Process) adoptFound(own, theirs *life, k *known, v *view, version int64) *life {
	may, must := theirs.continues(own.foundAs, v)
	if version >= own.foundAt {
		may, must = true, must || theirs.total <= kept // its writer had seen what was found
	}
	if !may {
		return own
	}
	// "A record whose writer has seen less than that of the last one is passed over."
	if version < own.told {
		if !own.taken {
			own.join(theirs, version)
		}
		return own
	}
	if p.oracle.nodes[k.node.UID].broken(version, k.version, own.group) {
		p.oracle.Seen.OneByException++
		theirs.bridged = true
	}
	last := max(own.lookAt(version), 0)
	if !must || version > k.changed || version == own.told || !sameStates(own.at(last), theirs.at(theirs.looks-1)) {
		own.join(theirs, version)
		return own
	}
	theirs.carryOn(own, last, version)
	theirs.found, theirs.foundAs, theirs.foundBy, theirs.foundAt = own.found, own.foundAs, own.foundBy, own.foundAt
	theirs.absentAt, theirs.told, theirs.taken = own.absentAt, version, true
	p.oracle.Seen.TakenOver++
	return theirs
}

// join lets the life be this one or that one, of a record that knew the node up to the version.
func (l *life) join(other *life, version int64) {
	latest := other.latest()
	if l.found || other.tellsMore(l) {
		latest = max(latest, l.latest(), l.foundBy)
	}
	l.widen(other.earliest(), latest)
	if version > l.told {
		l.told, l.taken = version, false
	}
	l.heard = together(l.heard, other.states, other.heard)
	l.total += other.total
	l.dropped = l.dropped || other.dropped || l.total > kept
}

// together are all these states: those of one taint with one timeAdded as one that is as wide as they are. Processes read
// each other's records again and again.
func together(lists ...[]state) (all []state) {
	for i := range lists {
		for _, s := range lists[i] {
			j := slices.IndexFunc(all, func(o state) bool { return o.key == s.key && o.value == s.value && same(o.added, s.added) })
			if j < 0 {
				all = append(all, s)
				continue
			}
			all[j].lo, all[j].hi = min(all[j].lo, s.lo), max(all[j].hi, s.hi)
		}
	}
	return all
}

// tellsMore says whether it has states that the other one has not: they may be borne, so that an exposure begins
// after them.
func (l *life) tellsMore(than *life) bool {
	return slices.ContainsFunc(l.states, func(s state) bool {
		return !slices.ContainsFunc(than.states, func(t state) bool { return t.key == s.key && t.value == s.value })
	})
}

// carryOn lets the life of a record of this version go on from that look of the process's own one on: it knows the taints as they were shown to
// it, and what it saw appear itself may count from then. States are in the order in which they began: what it has found
// in a list since may count from as late as what the record tells.
func (l *life) carryOn(own *life, last int, version int64) {
	shift, now, latest := l.looks-1-last, l.at(l.looks-1), l.latest()
	for i := range own.states {
		s := own.states[i]
		if s.to != standing {
			s.to += shift
		}
		switch s.from += shift; {
		case s.from >= l.looks:
			if !s.seen {
				s.hi = max(s.hi, latest)
			}
			l.states = append(l.states, s)
			l.total++
		case s.to >= l.looks:
			same := like(now, &own.states[i])
			same.to, same.added = s.to, s.added
			if s.seen {
				same.lo, same.hi, same.seen = min(same.lo, s.lo), max(same.hi, s.hi), true
			}
		}
	}
	l.shown[l.looks-1] = min(version, own.shown[last])
	l.shown = append(l.shown, own.shown[last+1:]...)
	l.looks += own.looks - 1 - last
	l.dropped = l.dropped || own.dropped
}
