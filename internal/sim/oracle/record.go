package oracle

import (
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

// Adopted says that the process has read a record. written is the last proof in it that somebody
// watched, by the writer's wall clock.
func (p *Process) Adopted(at time.Duration, r Record, written time.Duration) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	v := p.view(at, FirstListed)
	v.watched = written
	v.forward = max(v.forward, r.most, -r.least)
	for i, own := range k.lives {
		if r.version > k.version { // it tells of states that were not shown to the process yet
			own.widen(far, own.latest())
		}
		if theirs := lifeIn(r.lives, own.group); theirs != nil {
			theirs = theirs.copied(p.between(r))
			theirs.widen(far, v.creation(k.node))
			k.lives[i] = p.adopt(own, theirs, k, v, r.version)
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

// adopt is what a process may know of a taint after it has read a record. Section 3: what was "seen to
// appear by this process" comes before a record, and a record before everything else.
func (p *Process) adopt(own, theirs *life, k *known, v *view, version int64) *life {
	strict := p.oracle.Strict
	switch {
	case strict.EachTaint && (own.first || own.found && strict.Relists):
	case strict.EachTaint && strict.OwnSight:
		return own
	case version >= k.changed && (strict.EachTaint || !k.listed):
		// The program lets a record win whose writer has seen as many versions, so that all replicas
		// have one deadline.
		if !strict.OwnSight || own.found || !theirs.bridged {
			own.join(theirs)
		}
		return own
	case strict.EachTaint || !k.listed:
		return own // the program refuses an older record for the whole node
	}
	return p.adoptFound(own, theirs, k, v, version)
}

// adoptFound is for a taint that was found after a gap. It counts from the record, unless the process knows
// that it was absent after the record was made.
func (p *Process) adoptFound(own, theirs *life, k *known, v *view, version int64) *life {
	taints := of(k.node.Spec.Taints, own.group)
	may, must := theirs.continues(taints, v)
	if !may || version < own.absentAt {
		return own
	}
	if p.oracle.nodes[k.node.UID].broken(version, k.version, own.group) {
		p.oracle.Seen.OneByException++
		theirs.bridged = true
	}
	if !must || !own.sameStates(theirs) {
		own.join(theirs)
		return own
	}
	theirs.found, theirs.first, theirs.absentAt = own.found, own.first, own.absentAt
	theirs.reconcile(own, taints)
	p.oracle.Seen.TakenOver++
	return theirs
}

// join lets the life be this one or that one.
func (l *life) join(other *life) {
	l.widen(other.earliest(), other.latest())
	l.heard = append(append(l.heard, other.states...), other.heard...)
	l.total += other.total
	l.dropped = l.dropped || other.dropped || l.total > kept
}

// reconcile makes a life from a record the process's own: it knows the taints as they were shown to it,
// and what it saw appear itself may count from then.
func (l *life) reconcile(own *life, taints []*v1.Taint) {
	for i := range l.states {
		s := &l.states[i]
		if s.to != standing {
			continue
		}
		s.added = seconds(find(taints, s.key, s.value))
		for _, o := range own.states {
			if o.to == standing && o.seen && o.key == s.key && o.value == s.value {
				s.lo, s.hi, s.seen = min(s.lo, o.lo), max(s.hi, o.hi), true
			}
		}
	}
}
