package event

import (
	"fmt"

	"github.com/taint-manager/taint-manager/internal/truncate"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// message is what an event says of a note. The first words are those that people search for.
func message(n *shard.Note) string {
	switch n.Kind {
	case shard.EvictionCancelled:
		return truncate.Text("Cancelling deletion of Pod " + subject(n) + ", which was due" + when(n) + ": " +
			n.Stays.String() + "; it was to go because " + n.Verdict.Because())
	case shard.EvictionDelayed:
		return truncate.Text("Eviction of Pod " + subject(n) + ", due" + when(n) + ", is " + hindrance(n.Outcome))
	}
	return truncate.Text("Marking for deletion Pod " + subject(n) + ", due" + when(n) + ": " + n.Verdict.Because())
}

// subject names the pod and its node.
func subject(n *shard.Note) string { return n.Pod.Key() + " on node " + n.Verdict.Node }

func when(n *shard.Note) string { return " at " + taint.Stamp(n.Verdict.At) }

// hindrance says what is in the eviction's way, with the server's words.
func hindrance(o shard.Outcome) string {
	verb := "hindered"
	switch o.Kind {
	case shard.Blocked:
		verb = "blocked"
	case shard.Refused:
		verb = "refused"
	}
	return fmt.Sprintf("%s (%s), and will be tried again: %s", verb, o.Cause, o.Message)
}
