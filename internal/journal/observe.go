package journal

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// Observation is what one look at a node shows of its taints, or the moment at which a record of the node is read.
type Observation struct {
	// UID of the node. Only [NodeHistory.Adopt] uses it.
	UID types.UID

	// Taints of the node at this moment. Those that are neither NoExecute nor among Keys are ignored.
	Taints []v1.Taint

	// Keys are the NoSchedule taints that are observed, too. KeysBefore are those of the previous observation, which
	// says nothing about keys that it did not have in the same role; nil means that it had the same keys.
	Keys       Keys
	KeysBefore *Keys

	// At is the moment of the observation. It carries the monotonic clock, so that times derived from it do not move
	// when the wall clock is set.
	At time.Time

	// Ahead is by how much this process's wall clock is ahead of the API server's; 0 if they agree. An age that is
	// computed from At and a time of the API is too long by this much.
	Ahead time.Duration

	// Created is the node's creation time by the API server's clock.
	Created time.Time

	// Version is the node's resourceVersion. Before is its resourceVersion at the previous observation; empty if this
	// is the first observation of the node.
	Version, Before string

	// Gap means that the node may have changed unseen since the previous observation: at the first list of a process,
	// or when a watch could not continue where it broke off. A taint's timeAdded then shows what was missed. Without a
	// gap the process saw the taint appear, and timeAdded is ignored.
	Gap bool

	// Watched, with Gap and for a record, is the last moment before the gap at which a process is known to have watched
	// the node; zero if no such moment is known.
	Watched time.Time

	// Unknown, with Gap, is the start of a taint whose timeAdded is not usable. Zero means the moment of the
	// observation, which is the latest possible start.
	Unknown time.Time

	// Distinguishes reports whether some pod of the node tolerates one of two states without a limit, but not the
	// other. Nil means that any two states may be distinguished.
	Distinguishes func(a, b *v1.Taint) bool
}

// only returns the observation of the taints in this role.
func (o *Observation) only(r role) *Observation {
	if r == noExecute {
		return o // its effect tells it from the others
	}
	these := *o
	these.Taints = slices.DeleteFunc(slices.Clone(o.Taints), func(t v1.Taint) bool { return o.Keys.roleOf(&t) != r })
	return &these
}

// relisted reports whether a list shows this after a gap of the watch.
func (o *Observation) relisted() bool { return o.Gap && !o.Watched.IsZero() }

// added reports whether the previous observation says nothing about the taint, because the taint had no role then, or
// another role. The two taints that the node lifecycle controller swaps are added together.
func (o *Observation) added(t *v1.Taint) bool {
	if o.KeysBefore == nil {
		return false
	}
	keys := []string{t.Key}
	if swapped(t.Key) {
		keys = []string{v1.TaintNodeNotReady, v1.TaintNodeUnreachable}
	}
	return slices.ContainsFunc(keys, func(key string) bool {
		one := v1.Taint{Key: key, Effect: t.Effect}
		return o.KeysBefore.roleOf(&one) != o.Keys.roleOf(&one)
	})
}

// found reports whether the taint, if it is new, may have been there before this observation.
func (o *Observation) found(t *v1.Taint) bool { return o.Gap || o.added(t) }

// listedSince returns the taint's timeAdded if it is credible, otherwise the Unknown time. A NoSchedule taint does not
// count from its timeAdded, but from when a process first saw it while a policy made it a trigger. API times are
// truncated to whole seconds; the next second is taken, so that no eviction is early. If that second has not come yet,
// the moment of the observation is late enough.
func (o *Observation) listedSince(t *v1.Taint) time.Time {
	if t.Effect == v1.TaintEffectNoSchedule || t.TimeAdded == nil || t.TimeAdded.After(o.At.Add(-o.Ahead)) ||
		t.TimeAdded.Time.Before(o.Created) {
		return o.unknown()
	}
	since := o.moment(t.TimeAdded.Time)
	if since.After(o.At) {
		since = o.At
	}
	if since.Before(o.Watched) {
		return o.unknown() // the node did not have the taint then
	}
	return since
}

// moment returns a time of the API, rounded up, on this process's monotonic clock.
func (o *Observation) moment(t time.Time) time.Time {
	return o.At.Add(NextSecond(t).Sub(o.At)).Add(o.Ahead)
}

func (o *Observation) unknown() time.Time {
	if o.Unknown.IsZero() {
		return o.At
	}
	return o.Unknown
}

// NextSecond returns the start of the next second. An API timestamp is cut off to whole seconds, and the true time is
// before the next second.
func NextSecond(t time.Time) time.Time { return t.Truncate(time.Second).Add(time.Second) }
