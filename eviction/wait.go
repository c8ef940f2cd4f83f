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
