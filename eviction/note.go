package eviction

import (
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// NoteKind is what a note reports.
type NoteKind uint8

// The kinds of notes.
const (
	_ NoteKind = iota

	// EvictionStarted: the first call for the pod is about to start.
	EvictionStarted

	// EvictionCancelled: a scheduled eviction is withdrawn, and the pod stays.
	EvictionCancelled

	// EvictionDelayed: an eviction that is due is blocked or refused, or has failed several times in a row;
	// Outcome has the cause. It is reported once per pod and cause.
	EvictionDelayed
)

// String returns the kind in a word.
func (k NoteKind) String() string {
	switch k {
	case EvictionStarted:
		return "started"
	case EvictionCancelled:
		return "cancelled"
	case EvictionDelayed:
		return "delayed"
	}
	return "none"
}

// Note is a report about a pod, for the log and as an event.
type Note struct {
	Kind NoteKind
	Pod  *taint.Pod

	// Verdict is the verdict acted on; for EvictionCancelled, the one that is withdrawn.
	Verdict taint.Verdict

	// Policy is the name of the policy that decides; empty if none matches. Method is that of the call.
	Policy string
	Method policy.Method

	// Stays is why the pod stays; set for EvictionCancelled only.
	Stays taint.Stay

	// Outcome of the last call; set for EvictionDelayed only.
	Outcome Outcome
}
