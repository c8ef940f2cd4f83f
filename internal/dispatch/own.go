package dispatch

import (
	"cmp"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// When the pods of this program are evicted.
const (
	// OwnAfter is how long such a pod waits for other pods after its deadline, at most.
	OwnAfter = time.Minute

	// ownPatience is how long such a pod waits after its offer, at least, so that pods that are due at the same moment
	// are offered first.
	ownPatience = time.Second

	// OwnGap is how long the next such pod waits for a Ready replica after the deletion of one, at most.
	OwnGap = time.Minute
)

// own holds back the pods of this program. It queues them one at a time: when no other candidate is queued, or a minute
// after the deadline.
type own struct {
	waiting ordered.Queue[*entry]
	out     *entry    // the pod that is queued, or whose call is in flight
	last    types.UID // of the pod that was deleted last
	endedAt time.Time // when its call ended
}

func newOwn() own {
	return own{waiting: ordered.New(beforeOwn, func(e *entry) *int { return &e.pos })}
}

// beforeOwn is the order of the pods of this program. The pod of this process is the last.
func beforeOwn(a, b *entry) bool {
	return cmp.Or(cmp.Compare(a.Own, b.Own), compare(a, b)) < 0
}

// wait adds an own pod, which may have been queued before.
func (o *own) wait(e *entry) {
	if o.out == e {
		o.out = nil
	}
	o.waiting.Set(e)
}

// free reports whether no own pod is queued and no call for one is in flight.
func (o *own) free(c *Core) bool {
	return o.out == nil || o.out.ended != nil || c.entries[o.out.UID] != o.out
}

// release queues the first own pod if its time has come. Otherwise it returns when to call release again.
func (o *own) release(c *Core, now time.Time) time.Time {
	e, ok := o.waiting.First()
	if !ok || !c.leads || !o.free(c) {
		return time.Time{}
	}
	earliest := later(e.since, o.endedAt).Add(ownPatience)
	if o.endedAt.Add(OwnGap).After(now) && !earliest.After(now) && !c.options.OtherReady(e.UID, o.last) {
		earliest = now.Add(ownPatience)
	}
	overdue := e.Deadline.Add(OwnAfter)
	switch {
	case earliest.After(now):
		return earliest
	case c.queued > 0 && overdue.After(now):
		return overdue
	}
	o.waiting.Remove(e)
	o.out = e
	c.enqueue(e)
	return time.Time{}
}

// ended records the outcome of the call for an own pod.
func (o *own) ended(now time.Time, uid types.UID, outcome *eviction.Outcome) {
	if outcome.MayHaveDeleted() {
		o.last, o.endedAt = uid, now
	}
}
