package differential

import (
	"slices"
	"strconv"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// keys are the keys of taints; the last two are the pair that the node lifecycle controller swaps.
var keys = []string{"gpu", "disk", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable}

func (g *generator) newNode(name string) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: name, UID: g.uid(name), ResourceVersion: "1", CreationTimestamp: g.ago(pick(g, 0, 30, 3000)),
	}}
	for range pick(g, 0, 0, 1, 1, 2) {
		g.taint(n, pick(g, keys...))
	}
	g.nodes[name] = n
	return n
}

// taint sets a taint of this key, or gives it another value.
func (g *generator) taint(n *v1.Node, key string) {
	t := v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}
	switch key {
	case "disk":
		t.Value = pick(g, "slow", "broken")
	case "load":
		t.Value = strconv.Itoa(g.IntN(10))
	}
	if g.chance(10) {
		t.Effect = pick(g, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule)
	}
	if g.chance(15) {
		added := g.ago(pick(g, -20, 0, 1, 5, 20, 100))
		t.TimeAdded = &added
	}
	lift(n, func(old v1.Taint) bool { return old.Key == t.Key && old.Effect == t.Effect })
	n.Spec.Taints = slices.Insert(n.Spec.Taints, g.IntN(len(n.Spec.Taints)+1), t)
}

// lift removes the taints that match, and reports whether there were any.
func lift(n *v1.Node, matches func(t v1.Taint) bool) bool {
	before := len(n.Spec.Taints)
	n.Spec.Taints = slices.DeleteFunc(slices.Clone(n.Spec.Taints), matches)
	return len(n.Spec.Taints) < before
}

func (g *generator) setTaint() bool {
	n := one(g, g.nodes)
	if n == nil {
		return false
	}
	key := pick(g, keys...)
	if len(n.Spec.Taints) > 0 && g.chance(30) {
		key = pick(g, n.Spec.Taints...).Key
	}
	g.taint(n, key)
	if g.chance(15) {
		g.taint(n, pick(g, keys...))
	}
	return g.nodeChanged(updated, n)
}

func (g *generator) liftTaint() bool {
	n := one(g, g.nodes)
	if n == nil || len(n.Spec.Taints) == 0 {
		return false
	}
	lifted := pick(g, n.Spec.Taints...)
	lift(n, func(t v1.Taint) bool { return t.Key == lifted.Key && t.Effect == lifted.Effect })
	if g.chance(10) {
		g.taint(n, pick(g, keys...))
	}
	return g.nodeChanged(updated, n)
}

func (g *generator) liftAll() bool {
	n := one(g, g.nodes)
	return n != nil && lift(n, func(v1.Taint) bool { return true }) && g.nodeChanged(updated, n)
}

// takeTurns swaps not-ready for unreachable or back, as the node lifecycle controller does.
func (g *generator) takeTurns() bool {
	n := one(g, g.nodes)
	if n == nil {
		return false
	}
	from, to := v1.TaintNodeNotReady, v1.TaintNodeUnreachable
	if g.chance(50) {
		from, to = to, from
	}
	if !lift(n, func(t v1.Taint) bool { return t.Key == from }) {
		return false
	}
	g.taint(n, to)
	return g.nodeChanged(updated, n)
}

// touchNode makes a change that evicts no pod.
func (g *generator) touchNode() bool {
	n := one(g, g.nodes)
	if n == nil {
		return false
	}
	n.Labels = map[string]string{"touched": strconv.Itoa(len(g.out.changes))}
	for i := range n.Spec.Taints {
		if g.chance(50) {
			added := g.ago(g.IntN(20))
			n.Spec.Taints[i].TimeAdded = &added
		}
	}
	return g.nodeChanged(updated, n)
}

// deleteNode deletes a node, or creates a missing one.
func (g *generator) deleteNode() bool {
	name := pick(g, "n1", "n2")
	n := g.nodes[name]
	if n == nil {
		return g.nodeChanged(created, g.newNode(name))
	}
	delete(g.nodes, name)
	return g.nodeChanged(deleted, n)
}

// replaceNode replaces a node by another of the same name, mostly with the same taints.
func (g *generator) replaceNode() bool {
	old := one(g, g.nodes)
	if old == nil {
		return false
	}
	n := g.newNode(old.Name)
	if g.chance(70) {
		n.Spec.Taints = slices.Clone(old.Spec.Taints)
	}
	return g.nodeChanged(pick(g, replaced, turned), n)
}
