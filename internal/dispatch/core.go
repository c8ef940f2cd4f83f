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
	since time.Time // since when it waits: the first offer or the deadline, the later of the two
	class *class
	line  *line // while it stands in a line
	pos   int   // in the turns of its node, or among the own pods

	call // its request is nil while the candidate waits
}

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
	in.apply(c, now, &do)
	switch {
	case !away && c.outage.on():
		do.Pause = pauseUnavailable
	case !loaded && c.throttled.After(now):
		do.Pause = pauseThrottled
	}
	c.startCalls(now, &do)
	return do
}

func (in Offered) apply(c *Core, now time.Time, do *Effects) {
	candidate := &in.Candidate
	it := c.items[candidate.UID]
	if it != nil && it.request != nil {
		return
	}
	do.Taken = true
	switch {
	case it == nil:
		it = &item{since: now}
		c.items[candidate.UID] = it
	case c.replace(it, candidate):
		return
	default:
		c.leave(it)
	}
	it.Candidate, it.since = *candidate, later(it.since, candidate.Deadline)
	it.class = c.classOf(candidate)
	c.enter(it)
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

func (in Withdrawn) apply(c *Core, _ time.Time, do *Effects) {
	it := c.items[in.UID]
	switch {
	case it == nil:
	case it.request != nil:
		it.withdrawn = true
	default:
		c.leave(it)
		delete(c.items, in.UID)
		do.Taken = true
	}
}

// Withdrawn reports whether a call that has begun was withdrawn since, also if the pod was offered again.
func (c *Core) Withdrawn(uid types.UID) bool {
	it := c.items[uid]
	return it != nil && it.withdrawn
}

func (in Settled) apply(c *Core, _ time.Time, do *Effects) {
	if it := c.items[in.UID]; it != nil && it.ended != nil {
		delete(c.items, in.UID)
		do.Settled = it.ended
	}
}

// apply lets all candidates that wait enter the lines of their new tokens.
func (in Configured) apply(c *Core, now time.Time, _ *Effects) {
	c.places.n = in.Workers
	c.rateList = in.Rates
	c.rates.Replace(now, in.Rates)
	var waiting []*item
	for _, it := range c.items {
		if it.request == nil {
			c.leave(it)
			waiting = append(waiting, it)
		}
	}
	slices.SortFunc(waiting, compare)
	for _, it := range waiting {
		it.class = c.classOf(&it.Candidate)
		c.enter(it)
	}
}

func (in Paused) apply(c *Core, now time.Time, _ *Effects) {
	if c.paused && !in.Paused {
		c.resumed = now
	}
	c.paused = in.Paused
}

// apply begins a term with empty buckets, as the leader before may have spent the tokens.
func (TermBegan) apply(c *Core, now time.Time, do *Effects) {
	c.leads, c.outage.probing = true, false
	c.rates = NewRates(now, c.rateList)
	Configured{Rates: c.rateList, Workers: c.places.n}.apply(c, now, do)
}

func (TermEnded) apply(c *Core, _ time.Time, _ *Effects) { c.leads = false }

func (TimePassed) apply(*Core, time.Time, *Effects) {}

func (c *Core) nextSerial() uint64 {
	c.serial++
	return c.serial
}
