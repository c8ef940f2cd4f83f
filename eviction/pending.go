package eviction

import (
	"fmt"
	"time"
)

// Pending is the state in which metrics count an eviction. Each eviction is in exactly one state.
type Pending uint8

// The states. A call in flight does not change the state: its outcome does.
const (
	_                  Pending = iota
	PendingScheduled           // its deadline has not come
	PendingDue                 // it waits for its turn or the API server, or its call is in flight
	PendingRate                // a rate has no token
	PendingShare               // its namespace has half of the free places already
	PendingBlocked             // a PodDisruptionBudget did not permit the last call
	PendingRefused             // admission or a missing permission forbade the last call
	PendingDelayed             // its calls have failed several times in a row, for another cause
	PendingHeld                // a policy or a breaker holds the pod
	PendingPaused              // it is due, and all calls are paused
	PendingTerminating         // the API server has accepted the deletion, and the pod is still there
	pendings
)

// PendingCounts are numbers of evictions by state.
type PendingCounts [pendings]int

// PendingTimes are moments by state.
type PendingTimes [pendings]time.Time

// AllPending returns all states, in the order in which an eviction may go through them.
func AllPending() (all []Pending) {
	for p := PendingScheduled; p < pendings; p++ {
		all = append(all, p)
	}
	return all
}

// String returns the state as metrics have it.
func (p Pending) String() string {
	return [pendings]string{
		PendingScheduled: WordScheduled, PendingDue: WordDue, PendingRate: "waiting_rate",
		PendingShare: "waiting_share", PendingBlocked: WordBlocked, PendingRefused: WordRefused,
		PendingDelayed: WordDelayed, PendingHeld: WordHeld, PendingPaused: "paused", PendingTerminating: "terminating",
	}[p]
}

// Pending returns the state of a due eviction with this wait.
func (w Wait) Pending() Pending {
	switch w.Cause {
	case WaitsForRate:
		return PendingRate
	case WaitsForShare:
		return PendingShare
	case WaitsPaused:
		return PendingPaused
	}
	return PendingDue
}

// Add adds the other counts.
func (p *PendingCounts) Add(other PendingCounts) {
	for state := range other {
		p[state] += other[state]
	}
}

// Take sets the time of the state to the given time if the state has a later one or none. A zero time means none.
func (p *PendingTimes) Take(state Pending, at time.Time) {
	if p[state].IsZero() || !at.IsZero() && at.Before(p[state]) {
		p[state] = at
	}
}

// WaitCause is why an eviction that is due waits.
type WaitCause string

// The causes of waits.
const (
	WaitsForTurn   WaitCause = "turn"       // others go first
	WaitsForRate   WaitCause = "rate"       // a rate has no token
	WaitsForShare  WaitCause = "share"      // its namespace has half of the free places already
	WaitsPaused    WaitCause = "paused"     // all calls are paused
	WaitsForServer WaitCause = "api server" // it can't be reached, or asks to wait
)

// Wait is why an eviction that is due waits. The zero value means that it does not wait.
type Wait struct {
	Cause WaitCause

	// Rate is the name of the rate, or [RateOfAllCalls]; set for WaitsForRate only.
	Rate string

	// Namespace already has this number of calls in flight; set for WaitsForShare only.
	Namespace string
	Calls     int
}

// String names the cause of the wait: "its turn", "rate cluster". It is empty for the zero value.
func (w Wait) String() string {
	switch w.Cause {
	case WaitsForTurn:
		return "its turn"
	case WaitsForRate:
		return "rate " + w.Rate
	case WaitsForShare:
		return fmt.Sprintf("a place: namespace %s already has %d calls in flight, half of what is free", w.Namespace, w.Calls)
	case WaitsPaused:
		return "the end of the pause"
	case WaitsForServer:
		return "the API server"
	}
	return ""
}
