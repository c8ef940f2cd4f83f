package event

import (
	"fmt"
	"strconv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/taint"
)

// message returns the message of a note's event. Its first words are those of the original.
func message(n *eviction.Note) string {
	switch n.Kind {
	case eviction.EvictionCancelled:
		return truncate.Text("Cancelling deletion of Pod " + subject(n) + ", which was due" + when(n) + wasHeld(n) +
			": " +
			n.WhyStays() + "; it was to go because " + n.Verdict.Because())
	case eviction.EvictionHeld:
		return truncate.Text("Eviction of Pod " + subject(n) + ", due" + when(n) + ", is held by " + n.Held.String() +
			": " + n.Verdict.Because() + by(n))
	case eviction.EvictionDelayed:
		return truncate.Text("Eviction of Pod " + subject(n) + ", due" + when(n) + ", is " + obstacle(n.Outcome))
	}
	return truncate.Text("Marking for deletion Pod " + subject(n) + ", due" + when(n) + ": " + n.Verdict.Because() +
		by(n))
}

// subject names the pod and its node.
func subject(n *eviction.Note) string { return n.Pod.Key() + " on node " + n.Verdict.Node }

func when(n *eviction.Note) string { return " at " + taint.Stamp(n.Verdict.At) }

// wasHeld names what held the pod.
func wasHeld(n *eviction.Note) string {
	if n.Held.By == 0 {
		return ""
	}
	return " and held by " + n.Held.String()
}

// by names the policy that decides.
func by(n *eviction.Note) string {
	if n.Policy == "" {
		return ""
	}
	return "; policy " + n.Policy + " decides"
}

// obstacle returns what delays the eviction, with the server's message.
func obstacle(o eviction.Outcome) string {
	return fmt.Sprintf("%s (%s), and will be tried again: %s", o.Obstacle(), o.Cause, o.Message)
}

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
