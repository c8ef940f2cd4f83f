package eviction

import "fmt"

// WaitCause is why an eviction that is due waits, as metrics have it. [WaitCauses] has all of them.
type WaitCause string

// The causes of waits.
const (
	WaitsForTurn   WaitCause = "turn"
	WaitsForRate   WaitCause = "rate"
	WaitsForShare  WaitCause = "share"
	WaitsForPause  WaitCause = "pause"
	WaitsForServer WaitCause = "api-server"
)

// WaitCauses returns all causes.
func WaitCauses() []WaitCause {
	return []WaitCause{WaitsForTurn, WaitsForRate, WaitsForShare, WaitsForPause, WaitsForServer}
}

// Meaning describes the cause, for the reference.
func (w WaitCause) Meaning() string {
	return map[WaitCause]string{
		WaitsForTurn: "other evictions use all capacity, or other namespaces or nodes come first",
		WaitsForRate: "the rate, or " + RateOfAllCalls + " for all calls, has no token",
		WaitsForShare: "its namespace already uses its whole share of capacity, because its calls take longer than a " +
			"second: the API server or a webhook is slow",
		WaitsForPause:  "all evictions are paused",
		WaitsForServer: "the API server is unreachable, or asks clients to wait",
	}[w]
}

// RateOfAllCalls names the limit maxEvictionsPerSecond, which applies to all calls, as if it were a rate.
const RateOfAllCalls = "max-evictions-per-second"

// Wait is why an eviction that is due waits. The zero value means that it does not wait.
type Wait struct {
	Cause WaitCause

	// Rate is the name of the rate, or [RateOfAllCalls]; set for WaitsForRate only.
	Rate string

	// Namespace already has this number of calls in flight; set for WaitsForShare only.
	Namespace string
	Calls     int
}

// String says in words what the eviction waits for: "its turn", "rate cluster". It is empty for the zero value.
func (w Wait) String() string {
	switch w.Cause {
	case WaitsForTurn:
		return "its turn"
	case WaitsForRate:
		return "rate " + w.Rate
	case WaitsForShare:
		return fmt.Sprintf("a place: namespace %s already has %d calls in flight, half of what is free", w.Namespace, w.Calls)
	case WaitsForPause:
		return "the end of the pause"
	case WaitsForServer:
		return "the API server"
	}
	return ""
}
