package dispatch

import (
	"cmp"
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

	// Rates limit how many calls start that delete a pod. They must be valid. Their buckets begin empty with each term.
	Rates []policy.Rate

	// Paused withholds all calls.
	Paused bool

	// Leading is asked before a candidate is chosen; no call starts while it returns false.
	Leading func() bool

	// OtherReady reports whether a replica of this program is Ready and not terminating, apart from these pods. An own
	// pod waits for it after the deletion of another one. Nil: none is ever known to be Ready.
	OtherReady func(not ...types.UID) bool

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
	ready      map[*class]bool       // classes that may have tokens
	dry        ordered.Queue[*class] // classes that wait for tokens, by the end of the wait
	standing   int                   // candidates in lines
	own        own
	serial     uint64

	places    places
	calls     []*item // in flight, in the order of their starts
	outage    outage
	throttled time.Time // no call starts before
	pace      pace      // of all calls
	rateList  []policy.Rate
	rates     *Rates

	leads, paused bool
	resumed       time.Time // when the last pause of all calls by the configuration has ended
}

// item is an eviction from its offer until it is withdrawn or its outcome is settled.
type item struct {
	Candidate
	serial uint64    // of the first offer
	since  time.Time // since when it waits: the first offer or the deadline, the later of the two
	class  *class
	line   *line // while it stands in a line
	pos    int   // in the turns of its node, or among the own pods

	call // its request is nil while the candidate waits
}

// bySerial is the order in which items were first offered.
func bySerial(a, b *item) int { return cmp.Compare(a.serial, b.serial) }

// NewCore returns the logic of a dispatcher that does not lead yet.
func NewCore(now time.Time, o CoreOptions) *Core {
	if o.AwayUntil == nil {
		o.AwayUntil = func() time.Time { return time.Time{} }
	}
	if o.OtherReady == nil {
		o.OtherReady = func(...types.UID) bool { return false }
	}
	return &Core{
		options: o, items: map[types.UID]*item{}, namespaces: map[string]*namespace{}, classes: map[string]*class{},
		ready: map[*class]bool{}, dry: newDry(), own: newOwn(), places: places{n: o.Workers},
		outage: outage{jitter: o.Jitter}, pace: newPace(o.CallsPerSecond), rateList: o.Rates,
		rates: NewRates(now, o.Rates), paused: o.Paused,
	}
}

// Step processes one input at the time now, and returns its effects. The time may not go backwards by more than clocks
// do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var do Effects
	away, loaded := c.outage.on(), c.throttled.After(now)
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
		c.throttle(now, &in.Outcome)
		c.outage.nodeRead(now, in.Node, in.Sent, &in.Outcome)
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

// offer adds or replaces a candidate; false if a call for its UID is in flight or not settled.
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
	c.enter(it)
	return true
}

// replace replaces a candidate that stays in its line, where its node keeps its turn; false if it is to change the
// line.
func (c *Core) replace(it *item, candidate *Candidate) bool {
	same := it.line != nil && it.Own == candidate.Own && it.class == c.classOf(candidate) &&
		it.Namespace == candidate.Namespace && it.Node == candidate.Node
	if same {
		it.Candidate, it.since = *candidate, later(it.since, candidate.Deadline)
		it.line.turns.set(it)
		it.line.place()
	}
	return same
}

// withdraw removes a candidate; false if its call has begun, or if there is none. A call in flight is marked.
func (c *Core) withdraw(uid types.UID) bool {
	it := c.items[uid]
	switch {
	case it == nil:
		return false
	case it.request != nil:
		it.withdrawn = true
		return false
	}
	c.leave(it)
	delete(c.items, uid)
	return true
}

// Withdrawn reports whether a call that has begun was withdrawn since, also if the pod was offered again.
func (c *Core) Withdrawn(uid types.UID) bool {
	it := c.items[uid]
	return it != nil && it.withdrawn
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

// configure replaces the rates and the number of workers.
func (c *Core) configure(now time.Time, in Configured) {
	c.places.n = in.Workers
	c.rateList = in.Rates
	c.rates.Replace(now, in.Rates)
	for _, it := range c.calls {
		c.recount(now, it)
	}
	var waiting []*item
	for _, it := range c.items {
		if it.request == nil {
			c.leave(it)
			waiting = append(waiting, it)
		}
	}
	slices.SortFunc(waiting, bySerial)
	for _, it := range waiting {
		it.class = c.classOf(&it.Candidate)
		c.enter(it)
	}
}

// beginTerm begins a term with empty buckets, as the leader before may have spent the tokens.
func (c *Core) beginTerm(now time.Time) {
	c.leads, c.outage.probing = true, false
	c.rates = NewRates(now, c.rateList)
	c.configure(now, Configured{Rates: c.rateList, Workers: c.places.n})
}

func (c *Core) nextSerial() uint64 {
	c.serial++
	return c.serial
}
