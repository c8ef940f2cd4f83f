package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/ordered"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Reader is the cache that a shard reads. It returns the latest known state, which is immutable. It is safe for
// concurrent use.
type Reader interface {
	// Pod returns the pod with this UID and the node that it is bound to; each is nil if it does not exist.
	Pod(uid types.UID) (*taint.Pod, *taint.Node)

	// PodsOn returns the node of this name, nil if it does not exist, and the pods bound to it.
	PodsOn(node string) (*taint.Node, []*taint.Pod)
}

// Dispatcher takes the evictions whose time has come. Its methods must be safe for concurrent use.
// [dispatch.Dispatcher] implements it.
type Dispatcher interface {
	Offer(c dispatch.Candidate) (taken bool)
	Withdraw(uid types.UID) (waited bool)
	Settle(uid types.UID) *dispatch.Ended
	Status(uid types.UID) dispatch.Status
}

// CoreOptions are the settings of a [Core]. All fields but Own and EvictorChooses are required.
type CoreOptions struct {
	// Reader is the cache. Judge returns the latest judge; each step calls it once. After a new judge, NodeChanged must
	// follow for the nodes of all pods whose verdicts may differ.
	Reader Reader
	Judge  func() policy.Judge

	// Dispatcher takes the evictions that are due. When a call has ended, PodChanged must follow.
	Dispatcher Dispatcher

	// Jitter returns numbers in [0,1); it spreads retries.
	Jitter func() float64

	// Own tells which pods belong to this program. Nil: none does.
	Own func(*taint.Pod) dispatch.Own

	// EvictorChooses leaves the method to the evictor where no policy decides: such requests have no method.
	EvictorChooses bool
}

// Core is the logic of one shard. It is not safe for concurrent use.
type Core struct {
	options   CoreOptions
	judge     policy.Judge // of the present step
	entries   map[types.UID]*entry
	timed     ordered.Queue[*entry]   // by the time of the next evaluation
	scheduled int                     // entries in the stage waiting
	audited   map[types.UID][]audited // by pod, one for each policy
	leaving   map[types.UID]departure // of the pods that must leave their nodes, except for an outage of the node
	holds     map[types.UID]podHolds  // of the pods that are or were held
	daemons   map[types.UID]struct{}  // pods without an entry that the DaemonSet controller deletes
}

// NewCore returns the logic of a shard.
func NewCore(o CoreOptions) *Core {
	if o.Own == nil {
		o.Own = func(*taint.Pod) dispatch.Own { return dispatch.Other }
	}
	return &Core{
		options: o, entries: map[types.UID]*entry{}, timed: newTimed(),
		audited: map[types.UID][]audited{}, leaving: map[types.UID]departure{}, holds: map[types.UID]podHolds{},
		daemons: map[types.UID]struct{}{},
	}
}

// Scheduled returns how many evictions wait for their time. Those whose time has come wait in the dispatcher.
func (c *Core) Scheduled() int { return c.scheduled }

// Next returns when the next step is due if nothing else happens before; false if none is due.
func (c *Core) Next() (time.Time, bool) {
	e, ok := c.timed.First()
	if !ok {
		return time.Time{}, false
	}
	return e.evaluation, true
}
