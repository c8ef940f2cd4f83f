package event

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// mostMessage is how many bytes of message an event may carry.
const mostMessage = 1024

// message is what an event says of a note. The first words are those that people search for.
func message(n *shard.Note) string {
	switch n.Kind {
	case shard.Cancelling:
		return cut("Cancelling deletion of Pod " + subject(n) + ", which was due" + when(n) + ": " +
			n.Stays.String() + "; it was to go because " + n.Verdict.Because())
	case shard.Hindered:
		return cut("Eviction of Pod " + subject(n) + ", due" + when(n) + ", is " + hindrance(n.Outcome))
	}
	return cut("Marking for deletion Pod " + subject(n) + ", due" + when(n) + ": " + n.Verdict.Because())
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

// cut makes a message valid UTF-8 and shortens it to what an event may carry, never within a character.
func cut(s string) string {
	s = strings.ToValidUTF8(s, "?")
	if len(s) <= mostMessage {
		return s
	}
	const more = "..."
	end := mostMessage - len(more)
	for !utf8.RuneStart(s[end]) {
		end--
	}
	return s[:end] + more
}
