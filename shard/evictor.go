package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// Reader is the cache that a shard judges by: always the latest that is known. It may be called by any number of goroutines; what it
// returns is immutable.
type Reader interface {
	// Pod returns the pod with this UID and the node that it is bound to; each is nil when it is
	// not there.
	Pod(uid types.UID) (*taint.Pod, *taint.Node)

	// PodsOn returns the node of this name, nil when it is not there, and the pods bound to it.
	PodsOn(node string) (*taint.Node, []*taint.Pod)
}

// Permit is the permission to start one eviction call. Its holder calls exactly one of its methods,
// once; neither blocks.
type Permit interface {
	// Start begins the call. done is called exactly once, by another goroutine, when the call has
	// ended and its slot is free again.
	Start(e Eviction, done func(Outcome))

	// Release gives the grant back unused.
	Release()
}

// Eviction is one eviction call to be made.
type Eviction struct {
	// Pod as the cache had it when the call was decided on.
	Pod *taint.Pod

	// Verdict because of which the pod goes; its At is the deadline.
	Verdict taint.Verdict

	// Attempt counts the calls for this pod, from 1.
	Attempt int

	// AfterRefusal says that an earlier call was refused, or patched the condition in vain: the condition
	// is to be patched only once a dry run of the deletion has passed.
	AfterRefusal bool
}

// Kind is what an eviction call has come to.
type Kind uint8

// What an eviction call can come to. The zero Kind is not used.
const (
	_ Kind = iota

	// Accepted: the API server took the deletion. No second one is sent for this UID.
	Accepted

	// NotFound: no pod of this UID seems to be there. The watch has the last word.
	NotFound

	// Unavailable: the API server could not be reached. The evictor itself holds further calls back until
	// it is there again, so the pod is due at once; but from the second in a row it waits, as a proxy
	// may cut the connection for this pod alone.
	Unavailable

	// Throttled: the API server is loaded and asks all callers to wait for RetryAfter.
	Throttled

	// Failed: the call failed in a way that may pass: tried again with backoff.
	Failed

	// Blocked: a PodDisruptionBudget does not permit the eviction now.
	Blocked

	// Refused: admission or authorization forbids it: tried again with long backoff.
	Refused

	// Interrupted: the call was cut short because this process may not evict any longer.
	Interrupted

	// DryRun: dry run; nothing was sent. The pod is not tried again while it stays due.
	DryRun

	// Unconfirmed: the API server does not confirm what the cache says of the node or the pod. No
	// deletion was sent; the pod is judged again, and tried again soon if it is still to go.
	Unconfirmed
)

// Outcome is what an eviction call has come to, and why.
type Outcome struct {
	Kind Kind

	// Cause names the cause in a word or two, from a small fixed set: it is a metric's label.
	// Empty when Kind says it all.
	Cause string

	// Message is for people: the server's own words where there are some.
	Message string

	// NodeRead says that it comes from the GET of the pod's node, so that it tells nothing of the pod.
	NodeRead bool

	// RetryAfter is how long the server asks to wait; 0 when it does not say.
	RetryAfter time.Duration

	// DryRunFirst says of an Unconfirmed call that it has patched the condition, or found the pod edited:
	// further calls are made as after a refusal.
	DryRunFirst bool
}
