package cluster

import (
	"maps"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// nodeModel is what is used of a node object. It may have taints of any effect.
type nodeModel struct {
	name    string
	uid     types.UID
	version string
	created time.Time
	taints  []v1.Taint
	labels  map[string]string // nil if they are not needed
}

// modelOf returns what is used of a node.
func (no *nodes) modelOf(n *v1.Node) nodeModel {
	l := nodeModel{
		name: n.Name, uid: n.UID, version: n.ResourceVersion, created: n.CreationTimestamp.Time,
		taints: taint.Normalize(n.Spec.Taints),
	}
	if no.needs.Load().NodeLabels {
		l.labels = n.Labels
	}
	return l
}

// modelIn returns the model in an item of a list.
func (no *nodes) modelIn(item any) (nodeModel, bool) {
	switch n := untrimmed(item).(type) {
	case *nodeModel:
		return *n, true
	case *v1.Node:
		if n != nil {
			return no.modelOf(n), true
		}
	}
	return nodeModel{}, false
}

// node returns the small value of the node.
func (n *nodeModel) node(known journal.NodeHistory) taint.Node {
	return taint.Node{
		Name: n.name, UID: n.uid, Created: n.created, Version: n.version, Labels: n.labels,
		Taints: known.Taints(), Triggers: known.Triggers(), Audited: known.Audited(),
	}
}

// gap describes what may have been missed between two observations of a node. The zero gap means nothing.
type gap struct {
	first   bool      // this is the process's first list
	missed  bool      // the process did not watch all the time since the last observation
	watched time.Time // the last moment at which the process did watch
}

// seenNode is a node as readers see it, with the state behind it.
type seenNode struct {
	*taint.Node

	known   journal.NodeHistory
	version string        // of the last observation
	needs   *policy.Needs // at the last observation; without keys that have been dropped since then

	// revision is the number of the change in this process that led to this state.
	revision uint64
}

// after returns the node after an observation that shows the same taints: with the version for its record, and with its
// present labels. It reports whether the labels have changed.
func after(n *taint.Node, known journal.NodeHistory, l *nodeModel) (now *taint.Node, labelled bool) {
	version := known.UpTo(n.Version, l.version)
	labelled = !maps.Equal(n.Labels, l.labels)
	if version == n.Version && !labelled {
		return n, false
	}
	node := *n
	node.Version = version
	if labelled {
		node.Labels = l.labels
	}
	return &node, labelled
}

// nodes are the nodes by name, with the histories of their taints. Any number of goroutines may read and adopt; only
// one may see and forget. A change is computed without a lock, because that may read all pods of the node, and is
// computed again if the node has changed in the meantime.
type nodes struct {
	rules  atomic.Pointer[taint.Rules]
	pods   func(node string) []*entry
	synced func() bool      // all existing pods are known
	now    func() time.Time // carries the monotonic clock
	ahead  Ahead
	needs  *atomic.Pointer[policy.Needs] // those that the cache of nodes follows

	mu      sync.RWMutex
	byName  map[string]seenNode
	tainted map[string]bool

	reached string // the resourceVersion up to which all changes are known

	changes uint64 // of all nodes
	absent  uint64 // the latest change that concerns nodes that are not there
}

func newNodes(rules taint.Rules, pods func(node string) []*entry, synced func() bool) *nodes {
	t := &nodes{
		pods: pods, synced: synced, now: time.Now, needs: newNeeds(),
		byName: map[string]seenNode{}, tainted: map[string]bool{},
	}
	t.rules.Store(&rules)
	return t
}

// get returns the node of this name, or nil.
func (no *nodes) get(name string) *taint.Node { return no.last(name).Node }

// last returns the last known state of the node with this name; its Node is nil if there is none.
func (no *nodes) last(name string) seenNode {
	no.mu.RLock()
	defer no.mu.RUnlock()
	return no.present(name)
}

// present is last for a caller that holds the lock.
func (no *nodes) present(name string) seenNode {
	n, ok := no.byName[name]
	if !ok {
		n.revision = no.absent
	}
	return n
}

// revise returns the number of a change. The caller holds the lock.
func (no *nodes) revise() uint64 {
	no.changes++
	return no.changes
}

// version returns the resourceVersion of the last observation of a tainted node; "" if there is no such node.
func (no *nodes) version(name string) string {
	if last := no.last(name); last.Tainted() {
		return last.version
	}
	return ""
}

// taintedNodes returns the nodes that carry NoExecute taints, or NoSchedule taints that policies name.
func (no *nodes) taintedNodes() []*taint.Node {
	no.mu.RLock()
	defer no.mu.RUnlock()
	list := make([]*taint.Node, 0, len(no.tainted))
	for name := range no.tainted {
		list = append(list, no.byName[name].Node)
	}
	return list
}

// update stores the model at a node, and reports whether the handler must be called.
func (no *nodes) update(l nodeModel, g gap) bool {
	for {
		old := no.last(l.name)
		now, tell := no.next(old, &l, g)
		if no.replace(l.name, old, now) {
			return tell
		}
	}
}

// next returns the state of a node after an observation of it, and reports whether the handler must be called.
func (no *nodes) next(old seenNode, l *nodeModel, g gap) (now seenNode, tell bool) {
	needs := no.needs.Load()
	if old.Node == nil || old.UID != l.uid {
		old.known, old.version, old.needs = journal.NodeHistory{}, "", needs
	}
	known, changed := no.observe(&old, l, g, needs)
	if old.Node != nil && old.UID == l.uid && !changed {
		node, labelled := after(old.Node, old.known, l)
		return seenNode{Node: node, known: old.known, version: l.version, needs: needs}, labelled && needs.NodeLabels &&
			node.Tainted()
	}
	node := l.node(known)
	node.Found = found(old.Node, &node, g, no.now)
	return seenNode{Node: &node, known: known, version: l.version, needs: needs}, old.Node != nil || node.Tainted()
}

// found returns the keys of the present taints that lists after gaps have shown, with the moments of these lists. old
// is the node before the observation; nil if it was not known.
func found(old, now *taint.Node, g gap, clock func() time.Time) map[string]time.Time {
	var all map[string]time.Time
	for _, key := range now.Keys() {
		at, known := time.Time{}, old != nil && old.UID == now.UID && slices.Contains(old.Keys(), key)
		switch {
		case g.missed && (!known || renewed(now, key)):
			at = clock()
		case known:
			at = old.Found[key]
		}
		if at.IsZero() {
			continue
		}
		if all == nil {
			all = map[string]time.Time{}
		}
		all[key] = at
	}
	return all
}

// renewed reports whether the latest list has shown a taint with this key that was not seen before.
func renewed(n *taint.Node, key string) bool {
	for _, histories := range [][]taint.History{n.Taints, n.Triggers} {
		for _, states := range histories {
			for i := range states {
				s := &states[i]
				if s.Taint.Key == key && !s.Ended && s.FoundInList && s.From == n.Version {
					return true
				}
			}
		}
	}
	return false
}

// adopt merges the journal's record of a node into what is known of it, and reports whether that changes anything.
func (no *nodes) adopt(name string, r journal.Record) bool {
	for {
		old := no.last(name)
		now, changed := no.adopted(old, r)
		if !changed || no.replace(name, old, now) {
			return changed
		}
	}
}

// adopted returns the state of a node with a record merged into it, and reports whether that changes anything.
func (no *nodes) adopted(old seenNode, r journal.Record) (merged seenNode, changed bool) {
	if !old.Tainted() {
		return old, false
	}
	now := no.now()
	known, changed := old.known.Adopt(r, journal.AdoptParams{
		UID: old.UID, Created: old.Created, Version: old.version, At: now, Ahead: no.ahead.at(now),
		Keys: keysOf(old.needs), Distinguishes: func(a, b *v1.Taint) bool { return no.apart(old.Name, a, b) },
	})
	if !changed {
		return old, false
	}
	node := *old.Node
	node.Taints, node.Triggers = known.Taints(), known.Triggers()
	node.Version = known.UpTo(node.Version, old.version)
	return seenNode{Node: &node, known: known, version: old.version, needs: old.needs}, true
}

// observe passes an observation of the node to the journal. A node without taints, before and now, needs no journal.
func (no *nodes) observe(
	before *seenNode, l *nodeModel, g gap, needs *policy.Needs,
) (known journal.NodeHistory, changed bool) {
	if before.known.Empty() && !observed(l.taints, needs) {
		return before.known, false
	}
	var keysBefore *journal.Keys
	if before.needs != needs {
		keysBefore = new(keysOf(before.needs))
	}
	name, now := l.name, no.now() // otherwise the model escapes to the heap
	return before.known.Observe(journal.Observation{
		Taints: l.taints, Keys: keysOf(needs), KeysBefore: keysBefore,
		At: now, Ahead: no.ahead.at(now), Created: l.created, Version: l.version, Before: before.version,
		Gap: g.first || g.missed, Watched: g.watched,
		Distinguishes: func(a, b *v1.Taint) bool { return no.apart(name, a, b) },
	})
}

// keysOf returns the keys of the NoSchedule taints that are observed.
func keysOf(n *policy.Needs) journal.Keys {
	return journal.Keys{Triggers: n.Triggers, Audited: n.Audited}
}

// observed reports whether the journal observes one of the taints: those that are NoExecute, and the triggers.
func observed(taints []v1.Taint, needs *policy.Needs) bool {
	for i := range taints {
		if t := &taints[i]; t.Effect == v1.TaintEffectNoExecute || isTrigger(t, needs) {
			return true
		}
	}
	return false
}

// isTrigger reports whether a taint is a NoSchedule taint that a policy makes a trigger, or would if it were enforced.
func isTrigger(t *v1.Taint, needs *policy.Needs) bool {
	if t.Effect != v1.TaintEffectNoSchedule {
		return false
	}
	_, trigger := slices.BinarySearch(needs.Triggers, t.Key)
	_, audited := slices.BinarySearch(needs.Audited, t.Key)
	return trigger || audited
}

// apart reports whether some pod of the node tolerates one of the taints without a limit, and the other not. While not
// all pods are known, there may be one. Policies may distinguish states that pods do not.
func (no *nodes) apart(node string, a, b *v1.Taint) bool {
	if !no.synced() || no.needs.Load().Distinguish(a, b) {
		return true
	}
	rules, both := *no.rules.Load(), []v1.Taint{*a, *b}
	for _, e := range no.pods(node) {
		p := e.against(both)
		if toleratesForever(p, a, rules) != toleratesForever(p, b, rules) {
			return true
		}
	}
	return false
}

// toleratesForever reports whether the pod tolerates the taint without a limit. For a NoSchedule taint, the first
// toleration that would match it with the effect NoExecute counts, and without any, one that matches it as it is.
func toleratesForever(p *taint.Pod, t *v1.Taint, rules taint.Rules) bool {
	if t.Effect == v1.TaintEffectNoExecute {
		return taint.BearsForEver(p, t, rules)
	}
	as := v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
	if taint.Matching(p, &as, rules) != nil {
		return taint.BearsForEver(p, &as, rules)
	}
	return taint.Matching(p, t, rules) != nil
}

// narrow notes that keys are not among these needs: an exposure to a taint that is dropped, and needed again before the
// next observation of its node, begins at that observation.
func (no *nodes) narrow(to *policy.Needs) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.absent = no.revise()
	narrowed := map[*policy.Needs]*policy.Needs{} // most nodes share one
	for name, n := range no.byName {
		if narrowed[n.needs] == nil {
			keys := keysOf(n.needs).And(keysOf(to))
			narrowed[n.needs] = &policy.Needs{Triggers: keys.Triggers, Audited: keys.Audited}
		}
		n.needs = narrowed[n.needs]
		n.revision = no.absent
		no.byName[name] = n
	}
}

// forget drops a node, and reports whether the handler must be called: a node without taints had no countdowns.
func (no *nodes) forget(name string) bool {
	no.mu.Lock()
	defer no.mu.Unlock()
	old := no.byName[name]
	delete(no.byName, name)
	delete(no.tainted, name)
	no.absent = no.revise()
	return old.Tainted()
}

// reach notes that all changes up to this resourceVersion are known.
func (no *nodes) reach(version string) {
	no.mu.Lock()
	defer no.mu.Unlock()
	no.reached = version
}

// names returns the names of all nodes.
func (no *nodes) names() []string {
	no.mu.RLock()
	defer no.mu.RUnlock()
	list := make([]string, 0, len(no.byName))
	for name := range no.byName {
		list = append(list, name)
	}
	return list
}

// replace stores the state of a node that was computed from an old one. It reports false, and stores nothing, if the
// old state is not the present one.
func (no *nodes) replace(name string, old, now seenNode) bool {
	no.mu.Lock()
	defer no.mu.Unlock()
	if no.present(name).revision != old.revision {
		return false
	}
	now.revision = no.revise()
	no.byName[name] = now
	if now.Tainted() {
		no.tainted[name] = true
	} else {
		delete(no.tainted, name)
	}
	return true
}
