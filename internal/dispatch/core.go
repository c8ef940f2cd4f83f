package dispatch

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/ordered"
	"github.com/taint-manager/taint-manager/policy"
)

// CoreOptions are the settings of a [Core].
type CoreOptions struct {
	// Slots is how many calls may be under way at once, each for its first second at most. SlowPlaces is how many slow
	// calls may be under way beside them. They are at least 1.
	Slots, SlowPlaces int

	// CallsPerSecond limits how many calls start in a second. 0: no limit.
	CallsPerSecond float64

	// Rates limit how many calls start that delete a pod. They must be valid. Their buckets begin empty with each term.
	Rates []policy.Rate

	// Paused withholds all calls.
	Paused bool

	// Leading is asked before a candidate is chosen; no call starts while it denies.
	Leading func() bool

	// Yields: the leadership is given back instead of a call for the pod of this process.
	Yields bool

	// Upcoming returns when the next eviction is due that was not offered; zero if there is none. Required with Yields.
	Upcoming func() time.Time

	// AwayUntil returns until when the API server last did not answer this process's watches: now while it does not;
	// zero if it always has. It explains the lateness of evictions also where another process has led during the
	// outage. Nil: only calls report outages.
	AwayUntil func() time.Time

	// Jitter returns numbers in [0,1); it spreads the pauses of several processes.
	Jitter func() float64
}

// Core is the logic of the dispatcher. It is not safe for concurrent use.
type Core struct {
	options    CoreOptions
	items      map[types.UID]*item
	namespaces map[string]*namespace
	classes    map[string]*class
	ready      map[*class]bool          // classes that may have tokens
	dry        ordered.Queue[*class]    // classes that wait for tokens, by the end of the wait
	waiting    int                      // candidates
	own        ordered.Queue[*item]     // pods of this program, the first to go first
	expiries   ordered.Queue[*workload] // by when what is known of them is forgotten
	serial     uint64

	places    places
	calls     []*item // whose calls are under way, in the order of their starts
	outage    outage
	throttled time.Time // no call starts before
	pace      pace      // of all calls
	rateList  []policy.Rate
	rates     *breaker.Rates

	leads, paused  bool
	resumed        time.Time // when the last pause of all calls by the configuration has ended
	yieldNotBefore time.Time
	ownEnded       time.Time // when the last call ended that may have deleted a pod of this program
}

// item is an eviction from its offer until it is withdrawn or its outcome is settled.
type item struct {
	Candidate
	serial   uint64    // of the first offer
	since    time.Time // since when it waits: the first offer or the deadline, the later of the two
	class    *class
	workload *workload
	group    *group // while it waits in a line
	pos      int    // in the turns of its node, or among the pods of this program

	call // its request is nil while the candidate waits
}

// bySerial is the order in which items were first offered.
func bySerial(a, b *item) int { return cmp.Compare(a.serial, b.serial) }

// NewCore returns the logic of a dispatcher that does not lead yet.
func NewCore(now time.Time, o CoreOptions) *Core {
	if o.AwayUntil == nil {
		o.AwayUntil = func() time.Time { return time.Time{} }
	}
	return &Core{
		options: o, items: map[types.UID]*item{}, namespaces: map[string]*namespace{}, classes: map[string]*class{},
		ready: map[*class]bool{}, dry: newDry(),
		expiries: ordered.New((*workload).expiresBefore, func(w *workload) *int { return &w.pos }),
		own:      ordered.New(beforeOwn, func(it *item) *int { return &it.pos }),
		places:   places{slots: o.Slots, slowPlaces: o.SlowPlaces}, outage: outage{jitter: o.Jitter},
		pace: newPace(o.CallsPerSecond), rateList: o.Rates, rates: breaker.NewRates(now, o.Rates), paused: o.Paused,
	}
}

// Step processes one input at the time now, and returns its effects. The time may not go backwards by more than clocks
// do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var do Effects
	away, loaded := c.outage.on(), c.throttled.After(now)
	c.turnSlow(now, &do)
	c.expire(now)
	switch in := in.(type) {
	case Offered:
		do.Taken = c.offer(now, in.Candidate)
	case Withdrawn:
		do.Taken = c.withdraw(in.UID)
	case Settled:
		do.Settled = c.settle(in.UID)
	case CallEnded:
		c.end(now, in)
	case NodeRead:
		c.outage.nodeRead(now, in.Sent, &in.Outcome)
	case ServerAnswered:
		c.outage.nudge(now)
	case Configured:
		c.configure(now, in)
	case Paused:
		if c.paused && !in.Paused {
			c.resumed = now
		}
		c.paused = in.Paused
	case TermBegan:
		c.beginTerm(now)
	case TermEnded:
		c.leads = false
	}
	switch {
	case !away && c.outage.on():
		do.Pause = pauseUnavailable
	case !loaded && c.throttled.After(now):
		do.Pause = pauseThrottled
	}
	c.startCalls(now, &do)
	return do
}

// offer adds or replaces a candidate; false if a call for its UID is under way or not settled.
func (c *Core) offer(now time.Time, candidate Candidate) bool {
	it := c.items[candidate.UID]
	switch {
	case it == nil:
		it = &item{serial: c.nextSerial(), since: now}
		c.items[candidate.UID] = it
	case it.request != nil:
		return false
	case c.replace(it, &candidate):
		return true
	default:
		c.leave(it)
	}
	it.Candidate, it.since = candidate, later(it.since, candidate.Deadline)
	it.class = c.classOf(&candidate)
	c.stand(it)
	return true
}

// replace replaces a candidate that stays in its line, where its node keeps its turn; false if it is to change the
// line.
func (c *Core) replace(it *item, candidate *Candidate) bool {
	same := it.Own == Other && candidate.Own == Other && it.class == c.classOf(candidate) &&
		it.Namespace == candidate.Namespace && it.LabelHash == candidate.LabelHash && it.Node == candidate.Node
	if same {
		it.Candidate, it.since = *candidate, later(it.since, candidate.Deadline)
		it.group.set(it)
	}
	return same
}

// withdraw removes a candidate; false if its call has begun, or if there is none.
func (c *Core) withdraw(uid types.UID) bool {
	it := c.items[uid]
	if it == nil || it.request != nil {
		return false
	}
	c.leave(it)
	delete(c.items, uid)
	return true
}

// settle permits the next offer of a pod whose call has ended, and returns the outcome.
func (c *Core) settle(uid types.UID) *Ended {
	it := c.items[uid]
	if it == nil || it.ended == nil {
		return nil
	}
	delete(c.items, uid)
	return it.ended
}

// configure replaces the rates and the number of slots.
func (c *Core) configure(now time.Time, in Configured) {
	c.places.slots = in.Slots
	c.rateList = in.Rates
	c.rates.Replace(now, in.Rates)
	for _, it := range c.calls {
		c.recount(now, it)
	}
	waiting := make([]*item, 0, c.waiting)
	for _, it := range c.items {
		if it.request == nil {
			c.stepOut(it)
			waiting = append(waiting, it)
		}
	}
	slices.SortFunc(waiting, bySerial)
	for _, it := range waiting {
		it.class = c.classOf(&it.Candidate)
		c.stand(it)
	}
}

// beginTerm begins a term with empty buckets, as the leader before may have spent the tokens.
func (c *Core) beginTerm(now time.Time) {
	c.leads = true
	c.rates = breaker.NewRates(now, c.rateList)
	c.configure(now, Configured{Rates: c.rateList, Slots: c.places.slots})
}
