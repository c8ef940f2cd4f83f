package dispatch

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// Status is what the dispatcher knows about an eviction.
type Status struct {
	// Request is the request of the call that is in flight, or that has ended and is not settled; nil if there is no
	// such call.
	Request *eviction.Request

	// Waits says why the candidate waits, or waited before that call; zero if unknown.
	Waits eviction.Wait

	// Until is when the wait may end; zero if unknown.
	Until time.Time
}

// Status returns the status of the eviction of a pod; the zero value if it was not offered.
func (c *Core) Status(now time.Time, uid types.UID) Status {
	e := c.entries[uid]
	switch {
	case e == nil:
		return Status{}
	case e.request != nil:
		return Status{Request: e.request, Waits: e.waited}
	}
	return c.waits(now, e)
}

// waited returns what the candidate has waited for when its call starts. It is never a pause or an outage: once these
// end, candidates wait for their turn.
func (c *Core) waited(e *entry) eviction.Wait {
	switch {
	case e.queue.tokenSet.waitUntil.After(e.since):
		return eviction.Wait{Cause: eviction.WaitsForRate, Rate: e.queue.tokenSet.waitRate}
	case e.queue.namespace.heldAt.After(e.since):
		return c.shareOf(e.queue.namespace)
	case c.pace.held.After(e.since):
		return eviction.Wait{Cause: eviction.WaitsForRate, Rate: eviction.RateOfAllCalls}
	}
	return eviction.Wait{Cause: eviction.WaitsForTurn}
}

// waits returns why a candidate waits, for the page, logs and metrics.
func (c *Core) waits(now time.Time, e *entry) (s Status) {
	var rate string
	var until time.Time
	if e.queue != nil { // nil: a pod of this program, waiting for the others
		_, rate, until = e.queue.tokenSet.firstWithTokens(now)
	}
	switch {
	case c.paused:
		s.Waits.Cause = eviction.WaitsForPause
	case c.outage.on():
		s.Waits.Cause, s.Until = eviction.WaitsForServer, c.outage.until
	case c.throttled.After(now):
		s.Waits.Cause, s.Until = eviction.WaitsForServer, c.throttled
	case rate != "":
		s.Waits, s.Until = eviction.Wait{Cause: eviction.WaitsForRate, Rate: rate}, until
	case e.queue != nil && c.waitsForShare(e.queue.namespace):
		s.Waits = c.shareOf(e.queue.namespace)
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
func (c *Core) Waiting() int { return c.queued + c.own.waiting.Len() }

// InFlight returns how many calls are in flight.
func (c *Core) InFlight() int { return len(c.calls) }

// InFlightRequests returns the requests of the calls in flight.
func (c *Core) InFlightRequests() (all []eviction.Request) {
	for _, e := range c.calls {
		all = append(all, *e.request)
	}
	return all
}

// PausedSince returns when the present pause, caused by an outage, began; zero while there is none.
func (c *Core) PausedSince() time.Time {
	if !c.outage.on() {
		return time.Time{}
	}
	return c.outage.since
}
