package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Keys are the keys of the NoSchedule taints that are observed, because policies name them. They are sorted. The zero
// value has none.
type Keys struct {
	// Triggers are recorded, and begin exposures. Audited are neither: their starts are only shown.
	Triggers, Audited []string
}

// Added returns the sorted keys of k that were not among the keys before, in the same role.
func (k Keys) Added(before Keys) (added []string) {
	for _, key := range k.Triggers {
		if !has(before.Triggers, key) {
			added = append(added, key)
		}
	}
	for _, key := range k.Audited {
		if !has(before.Audited, key) {
			added = append(added, key)
		}
	}
	slices.Sort(added)
	return added
}

// And returns the keys of k that are among the others, too, in the same role.
func (k Keys) And(others Keys) Keys {
	without := func(keys, others []string) []string {
		return slices.DeleteFunc(slices.Clone(keys), func(key string) bool { return !has(others, key) })
	}
	return Keys{Triggers: without(k.Triggers, others.Triggers), Audited: without(k.Audited, others.Audited)}
}

// has reports whether the sorted keys contain this one.
func has(keys []string, key string) bool {
	_, found := slices.BinarySearch(keys, key)
	return found
}

// counted reports whether one of the NoSchedule taints has one of the keys.
func (k Keys) counted(taints []v1.Taint) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return t.Effect == v1.TaintEffectNoSchedule && (has(k.Triggers, t.Key) || has(k.Audited, t.Key))
	})
}

// statesOf returns the states of the history whose taints have one of the keys.
func statesOf(keys []string, history taint.History) (kept taint.History) {
	for i := range history {
		if has(keys, history[i].Taint.Key) {
			kept = append(kept, history[i])
		}
	}
	return kept
}
