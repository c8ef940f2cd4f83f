package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// Status is what the dispatcher knows of an eviction.
type Status struct {
	// Request is the request of the call that is in flight, or that has ended and is not settled; nil if there is no
	// such call.
	Request *eviction.Request

	// Waits says why the candidate waits, or why it has waited before that call; zero if it is unknown.
	Waits eviction.Wait

	// Until is when the wait may end as far as is known; zero if that is not known.
	Until time.Time
}

// Status returns what is known of the eviction of a pod; the zero value if it was not offered.
func (c *Core) Status(now time.Time, uid types.UID) Status {
	it := c.items[uid]
	switch {
	case it == nil:
		return Status{}
	case it.request != nil:
		return Status{Request: it.request, Waits: it.waited}
	}
	return c.waits(now, it)
}

// waited returns what the candidate has waited for as its call starts. The end of a pause or of an outage is not such a
// wait: the candidates that waited for it wait for their turn from then on.
func (c *Core) waited(it *item) eviction.Wait {
	switch {
	case it.class.dryUntil.After(it.since):
		return eviction.Wait{Cause: eviction.WaitsForRate, Rate: it.class.dryRate}
	case it.line.namespace.heldAt.After(it.since):
		return c.shareOf(it.line.namespace)
	case c.pace.held.After(it.since):
		return eviction.Wait{Cause: eviction.WaitsForRate, Rate: eviction.RateOfAllCalls}
	}
	return eviction.Wait{Cause: eviction.WaitsForTurn}
}

// waits returns why a candidate waits. Page, logs and metrics take the answer from here.
func (c *Core) waits(now time.Time, it *item) (s Status) {
	_, rate, until := it.class.way(now)
	switch {
	case c.paused:
		s.Waits.Cause = eviction.WaitsPaused
	case c.outage.on():
		s.Waits.Cause, s.Until = eviction.WaitsForServer, c.outage.until
	case c.throttled.After(now):
		s.Waits.Cause, s.Until = eviction.WaitsForServer, c.throttled
	case rate != "":
		s.Waits, s.Until = eviction.Wait{Cause: eviction.WaitsForRate, Rate: rate}, until
	case it.line != nil && c.waitsForShare(it.line.namespace):
		s.Waits = c.shareOf(it.line.namespace)
	case c.leads && c.pace.next.After(now):
		s.Waits, s.Until = eviction.Wait{Cause: eviction.WaitsForRate, Rate: eviction.RateOfAllCalls}, c.pace.next
	default:
		s.Waits.Cause = eviction.WaitsForTurn
	}
	return s
}

func (c *Core) shareOf(n *namespace) eviction.Wait {
	return eviction.Wait{Cause: eviction.WaitsForShare, Namespace: n.name, Calls: n.calls}
}

// Waiting returns how many candidates wait.
func (c *Core) Waiting() int { return c.standing + c.own.waiting.Len() }

// InFlight returns how many calls are in flight.
func (c *Core) InFlight() int { return len(c.calls) }

// InFlightRequests returns the requests of the calls in flight.
func (c *Core) InFlightRequests() (all []eviction.Request) {
	for _, it := range c.calls {
		all = append(all, *it.request)
	}
	return all
}

// PausedSince returns when the present pause because of an outage began; zero while there is none.
func (c *Core) PausedSince() time.Time {
	if !c.outage.on() {
		return time.Time{}
	}
	return c.outage.since
}
