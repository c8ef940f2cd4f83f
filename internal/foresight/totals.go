package foresight

import (
	"cmp"
	"slices"
	"strings"
)

// Total counts pods.
type Total struct {
	Evict     int `json:"evict"`          // those that are evicted because of the changes, or sooner because of them
	Stay      int `json:"stay"`           // those of the nodes in question that stay
	Saved     int `json:"saved"`          // those of Stay that would be evicted without the changes
	Anyway    int `json:"anyway"`         // those of the nodes in question that go without the changes, too, and no later
	Elsewhere int `json:"elsewhere"`      // those that are evicted from other nodes, whose taints do not change
	Held      int `json:"held,omitempty"` // those of the nodes in question that a policy or a breaker holds
	Blocked   int `json:"blocked"`        // those of all with a blockedBy: with the method evict, budgets would block them

	// Now is the number of pods of Evict that go at once, Waiting the number of those that wait for budgets, and Never
	// the number of those that wait for ever. Last is the latest prediction of those that do not wait; nil if there are
	// none. AllWaiting also has those that go anyway.
	Now, Waiting, Never, AllWaiting int         `json:"-"`
	Last                            *Prediction `json:"-"`
}

// NamespaceTotal counts the pods of one namespace.
type NamespaceTotal struct {
	Namespace string `json:"namespace"`
	Total     `json:",inline"`
}

// OwnerTotal counts the pods of one owner.
type OwnerTotal struct {
	Namespace string `json:"namespace"`
	Owner     `json:",inline"`
	Total     `json:",inline"`

	Replicas int  `json:"replicas"` // on all nodes, except those that have finished or are being deleted
	LosesAll bool `json:"losesAll"` // each of its replicas is evicted, some of them because of the changes

	// Ready is the number of replicas that are ready. LosesReady is set if each of these is evicted, some of them
	// because of the changes, and others stay that are not ready.
	Ready      int  `json:"ready"`
	LosesReady bool `json:"losesReady,omitempty"`
}

// going returns the number of pods that go, be it anyway.
func (t *Total) going() int { return t.Evict + t.Anyway + t.Elsewhere }

// add counts a pod.
func (t *Total) add(p *PlannedPod) {
	switch p.Effect {
	case Evicted, Sooner:
		t.Evict++
		t.addGoing(p)
	case Saved:
		t.Stay++
		t.Saved++
	case Stays:
		t.Stay++
	case Held:
		countIf(&t.Held, p.selected)
	default:
		countIf(&t.Anyway, p.selected)
		countIf(&t.Elsewhere, !p.selected)
	}
	countIf(&t.Blocked, len(p.BlockedBy) > 0)
	countIf(&t.AllWaiting, p.waitsForBudgets)
}

// addGoing counts a pod of Evict.
func (t *Total) addGoing(p *PlannedPod) {
	if p.waitsForBudgets {
		t.Waiting++
		countIf(&t.Never, p.neverByBudgets)
		return
	}
	countIf(&t.Now, *p.InSeconds == 0)
	if t.Last == nil || t.Last.At.Before(*p.At) {
		t.Last = &p.Prediction
	}
}

// count adds the totals of the pods to the plan, in the order of their names.
func (p *Plan) count(counts map[ownerKey]*replicas) {
	p.Namespaces, p.Owners = []NamespaceTotal{}, []OwnerTotal{}
	ready := p.readyGoing()
	for _, pod := range p.Pods {
		pod.of, pod.waitsForBudgets, pod.neverByBudgets = nil, p.Waits(pod), p.NeverGoes(pod)
		p.Total.add(pod)
	}
	nodes := totalsBy(p.Pods, func(p *PlannedPod) string { return p.Node })
	for i := range p.Nodes {
		p.Nodes[i].Total = nodes[p.Nodes[i].Name]
	}
	for name, total := range totalsBy(p.Pods, func(p *PlannedPod) string { return p.Namespace }) {
		p.Namespaces = append(p.Namespaces, NamespaceTotal{name, total})
	}
	for key, total := range totalsBy(p.Pods, func(p *PlannedPod) ownerKey { return p.ownerKey() }) {
		if n, gone := cmp.Or(counts[key], new(replicas)), ready[key]; key != (ownerKey{}) {
			losesAll := total.Evict > 0 && total.going() == n.all
			losesReady := !losesAll && gone.Evict > 0 && gone.going() == n.ready
			p.Owners = append(p.Owners, OwnerTotal{
				key.namespace, key.owner, total, n.all, losesAll, n.ready, losesReady,
			})
		}
	}
	slices.SortFunc(p.Namespaces, func(a, b NamespaceTotal) int { return strings.Compare(a.Namespace, b.Namespace) })
	slices.SortFunc(p.Owners, func(a, b OwnerTotal) int {
		return cmp.Or(strings.Compare(a.Namespace, b.Namespace), strings.Compare(a.String(), b.String()),
			cmp.Compare(a.UID, b.UID))
	})
}

// readyGoing counts the ready pods of each owner that go.
func (p *Plan) readyGoing() map[ownerKey]Total {
	ready := map[ownerKey]Total{}
	for _, pod := range p.Pods {
		if pod.of.ready && pod.Evict {
			total := ready[pod.ownerKey()]
			total.add(pod)
			ready[pod.ownerKey()] = total
		}
	}
	return ready
}

// totalsBy counts the pods by a key that some pod on a node in question has.
func totalsBy[K comparable](pods []*PlannedPod, key func(*PlannedPod) K) map[K]Total {
	totals := map[K]Total{}
	for _, p := range pods {
		if p.selected {
			totals[key(p)] = Total{}
		}
	}
	for _, p := range pods {
		if total, ok := totals[key(p)]; ok {
			total.add(p)
			totals[key(p)] = total
		}
	}
	return totals
}
