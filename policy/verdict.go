package policy

import (
	"cmp"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Verdict is the result of [Judge.Decide] for one pod: it stays, it is held, or it is evicted. A pod that is evicted
// because of one taint may be held because of another one.
type Verdict struct {
	// Stay is the reason why the pod stays; 0 if it is evicted or held.
	Stay taint.Stay

	// Node is the name of the pod's node.
	Node string

	// Request and Delete are the earliest eviction request and the earliest deletion, each with the pair that leads to
	// it. From Request.At on, the eviction of the pod is requested; from Delete.At on, the pod is deleted. A zero
	// Action, whose Evict is false, means none.
	Request, Delete Action

	// Unconditional is the earliest deletion that needs no refused request. It matters only if Delete needs a refused
	// request: the pod may then be deleted from Unconditional.At on although no request was refused.
	Unconditional Action

	// Held describes the hold with the earliest deadline; Held.By is 0 if no pair is held.
	Held Held

	// Holds has each policy and each group of a breaker that holds a pair, once. It excludes holds that wait for data:
	// labels of a namespace, or the journal.
	Holds []Holder

	// IgnoresTaint reports whether a taint of the node is ignored: by the policy IgnoredBy or, if that is empty, by the
	// method of the configuration.
	IgnoresTaint bool
	IgnoredBy    string
}

// Action is an eviction request or a deletion that starts at Verdict.At because of one pair.
type Action struct {
	taint.Verdict

	// Policy is the name of the policy that decides the pair; empty if none matches.
	Policy string

	// GracePeriod is the maximum grace period of the pod; 0 means its own terminationGracePeriodSeconds.
	GracePeriod time.Duration

	// RefusedFor is the minimum time between this process's first refused eviction request and a deletion by
	// deleteAfter. A budget, admission, or a webhook that fails for long may refuse. 0 means that no request is needed.
	RefusedFor time.Duration
}

// HeldBy is the kind of a hold.
type HeldBy uint8

// The kinds of holds.
const (
	_               HeldBy = iota
	HeldByPolicy           // the policy Name has the method Hold
	HeldByBreaker          // the breaker Name is tripped for Group
	HeldByNamespace        // the policy Name selects by labels of the pod's namespace, which are not known yet
	HeldByJournal          // the breaker Name may be tripped for Group, and the journal was not read yet
)

// Holder is a policy with the method Hold, or a group of a breaker that is tripped.
type Holder struct {
	By          HeldBy // HeldByPolicy or HeldByBreaker
	Name, Group string
}

// Held describes the hold of a pair.
type Held struct {
	By    HeldBy // 0: not held
	Name  string
	Group string // of a breaker

	// Policy decides the pair once a breaker no longer holds it; empty if no policy matches.
	Policy string

	// Verdict has the deadline that the pair would have.
	Verdict taint.Verdict
}

// DelaysDeletion reports whether deleteAfter counts from the end of the hold. It does not if the hold waits for data.
func (h *Held) DelaysDeletion() bool { return h.By == HeldByPolicy || h.By == HeldByBreaker }

// String names the hold: "policy quarantine", "breaker zone-outage (eu-1a)".
func (h Held) String() string {
	switch h.By {
	case HeldByPolicy:
		return "policy " + h.Name
	case HeldByBreaker:
		if h.Group == "" {
			return "breaker " + h.Name
		}
		return "breaker " + h.Name + " (" + h.Group + ")"
	case HeldByNamespace:
		return "policy " + h.Name + ", until the labels of the namespace are known"
	case HeldByJournal:
		return "breaker " + h.Name + ", until the journal is read"
	}
	return "nothing"
}

// add merges the decision about a pair into the verdict.
func (v *Verdict) add(d PairDecision) {
	switch {
	case d.Method == "":
	case d.Method == Ignore:
		v.IgnoresTaint = true
		v.IgnoredBy = cmp.Or(v.IgnoredBy, d.Policy)
	case !d.Evict:
		v.Stay = taint.Tolerated
	case d.Held.By != 0:
		if v.Held.By == 0 || d.At.Before(v.Held.Verdict.At) {
			v.Held = d.Held
		}
		h := Holder{d.Held.By, d.Held.Name, d.Held.Group}
		if d.Held.DelaysDeletion() && !slices.Contains(v.Holds, h) {
			v.Holds = append(v.Holds, h)
		}
	case d.Method == Evict:
		v.Request.takeEarlier(&d.Action)
	}
	v.Delete.takeEarlier(&d.Delete)
	if d.Delete.RefusedFor == 0 {
		v.Unconditional.takeEarlier(&d.Delete)
	}
	if v.Evicts() || v.Held.By != 0 {
		v.Stay = 0
	}
}

// Evicts reports whether the pod is to be evicted or deleted, now or later.
func (v *Verdict) Evicts() bool { return v.Request.Evict || v.Delete.Evict }

// First returns the verdict of the earliest action, in the form of [taint.Decide]. If there is none, it returns why the
// pod stays; Stay is 0 for a pod that is held.
func (v *Verdict) First() taint.Verdict {
	if _, a := v.Earliest(); a != nil {
		return a.Verdict
	}
	return taint.Verdict{Stay: v.Stay, Node: v.Node}
}

// Earliest returns the earliest action and its method; nil if there is none.
func (v *Verdict) Earliest() (Method, *Action) {
	switch {
	case v.Delete.precedes(&v.Request):
		return Delete, &v.Delete
	case v.Request.Evict:
		return Evict, &v.Request
	}
	return "", nil
}

// Due returns the action that is due now, and its method. The method is empty if no action is due.
func (v *Verdict) Due(now time.Time) (Method, *Action) {
	switch {
	case v.Delete.due(now):
		return Delete, &v.Delete
	case v.Request.due(now):
		return Evict, &v.Request
	}
	return "", nil
}

func (a *Action) due(now time.Time) bool { return a.Evict && !a.At.After(now) }

// precedes reports whether the action exists, and comes no later than the other action.
func (a *Action) precedes(other *Action) bool {
	return a.Evict && (!other.Evict || !other.At.Before(a.At))
}

// takeEarlier replaces the action by the other action if the other action comes earlier.
func (a *Action) takeEarlier(other *Action) {
	if other.Evict && (!a.Evict || other.At.Before(a.At)) {
		*a = *other
	}
}

// GracePeriodSeconds returns the grace period to send with the deletion of a pod with this
// terminationGracePeriodSeconds: the limit if it is shorter; otherwise nil, so that the pod's own period applies.
func GracePeriodSeconds(own *int64, most time.Duration) *int64 {
	seconds := int64(v1.DefaultTerminationGracePeriodSeconds)
	if own != nil {
		seconds = *own
	}
	limit := int64(most / time.Second)
	if limit <= 0 || limit >= seconds {
		return nil
	}
	return &limit
}
