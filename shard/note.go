package shard

import "github.com/taint-manager/taint-manager/taint"

// NoteKind says what a note tells.
type NoteKind uint8

// What a note can tell people about a pod.
const (
	_ NoteKind = iota

	// EvictionStarted: the first eviction call for the pod is about to start.
	EvictionStarted

	// EvictionCancelled: a scheduled eviction is withdrawn, and the pod stays.
	EvictionCancelled

	// EvictionDelayed: an eviction that is due is blocked or refused, or fails again and again; Outcome says
	// by what. Told once per pod and cause.
	EvictionDelayed
)

// Note is something to tell people about a pod, as an event.
type Note struct {
	Kind NoteKind
	Pod  *taint.Pod

	// Verdict is the one acted on; for Cancelling, the one that is withdrawn.
	Verdict taint.Verdict

	// Stays says why the pod stays; set for Cancelling only.
	Stays taint.Stay

	// Outcome of the last call; set for Hindered only.
	Outcome Outcome
}
