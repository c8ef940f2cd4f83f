package foresight

import (
	"cmp"
	"errors"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// Pending lists the evictions that are scheduled now.
type Pending struct {
	Header

	Focus   Focus         `json:"-"`    // what was asked for:
	OnNodes []string      `json:"-"`    // the pods on these nodes, or on all if there are none
	Pods    []*PendingPod `json:"pods"` // pods to be evicted, earliest deadline first

	// Others are the other pods on OnNodes; empty in an answer from a manager, which does not know them.
	Others []*BoundPod `json:"-"`

	Stale bool `json:"-"` // the state may be out of date

	// Pace says how a rate delays evictions; nil if none does. With --server, it counts all evictions.
	Pace *Pace `json:"pace,omitempty"`

	// Spared is the note about nodes that are dead, but have no taint that evicts; empty if there are no such nodes.
	Spared string `json:"-"`

	// Heartbeat is the manager's latest; nil if the question names the rules, or if there is no manager.
	Heartbeat *Heartbeat `json:"-"`

	Paused bool `json:"paused,omitempty"` // with --server: taint-manager is paused and starts no eviction

	// TaintedNodes is the number of selected nodes with taints that evict; nil if unknown.
	TaintedNodes *int `json:"taintedNodes,omitempty"`

	Remarks
}

// CannotSay returns an error if the answer is incomplete. The error also says if no eviction was found.
func (p *Pending) CannotSay() error {
	if len(p.Pods) > 0 || len(p.Incomplete) == 0 {
		return p.Remarks.CannotSay()
	}
	return errors.New("no eviction found, but the answer is incomplete: " + p.gap())
}

// PendingPod is a pod to be evicted.
type PendingPod struct {
	PodRef

	// State is scheduled, due or held; with --server, any state. For a held pod, at is the deadline without the hold.
	State eviction.State `json:"state"`

	Prediction `json:",inline"`
	InSeconds  float64 `json:"inSeconds"` // seconds from the answer's time to the deadline; 0 means at once

	// Returned is how often, in the last hour, earlier pods of the owner were evicted from this node for this taint;
	// omitted if less than twice, or if no event says so.
	Returned int `json:"returned,omitempty"`

	Progress
}

// Progress is what only the running taint-manager knows about an eviction.
type Progress struct {
	NextTry  *time.Time `json:"nextTry,omitempty"`  // when the next call may start
	Attempts int        `json:"attempts,omitempty"` // number of calls made
	Cause    string     `json:"cause,omitempty"`    // outcome of the last call
	Message  string     `json:"message,omitempty"`  // message of the last call
	Budget   string     `json:"budget,omitempty"`   // the PodDisruptionBudget that the outcome names

	WaitsFor     string `json:"waitsFor,omitempty"`     // what a due eviction waits for
	WaitsForRate string `json:"waitsForRate,omitempty"` // name of the rate, if it waits for one
}

// Pending returns the evictions that are scheduled at this time on these nodes, or on all if none is named.
func (m *Model) Pending(at time.Time, nodes []string) *Pending {
	var list []*PendingPod
	var others []*BoundPod
	var d doubts
	var evicted []going
	var asked []*pod
	by, self, rounds := m.rulesNow(at), m.self(), m.rounds(at)
	for _, p := range m.pods {
		if !among(nodes, p.Node) {
			continue
		}
		asked = append(asked, p)
		switch prediction, verdict := m.predict(&by, p, m.users); {
		case prediction.EvictedOrHeld():
			d.add(&prediction)
			prediction.Own = isOwn(self, p, &prediction)
			scheduled := pendingOf(p, prediction, at)
			scheduled.Returned = p.returned(rounds, &prediction)
			list = append(list, scheduled)
			if prediction.Evict {
				evicted = append(evicted, going{p, &prediction})
			}
		case len(nodes) > 0:
			others = append(others, &BoundPod{p.ref(), m.standing(p, &verdict)})
		}
	}
	pending := NewPending(at, m.focus, nodes, list)
	pending.Others, pending.Pace = others, by.pace(m, at, evicted)
	pending.Heartbeat = m.heartbeat()
	pending.TaintedNodes = new(len(m.Tainted(nodes)))
	pending.Remarks = m.remarks(d, nil, &by)
	pending.Incomplete = m.gaps(nodes, &m.rules)
	pending.Incomplete = append(pending.Incomplete, m.unknownDevices(slices.Values(asked))...)
	m.noteDevices(&pending.Remarks, m.users, asked)
	pending.noteOverdue(m.readBefore(at))
	pending.NotePods(m.spared(nodes))
	return pending
}

// noteOverdue adds a note about how many pods taint-manager should already have evicted when they were read.
func (p *Pending) noteOverdue(read time.Time) {
	overdue := 0
	for _, pod := range p.Pods {
		countIf(&overdue, pod.DeletedBy == "" && pod.Overdue(read))
	}
	if overdue > 0 {
		p.note("%s should have been evicted by now: either taint-manager is not running, or something blocks the evictions; "+
			"'taint-manager explain POD' shows the events of a pod", Count(overdue, "pod"))
	}
}

// NotePods adds notes about the pods that are evicted last, pods that have come back, and dead nodes without a taint
// that evicts.
func (p *Pending) NotePods(spared []SparedNode) {
	p.noteOwn(namesOf(p.Pods, func(pod *PendingPod) bool { return pod.Own }))
	p.noteReturned()
	if p.Spared = sparedNote(spared); p.Spared != "" {
		p.Notes = append(p.Notes, p.Spared)
	}
}

func pendingOf(p *pod, prediction Prediction, at time.Time) *PendingPod {
	scheduled := &PendingPod{PodRef: p.ref(), State: eviction.StateScheduled, Prediction: prediction}
	switch {
	case prediction.At == nil:
		scheduled.At, scheduled.State = prediction.HeldDeadline, eviction.StateHeld
	case !prediction.At.After(at):
		scheduled.State = eviction.StateDue
	}
	return scheduled
}

// NewPending returns an answer with these pods of the focus on the nodes. It sorts the pods, and sets their InSeconds.
func NewPending(at time.Time, focus Focus, nodes []string, pods []*PendingPod) *Pending {
	for _, p := range pods {
		p.InSeconds = max(0, p.At.Sub(at).Seconds())
	}
	slices.SortFunc(pods, func(a, b *PendingPod) int {
		return cmp.Or(a.At.Compare(*b.At), trueLast(a.Own, b.Own), a.compare(&b.PodRef))
	})
	pods = append([]*PendingPod{}, pods...) // JSON has [], not null
	return &Pending{Header: header("Pending", at), Focus: focus, OnNodes: nodes, Pods: pods}
}

// Names returns the namespaces and names of the pods that are to be evicted; the others are held.
func (p *Pending) Names() []string {
	return namesOf(p.Pods, func(pod *PendingPod) bool { return pod.Evict })
}

// Evictions returns the number of pods that are to be evicted.
func (p *Pending) Evictions() int { return len(p.Names()) }
