package eviction

import "time"

// Kind is the result of a call.
type Kind uint8

// The kinds. The zero Kind is not used.
const (
	_ Kind = iota

	// Accepted: the API server has accepted the deletion. No second one is sent for this UID.
	Accepted

	// NotFound: no pod of this UID seems to exist. The watch has the last word.
	NotFound

	// Unavailable: the API server could not be reached. All calls pause until it answers, so the pod stays due;
	// from the second in a row the pod has a backoff of its own, as a proxy may cut its connection alone.
	Unavailable

	// Throttled: the API server is loaded and asks all clients to wait for RetryAfter.
	Throttled

	// Failed: the call has failed in a way that may pass. It is repeated with backoff.
	Failed

	// Blocked: a PodDisruptionBudget does not permit the eviction now.
	Blocked

	// Refused: admission or authorization forbids it. It is repeated with long backoff.
	Refused

	// Interrupted: the call was cut short because this process may not evict any longer.
	Interrupted

	// DryRun: nothing was sent, as the evictor only logs. The call is not repeated while the pod stays due.
	DryRun

	// Unconfirmed: the API server does not confirm what the cache shows of the node or the pod. No deletion
	// was sent. The pod is judged again, and the call is repeated soon if the pod is still due.
	Unconfirmed
)

// String returns the kind as metrics, logs and documents have it; "none" for an unknown one.
func (k Kind) String() string {
	names := [...]string{
		Accepted: "accepted", NotFound: "not-found", Unavailable: "unavailable", Throttled: "throttled", Failed: "failed",
		Blocked: "blocked", Refused: "refused", Interrupted: "interrupted", DryRun: "dry-run", Unconfirmed: "unconfirmed",
	}
	if int(k) >= len(names) || names[k] == "" {
		return "none"
	}
	return names[k]
}

// Valid reports whether the kind is one of those above.
func (k Kind) Valid() bool { return k >= Accepted && k <= Unconfirmed }

// Outcome is the result of a call, and its cause.
type Outcome struct {
	Kind Kind

	// Cause is one of the causes of this package; an evictor of a caller's own may have others. It is empty
	// where Kind says it all.
	Cause string

	// Message is the API server's message, or what an error says; for people.
	Message string

	// NodeRead says that the outcome is that of the GET of the pod's node, so that it says nothing of the pod.
	NodeRead bool

	// RetryAfter is how long the server asks clients to wait; 0 when it does not say.
	RetryAfter time.Duration

	// PreflightFirst reports of an Unconfirmed call that it has patched the condition, or that the pod was edited:
	// further calls are made as after a refusal.
	PreflightFirst bool
}
