package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/ordered"
)

// When the pods of this program go.
const (
	// OwnAfter is how long after its deadline such a pod waits for other pods at most.
	OwnAfter = time.Minute

	// ownPatience is how long after its offer such a pod waits at least, so that pods that are due at the same moment
	// are offered before.
	ownPatience = time.Second

	// OwnGap is how long such a pod waits at most until another replica is Ready, after the deletion of the one before.
	OwnGap = time.Minute
)

// own holds the pods of this program until they may stand in their lines: when no other candidate stands in a line, or
// a minute after the deadline; one at a time.
type own struct {
	waiting ordered.Queue[*item]
	out     *item     // stands in its line, or its call is in flight
	last    types.UID // of the pod that was deleted last
	endedAt time.Time // when its call ended
}

func newOwn() own {
	return own{waiting: ordered.New(beforeOwn, func(it *item) *int { return &it.pos })}
}

// beforeOwn is the order of the pods of this program. The pod of this process is the last.
func beforeOwn(a, b *item) bool {
	if a.Own != b.Own {
		return a.Own < b.Own
	}
	return before(a, b)
}

// wait adds an own pod, which may have stood in another line before.
func (o *own) wait(it *item) {
	if o.out == it {
		o.out = nil
	}
	o.waiting.Set(it)
}

// free reports whether no own pod stands in a line, or is being deleted.
func (o *own) free(c *Core) bool {
	return o.out == nil || o.out.ended != nil || c.items[o.out.UID] != o.out
}

// release lets the first own pod stand in its line if its time has come. Otherwise it returns when to ask again.
func (o *own) release(c *Core, now time.Time) time.Time {
	it, some := o.waiting.First()
	if !some || !c.leads || !o.free(c) {
		return time.Time{}
	}
	earliest := later(it.since, o.endedAt).Add(ownPatience)
	if o.endedAt.Add(OwnGap).After(now) && !earliest.After(now) && !c.options.OtherReady(it.UID, o.last) {
		earliest = now.Add(ownPatience)
	}
	overdue := it.Deadline.Add(OwnAfter)
	switch {
	case earliest.After(now):
		return earliest
	case c.standing > 0 && overdue.After(now):
		return overdue
	}
	o.waiting.Remove(it)
	o.out = it
	c.stand(it)
	return time.Time{}
}

// ended takes in the outcome of the call of an own pod.
func (o *own) ended(now time.Time, uid types.UID, outcome *eviction.Outcome) {
	if outcome.MayHaveDeleted() {
		o.last, o.endedAt = uid, now
	}
}
