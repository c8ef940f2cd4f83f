package oracle

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Record is what a process has written down of a node: the oracle's side of it.
type Record struct {
	node        string
	uid         types.UID
	version     int64
	lives       []*life
	least, most time.Duration // offsets of the writer's wall clock
}

// Recorded is what the process writes down of a node now.
func (p *Process) Recorded(node string) Record {
	k := p.node(node)
	r := Record{node: node, uid: k.node.UID, version: k.changed, least: p.least, most: p.most}
	for _, l := range k.lives {
		r.lives = append(r.lives, l.copied(0))
	}
	return r
}

// Adopted says that the process has read a record. That it was written proves nothing more than it says: a
// swap of not-ready and unreachable that is not in it was not seen by its writer.
func (p *Process) Adopted(at time.Duration, r Record) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	v := p.view(at, FirstListed)
	v.forward = max(v.forward, r.most, -r.least)
	for i, own := range k.lives {
		if theirs := lifeIn(r.lives, own.group); theirs != nil && r.version > own.absentAt {
			theirs = theirs.copied(p.between(r))
			theirs.widen(far, v.creation(k.node))
			k.lives[i] = p.adopt(own, theirs, k, v, r.version)
			p.count(k.lives[i], k)
		}
	}
}

// creation is since when the node is there, by the process's clock. Section 7: "a record is clamped to
// [node's creation, now]": so where that clock is behind, a time may become later.
func (v *view) creation(n *v1.Node) time.Duration {
	return v.nextSecond(n.CreationTimestamp.Unix()) - time.Second - v.offset
}

// between is by how much the writer's clock and the reader's may differ: times move from one to the
// other as wall times. A writer whose clock was set rounds them up to whole seconds.
func (p *Process) between(r Record) time.Duration {
	differ := max(p.offset-r.least, r.most-p.offset)
	if r.least != r.most {
		differ += time.Second
	}
	return differ
}

// adopt is what a process may know of a taint after it has read a record whose writer may have seen this very
// life of it. The program lets a record win over what was seen here, so that all replicas have one deadline.
func (p *Process) adopt(own, theirs *life, k *known, v *view, version int64) *life {
	if !own.found || own.doubted {
		own.join(theirs, version)
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
	theirs.absentAt, theirs.told = own.absentAt, version
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
	l.told = max(l.told, version)
	l.heard = append(append(l.heard, other.states...), other.heard...)
	l.total += other.total
	l.dropped = l.dropped || other.dropped || l.total > kept
}

// tellsMore says whether it has states that the other one has not: they may be borne, so that an exposure begins
// after them.
func (l *life) tellsMore(than *life) bool {
	return slices.ContainsFunc(l.states, func(s state) bool {
		return !slices.ContainsFunc(than.states, func(t state) bool { return t.key == s.key && t.value == s.value })
	})
}

// carryOn lets the life of a record of this version go on from that look of the process's own one on: it knows the taints as they were shown to
// it, and what it saw appear itself may count from then.
func (l *life) carryOn(own *life, last int, version int64) {
	shift, now := l.looks-1-last, l.at(l.looks-1)
	for i := range own.states {
		s := own.states[i]
		if s.to != standing {
			s.to += shift
		}
		switch s.from += shift; {
		case s.from >= l.looks:
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
