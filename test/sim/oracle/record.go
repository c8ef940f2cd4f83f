package oracle

import (
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
	lives   []*life
	written time.Duration
	ahead   time.Duration // how far the writer's wall clock was ahead of the API server's
	set     bool          // the clock was set before
}

// IsOf reports whether the record is of this version of the node.
func (r *Record) IsOf(version string) bool { return strconv.FormatInt(r.version, 10) == version }

// Way is how a process has received a record.
type Way struct {
	Stored   time.Duration // when the API server stored it
	Received time.Duration
	Watched  bool // it was received when it was stored, not found later
}

// Recorded returns what the process records of a node now. It returns an error if the process was not shown the
// present taints at that version of the node, or if it has adopted a record of a later version that it was shown, too.
func (p *Process) Recorded(at time.Duration, node, version string) (Record, error) {
	k := p.node(node)
	r := Record{node: node, uid: k.node.UID, version: number(version), written: at, ahead: p.ahead, set: p.set}
	least := k.changed
	for _, l := range k.lives {
		r.lives = append(r.lives, l.copied(skew{}))
		if l.taken && l.recorded <= k.version {
			least = max(least, l.recorded)
		}
	}
	if r.version < least || r.version > k.version {
		return r, Broken(Records, "%s records node %s at version %d, and knows its taints from %d up to %d", p.Name,
			node, r.version, least, k.version)
	}
	return r, nil
}

// Forwarded returns a record that the process has received in this way, as it writes it once more: its times are on the
// clock of the process, and perhaps later.
func (p *Process) Forwarded(at time.Duration, how Way, r Record) Record {
	by := p.between(&how, &r)
	forwarded := Record{node: r.node, uid: r.uid, version: r.version, written: at, ahead: p.ahead, set: p.set}
	for _, l := range r.lives {
		l = l.copied(by)
		l.clamp(at)
		forwarded.lives = append(forwarded.lives, l)
	}
	return forwarded
}

// heardRecord is a record that a process has received.
type heardRecord struct {
	how    Way
	record Record
}

// Heard records that the process has received a record of a node, adopted or not, or that the latest writing has none.
func (p *Process) Heard(how Way, node string, r Record, some bool) {
	if delete(p.heard, node); !some {
		return
	}
	p.heard[node] = heardRecord{how, r}
	if k := p.node(node); k != nil {
		p.endExcuse(k)
	}
}

// endExcuse withdraws the excuse of a gap: a taint that was removed and set again while this process did not watch
// counts as one only if no record shows it. A record does if its writer has watched the node since the taint was
// absent. It counts from when this process has seen the node up to the version of the record.
func (p *Process) endExcuse(k *nodeView) {
	h, ok := p.heard[k.node.Name]
	if !ok || h.record.uid != k.node.UID || h.record.version > k.version {
		return
	}
	by := p.between(&h.how, &h.record)
	for _, l := range k.lives {
		theirs := lifeIn(h.record.lives, l.group)
		if l.gone == 0 || h.record.version <= l.gone || theirs == nil || theirs.bridged || theirs.found {
			continue
		}
		theirs = theirs.copied(by)
		for i := range l.states {
			s := &l.states[i]
			s.lo, s.hi = max(s.lo, theirs.earliest()), max(s.hi, theirs.earliest())
		}
		l.gone = 0
		p.oracle.Seen["Told"]++
	}
}

// Fooled records whether the record of a node that the process has adopted last is a forged one. As long as it is, the
// pods of the node are not judged.
func (p *Process) Fooled(node string, forged bool) {
	if delete(p.fooled, node); forged {
		p.fooled[node] = true
	}
}

// IsFooled reports whether the process goes by a forged record.
func (p *Process) IsFooled() bool { return len(p.fooled) > 0 }

// Adopted records that the process has read a record. The record proves only what it contains: its writer did not
// see a swap of not-ready and unreachable that is not in it. In the program a record wins over the process's own
// observations if its writer may have seen this very life, so that all replicas have one deadline.
func (p *Process) Adopted(at time.Duration, how Way, r Record) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	v := p.view(at, FirstListed)
	for i, own := range k.lives {
		if theirs := lifeIn(r.lives, own.group); theirs != nil && r.version > own.absentAt {
			by := p.between(&how, &r)
			if how.Watched {
				own.late = max(own.late, by.hi)
			}
			theirs = theirs.copied(skew{by.lo, max(by.hi, own.late)})
			theirs.late = own.late
			theirs.widen(far, v.creation(k.node))
			theirs.clamp(at)
			if own.found && !own.doubted {
				k.lives[i] = p.adoptFound(own, theirs, k, v, r.version)
			} else {
				isNew := r.version > own.recorded
				own.join(theirs, r.version)
				own.taken = own.taken || isNew && !own.doubted && r.version <= k.version
			}
			p.count(k.lives[i], k)
		}
	}
}

// clamp moves later starts to this moment.
func (l *life) clamp(latest time.Duration) {
	for i := range l.states {
		s := &l.states[i]
		s.lo, s.hi = min(s.lo, latest), min(s.hi, latest)
	}
}

