package foresight

import (
	"cmp"
	"fmt"
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
	Header

	// Pods to be evicted, in the order of their deadlines.
	Pods []PendingPod `json:"pods"`

	// TaintedNodes is the number of nodes with NoExecute taints, of those in question; nil if that is not known.
	TaintedNodes *int `json:"taintedNodes,omitempty"`

	// Undecided is set only if neither the nodes nor a journal of theirs can be read: the number of pods that would
	// be evicted if their node had a taint that they do not tolerate. Pods does not contain them.
	Undecided *int `json:"undecided,omitempty"`

	Remarks
}

// PendingPod is a pod to be evicted.
type PendingPod struct {
	PodRef

	// State is scheduled, due or held; At of a pod that is held is the deadline that it would have. The manager itself
	// also reports in-flight, blocked, refused, delayed and done.
	State string `json:"state"`

	Prediction `json:",inline"`

	// InSeconds is the time from At of the answer to the deadline; 0 is at once.
	InSeconds float64 `json:"inSeconds"`

	Progress
}

// Progress is what only the manager knows of an eviction.
type Progress struct {
	// NextTry is when the next call may start, Attempts the number of calls made. Cause and Message are the outcome of
	// the last one, and Budget is the PodDisruptionBudget that it names.
	NextTry  *time.Time `json:"nextTry,omitempty"`
	Attempts int        `json:"attempts,omitempty"`
	Cause    string     `json:"cause,omitempty"`
	Message  string     `json:"message,omitempty"`
	Budget   string     `json:"budget,omitempty"`

	// WaitsFor says what a due eviction waits for; WaitsForRate is the name of the rate if it is one.
	WaitsFor     string `json:"waitsFor,omitempty"`
	WaitsForRate string `json:"waitsForRate,omitempty"`

	// SlowPlace is set if the eviction waits for a slow place, because calls for pods like it are slow.
	SlowPlace bool `json:"slowPlace,omitempty"`
}

// OverdueAfter is how late an eviction is when it counts as overdue.
const OverdueAfter = 10 * time.Second

// Pending returns the evictions that are scheduled at this time on these nodes, or on all if none is named.
func (m *Model) Pending(at time.Time, nodes []string) *Pending {
	var list []PendingPod
	var d doubts
	by := m.now(at)
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil || len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		if prediction, _ := n.estimate.judge(&p.Pod, by); prediction.Evict || prediction.HeldBy != "" {
			d.add(&prediction)
			list = append(list, pendingOf(p, prediction, at))
		}
	}
	pending := NewPending(at, list)
	m.finish(pending, by, d, nodes)
	return pending
}

// finish adds to an answer about these nodes what is not known, and the notes.
func (m *Model) finish(p *Pending, by judge, d doubts, nodes []string) {
	if missing := m.journal().Missing(); m.byRecords && missing != "" {
		could, all := m.undecided(nodes)
		p.Undecided = &could
		p.Trips, p.Notes = by.trips, m.readingNotes()
		p.Incomplete = append(m.gaps(nodes), fmt.Sprintf("this user may not list nodes, and %s, so it is not known "+
			"which taints there are: none to %d of %s are scheduled%s; "+
			"--server asks the manager, and the ClusterRole taint-manager-viewer of deploy/rbac.yaml grants "+
			"what is missing", missing, could, Count(all, "pod"), m.focus.Words(nodes)))
		return
	}
	tainted := len(m.tainted(nodes))
	p.TaintedNodes = &tainted
	p.Remarks = m.remarks(by, p.At, d, nil)
	p.Incomplete = m.gaps(nodes)
	if len(p.Pods) > 0 {
		p.Notes = append(p.Notes, m.staleNote(nodes, p.At)...)
	}
	if late := p.overdue(OverdueAfter); late > 0 {
		p.Notes = append(p.Notes, Count(late, "pod")+" should have gone by now: no manager runs, or something is "+
			"in the way; "+
			"--server asks the manager, and 'taint-manager explain POD' tells what its events say")
	}
}

func pendingOf(p *pod, prediction Prediction, at time.Time) PendingPod {
	if prediction.At == nil {
		prediction.At = prediction.HeldDeadline
	}
	one := PendingPod{PodRef: p.ref(), State: Scheduled, Prediction: prediction}
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
		return taint.Decide(&p.Pod, m.unseen(p.Node), m.rules.tolerations()).Because(), !p.Terminating
	}
	prediction, _ := n.estimate.judge(&p.Pod, m.now(m.began))
	return prediction.Reason, !prediction.Evict && !p.Terminating
}

// undecided counts the pods that would be evicted if their node had a taint that they do not tolerate, on these
// nodes, or on all if none is named; and all pods.
func (m *Model) undecided(nodes []string) (could, all int) {
	anyTaint := v1.Taint{Key: "any", Effect: v1.TaintEffectNoExecute}
	for _, p := range m.pods {
		if len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		all++
		with := taint.Node{Name: p.Node, Taints: []taint.History{{{Taint: anyTaint, Since: p.Bound}}}}
		if taint.Decide(&p.Pod, &with, m.rules.tolerations()).Evict {
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
		return cmp.Or(a.At.Compare(*b.At), strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.Name, b.Name),
			strings.Compare(a.UID, b.UID))
	})
	return &Pending{Header: header("Pending", at), Pods: orNone(pods)}
}

// overdue counts the pods whose deadline was longer ago than by.
func (p *Pending) overdue(by time.Duration) (n int) {
	for i := range p.Pods {
		add(&n, p.Pods[i].Evict && p.At.Sub(*p.Pods[i].At) > by)
	}
	return n
}

// Names returns the namespaces and names of the pods that are to be evicted; the others are held.
func (p *Pending) Names() []string {
	var names []string
	for i := range p.Pods {
		if p.Pods[i].Evict {
			names = append(names, p.Pods[i].String())
		}
	}
	return names
}

// Evictions returns the number of pods that are to be evicted.
func (p *Pending) Evictions() (because, all int) {
	for i := range p.Pods {
		add(&all, p.Pods[i].Evict)
	}
	return all, all
}
