package status

import (
	"cmp"
	"reflect"
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// sample is the facts of one moment, prepared for the comparison with the next one. It is immutable.
type sample struct {
	facts  Facts // whose Past holds the latest evictions since the sample before only
	index  map[types.UID]*eviction.View
	totals Totals
	nodes  map[string]Node
}

func newSample(f Facts) *sample {
	p := &sample{facts: f, index: byUID(f.Views), totals: totals(f), nodes: map[string]Node{}}
	for _, n := range nodesOf(f) {
		p.nodes[n.Name] = n
	}
	return p
}

// diff returns what has changed from one sample to the next, and whether anything has.
func diff(before, now *sample) (c Change, changed bool) {
	c = Change{At: stamp(now.facts.At), Totals: now.totals}
	if !reflect.DeepEqual(before.facts.Manager, now.facts.Manager) {
		c.Manager = &now.facts.Manager
	}
	c.Evictions, c.Gone = diffViews(before, now)
	c.Nodes, c.NodesGone = diffNodes(before.nodes, now.nodes)
	if now.facts.Past.Total != before.facts.Past.Total {
		c.Evicted = evictedOf(now.facts.Past.Latest)
		c.Minutes = minutesOf(changedMinutes(before.facts.Past.Minutes, now.facts.Past.Minutes))
	}
	changed = c.Manager != nil || c.Totals != before.totals ||
		len(c.Evictions)+len(c.Gone)+len(c.Nodes)+len(c.NodesGone)+len(c.Evicted) > 0
	return c, changed
}

// diffViews compares before it makes any text, as most evictions are unchanged.
func diffViews(before, now *sample) (changed []Eviction, gone []string) {
	for i := range now.facts.Views {
		v := &now.facts.Views[i]
		if old := before.index[v.Pod.UID]; old == nil || *old != *v {
			changed = append(changed, evictionOf(v))
		}
	}
	for uid := range before.index {
		if now.index[uid] == nil {
			gone = append(gone, string(uid))
		}
	}
	slices.Sort(gone)
	return changed, gone
}

func diffNodes(before, now map[string]Node) (changed []Node, gone []string) {
	for name, n := range now {
		if old, ok := before[name]; !ok || !sameNode(old, n) {
			changed = append(changed, n)
		}
	}
	for name := range before {
		if _, ok := now[name]; !ok {
			gone = append(gone, name)
		}
	}
	slices.SortFunc(changed, func(a, b Node) int { return cmp.Compare(a.Name, b.Name) })
	slices.Sort(gone)
	return changed, gone
}

func sameNode(a, b Node) bool {
	return a.UID == b.UID && a.Evictions == b.Evictions && slices.Equal(a.Taints, b.Taints)
}

// changedMinutes returns the minutes that have changed.
func changedMinutes(before, now []Count) []Count {
	var list []Count
	for _, c := range now {
		if !slices.Contains(before, c) {
			list = append(list, c)
		}
	}
	return list
}
