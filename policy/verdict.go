package policy

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Verdict is what [Set.Decide] says of one pod: it stays, it is held, or it goes. A pod that goes because of one taint
// may be held because of another one.
type Verdict struct {
	// Stay says why the pod stays; 0 when it goes or is held.
	Stay taint.Stay

	// Node is the name of the pod's node.
	Node string

	// Evict and Delete are the actions, each with the pair that makes it the earliest. From Delete.At on the pod is
	// deleted; before that, from Evict.At on, it is asked to go. An action that does not exist has the value false in
	// Evict.
	Evict, Delete Action

	// Held says what holds the pair that would be the first to go of those that are held.
	Held Held

	// Ignored is the name of a policy that has the pod's node keep it in spite of a taint; empty when there is none.
	Ignored string
}

// Action is one thing to be done with a pod, at Verdict.At, because of one pair.
type Action struct {
	taint.Verdict

	// Policy is the name of the policy that decides the pair; empty when none matches.
	Policy string

	// GracePeriod is the most that the pod is given to end; 0 is its own terminationGracePeriodSeconds.
	GracePeriod time.Duration

	// RefusedFor, of a deletion by deleteAfter, is how long before it this process must have had a request to evict the
	// pod refused, by a budget or by admission. 0: no request is needed.
	RefusedFor time.Duration
}

// HeldBy is what holds a pair.
type HeldBy uint8

// What holds a pair.
const (
	_               HeldBy = iota
	HeldByPolicy           // the policy Name has the method Hold
	HeldByBreaker          // the breaker Name is tripped for Group
	HeldByNamespace        // the policy Name asks for labels of the pod's namespace, which are not known yet
)

// Held says what holds a pair.
type Held struct {
	By    HeldBy // 0: nothing
	Name  string
	Group string // of a breaker

	// Policy decides the pair once it is no longer held by a breaker; empty when none matches.
	Policy string

	// Verdict has the deadline that the pair would have.
	Verdict taint.Verdict
}

// String says what holds: "policy quarantine", "breaker zone-outage (eu-1a)".
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
	}
	return "nothing"
}

// Goes reports whether anything is to be done.
func (v *Verdict) Goes() bool { return v.Evict.Evict || v.Delete.Evict }

// First is the earliest of what is to be done, as [taint.Decide] says it. A pod that is held stays, and its Stay is 0.
func (v *Verdict) First() taint.Verdict {
	switch {
	case v.Delete.sooner(&v.Evict):
		return v.Delete.Verdict
	case v.Evict.Evict:
		return v.Evict.Verdict
	}
	return taint.Verdict{Stay: v.Stay, Node: v.Node}
}

// Due returns what is to be done at that moment; the method is empty while nothing is.
func (v *Verdict) Due(now time.Time) (Method, *Action) {
	switch {
	case v.Delete.due(now):
		return Delete, &v.Delete
	case v.Evict.due(now):
		return Evict, &v.Evict
	}
	return "", nil
}

func (a *Action) due(now time.Time) bool { return a.Evict && !a.At.After(now) }

// sooner reports whether a comes no later than the other one.
func (a *Action) sooner(than *Action) bool {
	return a.Evict && (!than.Evict || !than.At.Before(a.At))
}

// earlier makes other the action if it comes earlier.
func (a *Action) earlier(other Action) {
	if !a.Evict || other.At.Before(a.At) {
		*a = other
	}
}

// GracePeriodSeconds returns what a deletion says, for a pod with this terminationGracePeriodSeconds: nil, so that the
// pod's own counts, unless the most is less than it.
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
