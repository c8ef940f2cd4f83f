package eviction

// WaitCause is why an eviction that is due waits.
type WaitCause string

// The causes of waits.
const (
	WaitsForTurn      WaitCause = "turn"       // others go first
	WaitsForRate      WaitCause = "rate"       // a rate has no token
	WaitsForSlowPlace WaitCause = "slow place" // calls for pods like it are slow
	WaitsPaused       WaitCause = "paused"     // all calls are paused
	WaitsForServer    WaitCause = "api server" // it can't be reached, or asks to wait
)

// Wait is why an eviction that is due waits. The zero value stands for an eviction that does not wait.
type Wait struct {
	Cause WaitCause

	// Rate is the name of the rate, or [RateOfAllCalls]; set for WaitsForRate only.
	Rate string
}

// String returns what the eviction waits for: "its turn", "rate cluster". It is empty for the zero value.
func (w Wait) String() string {
	switch w.Cause {
	case WaitsForTurn:
		return "its turn"
	case WaitsForRate:
		return "rate " + w.Rate
	case WaitsForSlowPlace:
		return "a slow place"
	case WaitsPaused:
		return "the end of the pause"
	case WaitsForServer:
		return "the API server"
	}
	return ""
}