// creation returns the node's creation by the process's clock. docs/semantics.md, "Since when a taint is there": a
// record does not count from before the node's creation. So a start may become later if that clock is behind.
func (v *view) creation(n *v1.Node) time.Duration {
	return v.moment(n.CreationTimestamp.Unix()).hi - time.Second
}

// between bounds how much later the times of a record count for its reader. If the reader watched the partition
// change, the ages are those at the time of the writing, so the times are later by the delivery. If it found the
// partition, see found. A writer whose clock was set rounds times up to whole seconds.
func (p *Process) between(how *Way, r *Record) (by skew) {
	if how.Watched {
		by.hi = how.Received - r.written
	} else {
		by = p.found(r.ahead, how.Stored-r.written)
	}
	if r.set {
		by.lo -= 10 * time.Millisecond
		by.hi += time.Second
	}
	return by
}

// found returns the skew of a record that was found in a partition: the difference of the wall clocks of writer and
// reader, unless the API server's time of the writing, which counts like all times of the API, shows that this is
// more than 2 s.
func (p *Process) found(writerAhead, took time.Duration) (by skew) {
	const tolerance, margin = 2 * time.Second, 100 * time.Millisecond
	byWriter, byServer := writerAhead-p.ahead, skewAt(p.ahead)
	byServer.hi += took + time.Second
	least, most := byServer.lo-byWriter, byServer.hi-byWriter
	switch {
	case least > -tolerance+margin && most < tolerance-margin:
		return skew{byWriter, byWriter}
	case most < -tolerance-margin || least > tolerance+margin:
		return byServer
	}
	return skew{min(byServer.lo, byWriter), max(byServer.hi, byWriter)}
}

// adoptFound handles a taint that was found after a gap: it counts from the record. Wall times are converted once,
// when a record is read, so a record that is read again may count as it did before.
func (p *Process) adoptFound(own, theirs *life, k *nodeView, v *view, version int64) *life {
	may, must := theirs.continues(own.foundAs, v)
	if version >= own.foundAt {
		may, must = true, must || theirs.total <= kept // the writer had seen what was found
	}
	if !may {
		return own
	}
	// docs/adr/0026-the-store-is-a-step.md: the later writing wins, and a process that received it no longer knows the
	// last one. It may count as before where this record says nothing of it.
	if version < own.recorded {
		if !own.taken {
			own.join(theirs, version)
		}
		return own
	}
	if p.oracle.nodes[k.node.UID].absentAt(version, k.version, own.group) > 0 {
		p.oracle.Seen["OneByException"]++
		theirs.bridged = true
	}
	last := max(own.stepAt(version), 0)
	equal := sameStates(own.at(last), theirs.at(len(theirs.shown)-1))
	if !must || version > k.changed || version == own.recorded || !equal {
		own.join(theirs, version)
		return own
	}
	theirs.carryOn(own, last, version)
	theirs.found, theirs.foundAs, theirs.foundBy, theirs.foundAt = own.found, own.foundAs, own.foundBy, own.foundAt
	theirs.absentAt, theirs.recorded, theirs.taken = own.absentAt, version, true
	p.oracle.Seen["TakenOver"]++
	return theirs
}

// join makes the bounds cover both lives; the other one is from a record that knew the node up to the version.
func (l *life) join(other *life, version int64) {
	latest := other.latest()
	if l.found || other.hasMore(l) {
		latest = max(latest, l.latest(), l.foundBy)
	}
	l.widen(other.earliest(), latest)
	if version > l.recorded {
		l.recorded, l.taken = version, false
	}
	l.heard = together(l.heard, other.states, other.heard)
	l.total += other.total
	l.dropped = l.dropped || other.dropped || l.total > kept
}

// together returns all these states. It merges states of one taint with one timeAdded, because processes read each
// other's records again and again; the bounds then cover both.
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
			all[j].lo, all[j].hi = min(all[j].lo, s.lo), max(all[j].hi, s.hi)
		}
	}
	return all
}

// hasMore reports whether the life has states that the other one lacks. A pod may tolerate these, so that an
// exposure begins after them.
func (l *life) hasMore(than *life) bool {
	return slices.ContainsFunc(l.states, func(s state) bool {
		return !slices.ContainsFunc(than.states, func(t state) bool { return t.pair == s.pair })
	})
}

// carryOn continues a recorded life of this version after that step of the process's own life. The recorded life
// then knows the taints as this process was shown them, and a state that the process saw appear may count from that
// moment. States are in the order in which they began, so a state that was found in a list since may count from as
// late as the recorded ones.
func (l *life) carryOn(own *life, last int, version int64) {
	steps, latest := len(l.shown), l.latest()
	shift, now := steps-1-last, l.at(steps-1)
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
			if s.seen {
				same.lo, same.hi, same.seen = min(same.lo, s.lo), max(same.hi, s.hi), true
			}
		}
	}
	l.shown[steps-1] = min(version, own.shown[last])
	l.shown = append(l.shown, own.shown[last+1:]...)
	l.dropped = l.dropped || own.dropped
}
