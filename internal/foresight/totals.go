package foresight

import (
	"cmp"
	"maps"
	"slices"
	"strings"
)

// Total counts pods.
type Total struct {
	Evict     int `json:"evict"`          // pods that are evicted, or evicted sooner, because of the changes
	Stay      int `json:"stay"`           // pods on the selected nodes that stay
	Saved     int `json:"saved"`          // pods in stay that would be evicted without the changes
	Anyway    int `json:"anyway"`         // pods on the selected nodes that are evicted no later without the changes
	Elsewhere int `json:"elsewhere"`      // pods that are evicted from other nodes, whose taints do not change
	Held      int `json:"held,omitempty"` // pods on the selected nodes that a policy or a breaker holds
	Blocked   int `json:"blocked"`        // all pods with blockedBy: with the method evict, budgets would block them

	// Of the pods that Evict counts, Now counts those evicted at once, Waiting those that wait for budgets, and Never
	// those that wait for budgets forever. Last is the latest prediction for one that does not wait; nil if there is
	// none. AllWaiting is Waiting plus the pods that are evicted anyway and wait for budgets.
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

	Replicas int  `json:"replicas"` // unfinished pods on all nodes, without those being deleted
	LosesAll bool `json:"losesAll"` // all replicas are evicted, some of them because of the changes

	Ready int `json:"ready"` // number of ready replicas

	// LosesReady is set if all ready replicas are evicted, some because of the changes, and only unready ones stay.
	LosesReady bool `json:"losesReady,omitempty"`
}

// going returns the number of all pods that are evicted, with or without the changes.
func (t *Total) going() int { return t.Evict + t.Anyway + t.Elsewhere }

// add counts a pod.
func (t *Total) add(p *PlannedPod) {
	caused, anyway := p.Caused(), p.Effect == Anyway || p.Effect == Later
	countIf(&t.Evict, caused)
	countIf(&t.Stay, p.Effect == Saved || p.Effect == Stays)
	countIf(&t.Saved, p.Effect == Saved)
	countIf(&t.Held, p.Effect == Held && p.Selected)
	countIf(&t.Anyway, anyway && p.Selected)
	countIf(&t.Elsewhere, anyway && !p.Selected)
	countIf(&t.Blocked, len(p.BlockedBy) > 0)
	countIf(&t.AllWaiting, p.Waits)
	countIf(&t.Waiting, caused && p.Waits)
	countIf(&t.Never, caused && p.NeverGoes)
	countIf(&t.Now, caused && !p.Waits && *p.InSeconds == 0)
	if caused && !p.Waits && (t.Last == nil || t.Last.At.Before(*p.At)) {
		t.Last = &p.Prediction
	}
}

// count adds the totals of the pods to the plan, in the order of their names.
func (p *Plan) count(counts map[ownerKey]*replicas) {
	p.Namespaces, p.Owners = []NamespaceTotal{}, []OwnerTotal{}
	ready := p.readyGoing()
	for _, pod := range p.Pods {
		pod.of = nil
		p.Total.add(pod)
	}
	nodes := totalsBy(p.Pods, func(p *PlannedPod) string { return p.Node })
	if p.Devices != nil {
		p.Nodes = []PlannedNode{}
		for _, name := range slices.Sorted(maps.Keys(nodes)) {
			p.Nodes = append(p.Nodes, PlannedNode{Name: name, Changes: []NodeChange{}})
		}
	}
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

// readyGoing counts the ready pods of each owner that are evicted.
func (p *Plan) readyGoing() map[ownerKey]Total {
	ready := map[ownerKey]Total{}
	for _, pod := range p.Pods {
		if pod.of.Ready { // a pod that stays adds nothing to going
			total := ready[pod.ownerKey()]
			total.add(pod)
			ready[pod.ownerKey()] = total
		}
	}
	return ready
}

// totalsBy counts the pods by key, for the keys of pods on selected nodes.
func totalsBy[K comparable](pods []*PlannedPod, key func(*PlannedPod) K) map[K]Total {
	totals := map[K]Total{}
	for _, p := range pods {
		if p.Selected {
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
