package eviction

import (
	"time"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// State is the state of an eviction, in the word that JSON, metrics, the status page and commands have for it.
// [States] has all of them.
type State string

// The states.
const (
	StateScheduled   State = "scheduled"
	StateHeld        State = "held"
	StateDue         State = "due"
	StateInFlight    State = "in-flight"
	StateBlocked     State = "blocked"
	StateRefused     State = "refused"
	StateDelayed     State = "delayed"
	StateTerminating State = "terminating"
)

// States returns all states, in the order in which an eviction may go through them.
func States() []State {
	return []State{
		StateScheduled, StateHeld, StateDue, StateInFlight, StateBlocked, StateRefused, StateDelayed, StateTerminating,
	}
}

// Meaning describes the state, for the reference and the status page.
func (s State) Meaning() string {
	return map[State]string{
		StateScheduled: "its deadline is in the future",
		StateHeld:      "a policy or a tripped breaker keeps the pod from being evicted",
		StateDue:       "its deadline has passed: it waits, or is retried soon after a failed call",
		StateInFlight:  "a call is in flight",
		StateBlocked:   "a PodDisruptionBudget does not permit it now",
		StateRefused:   "admission or a missing permission forbids it",
		StateDelayed:   "its calls failed several times in a row for another cause",
		StateTerminating: "the API server has accepted the deletion, and the pod is still there: in its grace period, " +
			"with a finalizer, or on a dead node; in a dry run, the pod would have been evicted",
	}[s]
}

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

	// Held describes the pod's hold because of one taint. If no other taint evicts the pod, State is StateHeld, and
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

	// Next is when the next call may start; zero when held, in flight or terminating.
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

// Stuck returns the state of an eviction that this outcome of its last call keeps from succeeding.
func (o *Outcome) Stuck() State {
	switch o.Kind {
	case Blocked:
		return StateBlocked
	case Refused:
		return StateRefused
	}
	return StateDelayed
}
