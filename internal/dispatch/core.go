package dispatch

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/ordered"
	"github.com/taint-manager/taint-manager/policy"
)

// CoreOptions are the settings of a [Core].
type CoreOptions struct {
	// Workers is N of the package's rules, at least 1.
	Workers int

	// CallsPerSecond limits how many calls start in a second. 0: no limit.
	CallsPerSecond float64

	// Rates limit how many calls start. They must be valid. Their buckets begin empty with each term.
	Rates []policy.Rate

	// Paused means that no call starts.
	Paused bool

	// Leading is called before a candidate is chosen; no call starts while it returns false.
	Leading func() bool

	// OtherReady reports whether a pod of this program, except those with these UIDs, is Ready and not terminating.
	// After a pod of this program is deleted, the next waits until it returns true, at most [OwnGap]. Nil: never true.
	OtherReady func(except ...types.UID) bool

	// WatchOutageUntil returns when the last outage of the node watch ended: now during an outage, zero if there was
	// none. Evictions that were due before then count as late because of the outage, even if another process led during
	// it. Nil: only calls reveal outages.
	WatchOutageUntil func() time.Time

	// Jitter returns numbers in [0,1); it spreads the pauses of several processes.
	Jitter func() float64
}

// Core is the logic of the dispatcher. It is not safe for concurrent use.
type Core struct {
	options          CoreOptions
	entries          map[types.UID]*entry
	namespaces       map[string]*namespace
	tokenSets        map[string]*tokenSet
	ready            map[*tokenSet]bool       // may have tokens
	waitingForTokens ordered.Queue[*tokenSet] // by the end of the wait
	queued           int                      // number of candidates in queues
	own              own
	serial           uint64

	places    places
	calls     []*entry // in flight, in the order of their starts
	outage    outage
	throttled time.Time // no call starts before it, because the server asked to wait
	pace      pace      // of all calls
	rateList  []policy.Rate
	rates     *Rates

	leads, paused bool
	resumed       time.Time // when the configuration last ended a pause of all calls
}

// entry is an eviction from its offer until it is withdrawn or its outcome is settled.
type entry struct {
	Candidate
	since time.Time // when its wait began: the first offer or the deadline, whichever is later
	queue *queue    // nil while it is in none
	pos   int       // in the queue of its node, or in own.waiting

	call // its request is nil while the candidate waits
}

// NewCore returns the logic of a dispatcher that does not lead yet.
func NewCore(now time.Time, o CoreOptions) *Core {
	if o.WatchOutageUntil == nil {
		o.WatchOutageUntil = func() time.Time { return time.Time{} }
	}
	if o.OtherReady == nil {
		o.OtherReady = func(...types.UID) bool { return false }
	}
	return &Core{
		options: o, entries: map[types.UID]*entry{}, namespaces: map[string]*namespace{},
		tokenSets: map[string]*tokenSet{}, ready: map[*tokenSet]bool{}, waitingForTokens: newWaitingForTokens(),
		own: newOwn(), places: places{n: o.Workers}, outage: outage{jitter: o.Jitter}, pace: newPace(o.CallsPerSecond),
		rateList: o.Rates, rates: NewRates(now, o.Rates), paused: o.Paused,
	}
}

// Step processes one input at the time now, which may decrease slightly, as wall clocks do, and returns its effects.
func (c *Core) Step(now time.Time, in Input) Effects {
	var effects Effects
	outage, throttled := c.outage.on(), c.throttled.After(now)
	in.apply(c, now, &effects)
	switch {
	case !outage && c.outage.on():
		effects.Pause = pauseUnavailable
	case !throttled && c.throttled.After(now):
		effects.Pause = pauseThrottled
	}
	c.startCalls(now, &effects)
	return effects
}

func (in Offered) apply(c *Core, now time.Time, effects *Effects) {
	candidate := &in.Candidate
	e := c.entries[candidate.UID]
	if e != nil && e.request != nil {
		return
	}
	effects.Taken = true
	switch {
	case e == nil:
		e = &entry{since: now}
		c.entries[candidate.UID] = e
	case c.replace(e, candidate):
		return
	default:
		c.remove(e)
	}
	e.Candidate, e.since = *candidate, later(e.since, candidate.Deadline)
	c.add(e)
}

// replace replaces a candidate in place, keeping its node's turn; false if the candidate belongs in another queue.
func (c *Core) replace(e *entry, candidate *Candidate) bool {
	q := e.queue
	if q == nil || e.Own != candidate.Own || e.Namespace != candidate.Namespace || e.Node != candidate.Node {
		return false
	}
	if _, key := c.bucketsOf(candidate); key != q.tokenSet.key {
		return false
	}
	e.Candidate, e.since = *candidate, later(e.since, candidate.Deadline)
	q.nodes.set(e)
	q.place()
	return true
}

func (in Withdrawn) apply(c *Core, _ time.Time, effects *Effects) {
	e := c.entries[in.UID]
	switch {
	case e == nil:
	case e.request != nil:
		e.withdrawn = true
	default:
		c.remove(e)
		delete(c.entries, in.UID)
		effects.Taken = true
	}
}

// Withdrawn reports whether a call was withdrawn after it had begun, even if the pod was offered again.
func (c *Core) Withdrawn(uid types.UID) bool {
	e := c.entries[uid]
	return e != nil && e.withdrawn
}

func (in Settled) apply(c *Core, _ time.Time, effects *Effects) {
	if e := c.entries[in.UID]; e != nil && e.ended != nil {
		delete(c.entries, in.UID)
		effects.Settled = e.ended
	}
}

// apply moves all waiting candidates to the queues for the new rates.
func (in Configured) apply(c *Core, now time.Time, _ *Effects) {
	c.places.n = in.Workers
	c.rateList = in.Rates
	c.rates.Replace(now, in.Rates)
	var waiting []*entry
	for _, e := range c.entries {
		if e.request == nil {
			c.remove(e)
			waiting = append(waiting, e)
		}
	}
	slices.SortFunc(waiting, compare)
	for _, e := range waiting {
		c.add(e)
	}
}

func (in Paused) apply(c *Core, now time.Time, _ *Effects) {
	if c.paused && !in.Paused {
		c.resumed = now
	}
	c.paused = in.Paused
}

// apply begins a term with empty buckets, because the previous leader may have spent the tokens.
func (TermBegan) apply(c *Core, now time.Time, effects *Effects) {
	c.leads, c.outage.probing = true, false
	c.rates = NewRates(now, c.rateList)
	Configured{Rates: c.rateList, Workers: c.places.n}.apply(c, now, effects)
}

func (TermEnded) apply(c *Core, _ time.Time, _ *Effects) { c.leads = false }

func (TimePassed) apply(*Core, time.Time, *Effects) {}

func (c *Core) nextSerial() uint64 {
	c.serial++
	return c.serial
}
