package eviction

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// State is the progress of an eviction.
type State uint8

// The states of an eviction.
const (
	_ State = iota

	// Scheduled: its deadline has not come.
	Scheduled

	// Due: its deadline has come. It waits for its turn, see [Wait], or for its next call after a failure that may
	// pass.
	Due

	// InFlight: a call is in flight.
	InFlight

	// Delayed: it is due, and the last outcome was Blocked or Refused, or another failure several times in a
	// row. The next call starts at Next.
	Delayed

	// Done: the API server has accepted the deletion, or a dry run has logged it; the pod is still there.
	Done
)

// The words for states, as JSON and the page have them.
const (
	WordScheduled = "scheduled"
	WordHeld      = "held"
	WordDue       = "due"
	WordInFlight  = "in-flight"
	WordBlocked   = "blocked"
	WordRefused   = "refused"
	WordDelayed   = "delayed"
	WordDone      = "done"
)

// Words returns the words for all states, in the order in which an eviction may go through them.
func Words() []string {
	return []string{WordScheduled, WordHeld, WordDue, WordInFlight, WordBlocked, WordRefused, WordDelayed, WordDone}
}

// RateOfAllCalls names the limit maxEvictionsPerSecond, which applies to all calls, as if it were a rate.
const RateOfAllCalls = "max-evictions-per-second"

// View is the state of one eviction, for display.
type View struct {
	Pod     *taint.Pod
	Verdict taint.Verdict
	State   State

	// Policy is the name of the policy that decides; empty if none matches. Method is that of the next call.
	Policy string
	Method policy.Method

	// DeleteAt is when the pod is deleted if its eviction is still refused; zero if never.
	DeleteAt time.Time

	// Held describes the pod's hold because of one taint. If no other taint evicts the pod, State is Scheduled, and
	// Verdict has the deadline that the pod would have without the hold.
	Held policy.Held

	// DeletedBy is [taint.DaemonSetController] if that controller deletes the pod, whatever this program does.
	DeletedBy string

	// Own: the pod belongs to this program, which evicts its own pods last, one at a time.
	Own bool

	// Returned is how often, within the last hour, earlier pods of the workload were evicted from this node because of
	// this taint; 0 if less than twice.
	Returned int

	// Waits says why a due eviction waits for its next call; zero if it does not wait, or if the cause is unknown.
	Waits Wait

	// Next is when the next call may start; zero when InFlight or Done.
	Next time.Time

	// Attempts is the number of calls made.
	Attempts int

	// Last is the outcome of the last call; its Kind is 0 when none has ended.
	Last Outcome
}

// Because returns the reason of the eviction, for people.
func (v *View) Because() string {
	because := v.Verdict.Because()
	if v.DeletedBy != "" {
		because += taint.DeletesDaemons
	}
	if v.Returned > 0 {
		because += "; " + ReturnedWords(v.Pod.Workload().Name, v.Returned)
	}
	return because
}

// IsHeld reports whether the pod is held, and no other taint evicts it.
func (v *View) IsHeld() bool { return v.Held.By != 0 && v.Method == "" }

// Word returns the word for the state. A delayed eviction is blocked or refused if its last outcome was.
func (v *View) Word() string {
	if v.IsHeld() {
		return WordHeld
	}
	switch v.State {
	case Due:
		return WordDue
	case InFlight:
		return WordInFlight
	case Delayed:
		return v.Last.Obstacle().String()
	case Done:
		return WordDone
	}
	return WordScheduled
}

// Obstacle returns the obstacle to a due eviction: it is blocked, refused or delayed.
func (o *Outcome) Obstacle() Pending {
	switch o.Kind {
	case Blocked:
		return PendingBlocked
	case Refused:
		return PendingRefused
	}
	return PendingDelayed
}
