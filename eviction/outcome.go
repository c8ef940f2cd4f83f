package eviction

import "time"

// Kind is the result of a call.
type Kind uint8

// The kinds. The zero Kind is not used.
const (
	_ Kind = iota

	// Accepted: the API server has accepted the deletion. No second deletion is sent for this UID.
	Accepted

	// NotFound: the API server answers that no pod of this UID exists. The watch decides whether the pod is gone.
	NotFound

	// Unavailable: the API server could not be reached. All calls pause until it answers, so the pod stays due; from
	// the second such outcome in a row the pod also has its own backoff, because a proxy may cut only this pod's calls.
	Unavailable

	// Throttled: the API server is loaded and asks all clients to wait for RetryAfter.
	Throttled

	// Failed: the call has failed in a way that may pass. It is repeated with backoff.
	Failed

	// Blocked: a PodDisruptionBudget does not permit the eviction now.
	Blocked

	// Refused: admission or authorization forbids it. It is repeated with long backoff.
	Refused

	// Interrupted: the call was cut short because this process may no longer evict.
	Interrupted

	// DryRun: nothing was sent, as the evictor only logs. The call is not repeated while the pod stays due.
	DryRun

	// Unconfirmed: the API server does not confirm what the cache shows of the node or the pod. No deletion
	// was sent. The pod is judged again, and the call is repeated soon if the pod is still due.
	Unconfirmed
)

// String returns the kind as metrics, logs and documents have it; "none" for an unknown kind.
func (k Kind) String() string {
	if !k.Valid() {
		return "none"
	}
	return [...]string{
		Accepted: "accepted", NotFound: "not-found", Unavailable: "unavailable", Throttled: "throttled",
		Failed: "failed", Blocked: "blocked", Refused: "refused", Interrupted: "interrupted", DryRun: "dry-run",
		Unconfirmed: "unconfirmed",
	}[k]
}

// Valid reports whether the kind is among the kinds above.
func (k Kind) Valid() bool { return k >= Accepted && k <= Unconfirmed }

// Outcome is the result of a call, and its cause.
type Outcome struct {
	Kind Kind

	// Cause is a cause of this package; a caller's evictor may return others. It is empty if Kind is enough.
	Cause string

	// Message is the API server's message, or an error's text.
	Message string

	// NodeRead: the outcome is that of the GET of the pod's node, so it says nothing about the pod.
	NodeRead bool

	// NothingDeleted, for Failed, Unavailable and Interrupted: the call has certainly deleted nothing, because it sent
	// no deletion, or the answer says so. If it is false, the pod may have been deleted.
	NothingDeleted bool

	// RetryAfter is how long the server asks clients to wait; 0 if it names no time.
	RetryAfter time.Duration

	// PreflightFirst: the call is Unconfirmed after it has patched the condition, or because the pod was edited.
	// Further calls are made as after a refusal; see [Request.AfterRefusal].
	PreflightFirst bool
}

// MayHaveDeleted reports whether the call has begun the deletion of the pod, or may have begun it because the answer
// was lost or does not say.
func (o *Outcome) MayHaveDeleted() bool {
	switch o.Kind {
	case Accepted:
		return true
	case Failed, Unavailable, Interrupted:
		return !o.NothingDeleted && !o.NodeRead
	}
	return false
}

// FailsInWebhook reports whether an admission webhook could not be called, or admission took so long that the API
// server gave the request up. For requests to evict a pod, that counts as a refusal once it has lasted for
// [policy.WebhookFailsFor].
func (o *Outcome) FailsInWebhook() bool {
	return o.Kind == Failed && (o.Cause == CauseWebhook || o.Cause == CauseAdmissionSlow) && !o.NodeRead
}

// RefusesEviction reports whether this outcome of a call of method Evict refuses the eviction itself: a
// PodDisruptionBudget does not permit it, or admission denies it. Only such refusals, and webhooks that fail for long,
// let deleteAfter delete the pod. Missing permissions, overload, outages, a namespace that is being deleted, and the
// GET of the node say nothing about the eviction.
func (o *Outcome) RefusesEviction() bool {
	return !o.NodeRead && (o.Kind == Blocked || o.Kind == Refused && o.Cause == CauseAdmission)
}

// LateBy returns how the outcome of a call explains the lateness of the next call; LateByNothing if it does not.
func (o *Outcome) LateBy() LateBy {
	switch {
	case o.Kind == Blocked:
		return LateByBudget
	case o.Kind == Unavailable, o.Kind == Throttled, o.Cause == CauseGateway, o.NodeRead && o.Kind == Failed:
		return LateByOutage
	case o.Cause == CauseWebhook, o.Cause == CauseTimeout, o.Cause == CauseAdmissionSlow:
		return LateBySlowCalls
	}
	return LateByNothing
}
