package eviction

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// NoteKind is the kind of a note.
type NoteKind uint8

// The kinds of notes.
const (
	_ NoteKind = iota

	// EvictionStarted: the first call for the pod is about to start.
	EvictionStarted

	// EvictionCancelled: an eviction that is scheduled or held is cancelled, and the pod stays.
	EvictionCancelled

	// EvictionStuck: an eviction is blocked, refused or delayed; Outcome has the cause. It is reported once per pod and
	// cause.
	EvictionStuck

	// EvictionHeld: a pod that would otherwise be evicted is held; Held describes the hold. It is reported once per pod
	// and hold.
	EvictionHeld

	// EvictionAudited: a policy in mode Audit would now decide differently from its last report; nothing happens.
	// Verdict, Method and DeleteAt are its decision. It is reported once per pod, policy and change.
	EvictionAudited
)

// String returns the kind in a word.
func (n NoteKind) String() string {
	words := [...]string{
		EvictionStarted: "started", EvictionCancelled: "cancelled", EvictionStuck: "stuck", EvictionHeld: "held",
		EvictionAudited: "audited",
	}
	if n == 0 || int(n) >= len(words) {
		return "none"
	}
	return words[n]
}

// Note is a report about a pod, for the log and as an event.
type Note struct {
	Kind NoteKind
	Pod  *taint.Pod

	// Verdict is the reason for the note; for EvictionCancelled it is the verdict that no longer counts.
	Verdict taint.Verdict

	// Policy is the name of the policy that decides; empty if none matches. Method is that of the call.
	Policy string
	Method policy.Method

	// Held describes the hold; set for EvictionHeld, for EvictionCancelled if the pod was held, and for EvictionAudited
	// if the policy would hold the pod.
	Held policy.Held

	// DeleteAt is when the pod would be deleted at the latest; set for EvictionAudited only, zero if never.
	DeleteAt time.Time

	// Stays is the reason why the pod stays, from [policy.Judge.WhyStays]; set for EvictionCancelled only.
	Stays string

	// Probably is a clause with the probable cause of the cancellation; set for EvictionCancelled only, "" if unknown.
	Probably string

	// Outcome of the last call; set for EvictionStuck only.
	Outcome Outcome
}

// WhyStays returns why the pod of an EvictionCancelled stays, for people.
func (n *Note) WhyStays() string { return n.Stays + n.Probably }

// Probable causes of a cancellation.
const (
	DeletedByDaemonSet = ", probably by " + taint.DaemonSetController
	OutageSpared       = ", but a NoSchedule taint still reports the outage: probably kube-controller-manager has " +
		"started or changed its leader, every zone is disrupted, or another client has overwritten the node's taints"
)

// Overtaken is an eviction that waits in this process while another client deletes its pod, or has set the pod's
// condition DisruptionTarget.
type Overtaken struct {
	Pod *taint.Pod

	// Deadline is zero if the eviction is held.
	Deadline time.Time
}
