package event

import (
	"fmt"

	"github.com/taint-manager/taint-manager/eviction"
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
