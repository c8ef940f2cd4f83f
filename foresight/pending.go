package foresight

import (
	"cmp"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// The states of an eviction that the API shows.
const (
	Scheduled = "scheduled" // its deadline has not come
	Due       = "due"       // its deadline has come

	// Held, the effect of a plan, is also a state.
)

// Pending lists the evictions that are scheduled now.
type Pending struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // Pending

	// Rules are the rules by which the pods were judged: taint-manager.
	Rules string `json:"rules"`

	// At is the time of the answer.
	At time.Time `json:"at"`

	// Pods to be evicted, in the order of their deadlines.
	Pods []PendingPod `json:"pods"`

	// TaintedNodes is the number of nodes with NoExecute taints, of those in question; nil if that is not known.
	TaintedNodes *int `json:"taintedNodes,omitempty"`

	// Undecided is set only if neither the nodes nor a journal of theirs can be read: the number of pods that would
	// be evicted if their node had a taint that they do not tolerate. Pods does not contain them.
	Undecided *int `json:"undecided,omitempty"`

	// Trips are the breakers that are tripped.
	Trips []Trip `json:"trips,omitempty"`

	// Incomplete has a clause for each thing that the answer lacks. If it is not empty, an empty list of pods
	// proves nothing.
	Incomplete []string `json:"incomplete,omitempty"`

	// Notes say what the answer does not take into account.
	Notes []string `json:"notes,omitempty"`
}

// PendingPod is a pod to be evicted.
type PendingPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"`

	// State is scheduled, due or held; At of a pod that is held is the deadline that it would have. The manager itself also reports in-flight, blocked, refused, delayed and done.
	State string `json:"state"`

	Prediction `json:",inline"`

	// InSeconds is the time from At of the answer to the deadline; 0 is at once.
	InSeconds float64 `json:"inSeconds"`

	// Only the manager knows these: the time of the next try, the number of calls, and the outcome of the last one.
	NextTry  *time.Time `json:"nextTry,omitempty"`
	Attempts int        `json:"attempts,omitempty"`
	Cause    string     `json:"cause,omitempty"`
	Message  string     `json:"message,omitempty"`

	// Budget is the PodDisruptionBudget that does not permit the eviction, if the API server has named one.
	Budget string `json:"budget,omitempty"`

	// WaitsFor says what a due eviction waits for; WaitsForRate is the name of the rate if it is one.
	WaitsFor     string `json:"waitsFor,omitempty"`
	WaitsForRate string `json:"waitsForRate,omitempty"`

	// SlowPlace is set if the eviction waits for a slow place, because calls for pods like it are slow.
	SlowPlace bool `json:"slowPlace,omitempty"`
}

// Pending returns the evictions that are scheduled at this time on these nodes, or on all if none is named. Begin
// must have been called.
func (m *Model) Pending(at time.Time, nodes []string) *Pending {
	var list []PendingPod
	by := m.now(at)
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil || len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		if prediction, _ := n.estimate.judge(&p.Pod, by); prediction.Evict || prediction.HeldBy != "" {
			list = append(list, pendingOf(p, prediction, at))
		}
	}
	pending := NewPending(at, list)
	pending.Trips = by.trips
	return pending
}

func pendingOf(p *pod, prediction Prediction, at time.Time) PendingPod {
	if prediction.At == nil {
		prediction.At = prediction.HeldDeadline
	}
	one := PendingPod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node, State: Scheduled, Prediction: prediction, Owner: p.ownerOrNil()}
	switch {
	case !prediction.Evict:
		one.State = Held
	case !prediction.At.After(at):
		one.State = Due
	}
	return one
}

// Now reports whether the pod exists and stays for now, and why.
func (m *Model) Now(uid types.UID) (why string, stays bool) {
	p, ok := m.pods[uid]
	if !ok {
		return "", false
	}
	n := m.nodes[p.Node]
	if n == nil {
		return taint.Decide(&p.Pod, m.unseen(p.Node), m.basis.rules()).Because(), !p.Terminating
	}
	prediction, _ := n.estimate.judge(&p.Pod, m.now(m.began))
	return prediction.Reason, !prediction.Evict && !p.Terminating
}

// Undecided counts the pods that would be evicted if their node had a taint that they do not tolerate, on these
// nodes, or on all if none is named; and all pods.
func (m *Model) Undecided(nodes []string) (could, all int) {
	stranger := v1.Taint{Key: "any", Effect: v1.TaintEffectNoExecute}
	for _, p := range m.pods {
		if len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		all++
		with := taint.Node{Name: p.Node, Taints: []taint.History{{{Taint: stranger, Since: p.Bound}}}}
		if taint.Decide(&p.Pod, &with, m.basis.rules()).Evict {
			could++
		}
	}
	return could, all
}

// NewPending returns an answer with these pods, which it sorts, and whose InSeconds it sets.
func NewPending(at time.Time, pods []PendingPod) *Pending {
	for i := range pods {
		pods[i].InSeconds = max(0, pods[i].At.Sub(at).Seconds())
	}
	slices.SortFunc(pods, func(a, b PendingPod) int {
		return cmp.Or(a.At.Compare(*b.At), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	return &Pending{APIVersion: APIVersion, Kind: "Pending", Rules: Rules, At: *utc(at), Pods: orNone(pods)}
}

// Overdue counts the pods whose deadline was longer ago than by.
func (p *Pending) Overdue(by time.Duration) (n int) {
	for i := range p.Pods {
		if p.Pods[i].Evict && p.At.Sub(*p.Pods[i].At) > by {
			n++
		}
	}
	return n
}

// Going counts the pods that are to be evicted; the others are held.
func (p *Pending) Going() (n int) {
	for i := range p.Pods {
		if p.Pods[i].Evict {
			n++
		}
	}
	return n
}

// Unsure reports whether the deadline of a pod is known only as a range.
func (p *Pending) Unsure() bool {
	return slices.ContainsFunc(p.Pods, func(p PendingPod) bool { return p.Earliest != nil })
}

// AsIfNow reports whether the deadline of a pod depends on when a manager with the policies first saw a taint, which no
// journal has, as if that were the time of the answer.
func (p *Pending) AsIfNow() bool {
	return slices.ContainsFunc(p.Pods, func(p PendingPod) bool { return p.SinceFrom == FromPolicy })
}

// Swapping reports whether a pod's deadline depends on a taint whose timeAdded is set anew at swaps.
func (p *Pending) Swapping() bool {
	return slices.ContainsFunc(p.Pods, func(p PendingPod) bool { return swapped(p.Prediction) != nil })
}
