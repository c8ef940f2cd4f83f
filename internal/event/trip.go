package event

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// reasonTripped is the reason of events about trips of breakers.
const reasonTripped = "BreakerTripped"

// PutTrip takes a trip of a breaker, for one event on each of the nodes that it names, which are ten at most. It never
// blocks, as Put.
func (q *Queue) PutTrip(e guard.Event) {
	for _, node := range e.Names {
		q.put(&queuedNote{trip: &e, node: node, at: time.Now()})
	}
}

// tripEvent returns the event on a node about a breaker.
func tripEvent(q *queuedNote, serial uint64) *v1.Event {
	event := onNode(q.node, q.at, serial)
	event.Type, event.Reason, event.Message = v1.EventTypeWarning, reasonTripped, truncate.Text(tripMessage(q.trip))
	return event
}

func tripMessage(e *guard.Event) string {
	where := ""
	if e.Trip.Group != "" {
		where = " of " + e.Trip.Group
	}
	return fmt.Sprintf("Breaker %s is tripped: %d of %d nodes%s are affected, this one among them, and the evictions because of its taints are held",
		e.Trip.Breaker, e.Affected, e.Nodes, where)
}
