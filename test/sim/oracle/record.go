package oracle

import (
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

// Version returns the version of the node.
func (r *Record) Version() string { return strconv.FormatInt(r.version, 10) }

// Way is how a process has received a record.
type Way struct {
	Stored   time.Duration // when the API server stored it
	Received time.Duration
	Watched  bool // it was received when it was stored, not found later
}

// Recorded returns what the process records of a node now. It returns an error if the process was not shown the
// present taints at that version of the node.
func (p *Process) Recorded(at time.Duration, node, version string) (Record, error) {
	k := p.node(node)
	r := Record{node: node, uid: k.node.UID, version: number(version), written: at, ahead: p.ahead, set: p.set}
	for _, l := range k.lives {
		r.lives = append(r.lives, l.copied(skew{}))
	}
	if r.version < k.changed || r.version > k.version {
		return r, Broken(Records, "%s records node %s at version %d, and knows its taints from %d up to %d", p.Name,
			node, r.version, k.changed, k.version)
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

// Adopted records that the process has read a record. The record proves only what it contains: its writer did not
// see a swap of not-ready and unreachable that is not in it. In the program a record wins over the process's own
// observations if its writer may have seen this very life, so that all replicas have one deadline.
func (p *Process) Adopted(at time.Duration, how Way, r Record) {
	k := p.node(r.node)
	if k == nil || k.node.UID != r.uid {
		return // another node, or none
	}
	v, by := p.view(at, FirstListed), p.between(&how, &r)
	for i, own := range k.lives {
		theirs := lifeIn(r.lives, own.group)
		if theirs == nil || r.version <= own.absentAt {
			continue
		}
		if how.Watched {
			own.late = max(own.late, by.hi)
		}
		theirs = theirs.copied(skew{by.lo, max(by.hi, own.late)})
		theirs.widen(far, v.creation(k.node))
		theirs.clamp(at)
		k.lives[i] = p.adopt(own, theirs, k, v, r.version)
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

// adopt returns the life with a recorded one of this version. It counts as either, but a taint that was found after a
// gap and that is in the record counts from the record. Wall times are converted once, when a record is read, so a
// record that is read again may count as it did before. docs/adr/0026-the-store-is-a-step.md: the later writing wins,
// even if its version is earlier.
func (p *Process) adopt(own, theirs *life, k *nodeView, v *view, version int64) *life {
	if own.found && !own.doubted {
		may, must := theirs.continues(own.as, v)
		if version >= own.at {
			may, must = true, must || theirs.total <= kept // the writer had seen what was found
		}
		last := own.stepAt(version)
		switch {
		case !may:
			return own
		case must && version <= k.changed && version > own.recorded && sameStates(own.steps[last].states, theirs.now()):
			theirs.carryOn(own, last, version)
			theirs.finding, theirs.recorded, theirs.late = own.finding, version, own.late
			p.oracle.Seen["TakenOver"]++
			return theirs
		}
	}
	own.join(theirs, version)
	return own
}
