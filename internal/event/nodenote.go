package event

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// Reasons of events on nodes.
const (
	reasonTripped = "BreakerTripped"
	reasonDrained = "Drained"
	reasonDropped = "TaintManagerEventsDropped"
)

// nodeNote is what an event on a node says.
type nodeNote struct{ kind, reason, message string }

// PutTrip takes a trip of a breaker, for one event on each of the nodes that it names, which are ten at most. It never
// blocks, as Put.
func (q *Queue) PutTrip(e guard.Event) {
	note := nodeNote{v1.EventTypeWarning, reasonTripped, truncate.Text(tripMessage(&e))}
	for _, node := range e.Names {
		q.put(&queuedNote{onNode: &note, node: node, at: time.Now()})
	}
}

// PutDrained takes the name of a node whose last pod that had to go is gone, for an event on the node. It never blocks,
// as Put.
func (q *Queue) PutDrained(node string) {
	note := nodeNote{v1.EventTypeNormal, reasonDrained, "The last pod that had to go because of taints is gone"}
	q.put(&queuedNote{onNode: &note, node: node, at: time.Now()})
}

// summary returns what is said about a node of which this number of notes was dropped.
func summary(dropped int) *nodeNote {
	const text = "Events about evictions of pods on this node that were dropped, because too many were waiting: "
	return &nodeNote{v1.EventTypeWarning, reasonDropped, text + strconv.Itoa(dropped)}
}

func tripMessage(e *guard.Event) string {
	where := ""
	if e.Trip.Group != "" {
		where = " of " + e.Trip.Group
	}
	return fmt.Sprintf("Breaker %s is tripped: %d of %d nodes%s are affected, this one among them, and the evictions because of its taints are held",
		e.Trip.Breaker, e.Affected, e.Nodes, where)
}
