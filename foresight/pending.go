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

// The states of an eviction, as far as the API tells them.
const (
	Scheduled = "scheduled" // its time has not come
	Due       = "due"       // its time has come
)

// Pending says what is scheduled now.
type Pending struct {
	APIVersion string `json:"apiVersion"`
	Kind       string `json:"kind"` // Pending

	// Rules are those by which the answer is: taint-manager.
	Rules string `json:"rules"`

	// At is the moment of the answer.
	At time.Time `json:"at"`

	// Pods that are to go, in the order of their times.
	Pods []PendingPod `json:"pods"`

	// TaintedNodes is how many nodes carry NoExecute taints, of those that were asked for; left out
	// where that is not known.
	TaintedNodes *int `json:"taintedNodes,omitempty"`

	// Undecided is there only where neither the nodes nor a journal of theirs can be read: how many
	// pods would go if their node had a taint that they do not bear. Pods then says nothing of them.
	Undecided *int `json:"undecided,omitempty"`

	// Incomplete says in a clause each what the answer can't say. It is to be read as no all-clear.
	Incomplete []string `json:"incomplete,omitempty"`

	// Notes say what the answer does not take into account.
	Notes []string `json:"notes,omitempty"`
}

// PendingPod is a pod that is to go.
type PendingPod struct {
	Namespace string `json:"namespace"`
	Name      string `json:"name"`
	UID       string `json:"uid"`
	Node      string `json:"node"`
	Owner     *Owner `json:"owner,omitempty"`

	// State is scheduled or due. The controller itself also tells in-flight, blocked, refused, delayed
	// and done.
	State string `json:"state"`

	Prediction `json:",inline"`

	// InSeconds is how long after At of the answer the pod goes; 0 is at once.
	InSeconds float64 `json:"inSeconds"`

	// What only the controller knows: when it tries next, how many calls it has made, and what the
	// last one has come to.
	NextTry  *time.Time `json:"nextTry,omitempty"`
	Attempts int        `json:"attempts,omitempty"`
	Cause    string     `json:"cause,omitempty"`
	Message  string     `json:"message,omitempty"`

	// Budget is the PodDisruptionBudget that does not permit it, where the API server has named one.
	Budget string `json:"budget,omitempty"`

	// SlowPlace says that it waits for a slow place, because calls for pods like it are slow.
	SlowPlace bool `json:"slowPlace,omitempty"`
}

// Pending says what is scheduled at the moment on these nodes, or on all where none is named. The model
// must have begun.
func (m *Model) Pending(at time.Time, nodes []string) *Pending {
	var list []PendingPod
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil || len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		if prediction := n.estimate.judge(&p.Pod, m.rules); prediction.Evict {
			list = append(list, pendingOf(p, prediction, at))
		}
	}
	return NewPending(at, list)
}

func pendingOf(p *pod, prediction Prediction, at time.Time) PendingPod {
	one := PendingPod{Namespace: p.Namespace, Name: p.Name, UID: string(p.UID), Node: p.Node, State: Scheduled, Prediction: prediction, Owner: p.ownerOrNil()}
	if !prediction.At.After(at) {
		one.State = Due
	}
	return one
}

// Now says whether the pod is there and stays for now, and why.
func (m *Model) Now(uid types.UID) (why string, stays bool) {
	p, ok := m.pods[uid]
	if !ok {
		return "", false
	}
	n := m.nodes[p.Node]
	if n == nil {
		return taint.Decide(&p.Pod, m.unseen(p.Node), m.rules).Because(), !p.Terminating
	}
	prediction := n.estimate.judge(&p.Pod, m.rules)
	return prediction.Reason, !prediction.Evict && !p.Terminating
}

// Undecided counts the pods that would go if their node had a taint that they do not tolerate, on these
// nodes, or on all where none is named; and all that there are.
func (m *Model) Undecided(nodes []string) (could, all int) {
	stranger := v1.Taint{Key: "any", Effect: v1.TaintEffectNoExecute}
	for _, p := range m.pods {
		if len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		all++
		with := taint.Node{Name: p.Node, Taints: []taint.History{{{Taint: stranger, Since: p.Bound}}}}
		if taint.Decide(&p.Pod, &with, m.rules).Evict {
			could++
		}
	}
	return could, all
}

// NewPending is an answer with these pods, which it sorts, and whose countdowns it sets.
func NewPending(at time.Time, pods []PendingPod) *Pending {
	for i := range pods {
		pods[i].InSeconds = max(0, pods[i].At.Sub(at).Seconds())
	}
	slices.SortFunc(pods, func(a, b PendingPod) int {
		return cmp.Or(a.At.Compare(*b.At), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name), strings.Compare(a.UID, b.UID))
	})
	return &Pending{APIVersion: APIVersion, Kind: "Pending", Rules: Rules, At: *utc(at), Pods: orNone(pods)}
}

// Overdue counts the pods that should have gone more than so long ago.
func (p *Pending) Overdue(by time.Duration) (n int) {
	for i := range p.Pods {
		if p.At.Sub(*p.Pods[i].At) > by {
			n++
		}
	}
	return n
}

// Unsure says whether the times of some pod are not known but within a range.
func (p *Pending) Unsure() bool {
	return slices.ContainsFunc(p.Pods, func(p PendingPod) bool { return p.Earliest != nil })
}

// Swapping says whether some pod's time rests on that of a taint whose time is set anew at swaps.
func (p *Pending) Swapping() bool {
	return slices.ContainsFunc(p.Pods, func(p PendingPod) bool { return swapped(p.Prediction) != nil })
}
