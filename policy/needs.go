package policy

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Needs lists the data that the verdicts and the guards use in addition to those of [taint.Decide].
type Needs struct {
	// Triggers are the sorted keys of the taints of effect NoSchedule that a policy makes triggers. Audited are the
	// sorted keys that only policies in mode Audit name: the starts of these taints are shown, but no exposure begins.
	Triggers, Audited []string

	// PodLabels are the sorted keys of the labels of pods that policies select by.
	PodLabels []string

	// NodeLabels, PodOwners and NamespaceLabels report whether these data are used. Only the last need another watch.
	NodeLabels, PodOwners, NamespaceLabels bool

	// Breakers reports whether there are breakers. They use the labels and the taints of any effect of all nodes.
	Breakers bool

	// Values are the sorted values of taints that policies name. Swapped reports whether a policy matches only one of
	// the taints not-ready and unreachable. Either may make a policy decide differently for two states of a taint.
	Values  []string
	Swapped bool

	// GracePeriods reports whether a policy limits the grace periods of pods.
	GracePeriods bool
}

// Needs returns the data that the policies and the guards use.
func (s *Set) Needs() Needs {
	var n Needs
	if s == nil {
		return n
	}
	for i := range s.policies {
		n = n.Or(s.policies[i].needs())
	}
	n.Audited = slices.DeleteFunc(n.Audited, func(key string) bool { return slices.Contains(n.Triggers, key) })
	grouped := func(r Rate) bool { return r.TopologyKey != "" }
	n.Breakers = len(s.breakers) > 0
	n.NodeLabels = n.NodeLabels || n.Breakers || slices.ContainsFunc(s.config.Guards.Rates, grouped)
	return n
}

// needs returns the data that the policy uses; its lists are not sorted.
func (c *compiled) needs() Needs {
	n := Needs{
		PodLabels: keysOf(c.pods), NodeLabels: !c.nodes.Empty(), NamespaceLabels: !c.namespaces.Empty(),
		PodOwners:    len(c.Match.OwnerKinds) > 0 || c.stay.Unlimited != nil || c.Match.triggersOnNoSchedule(),
		GracePeriods: c.GracePeriod != nil, Swapped: c.Match.namesOneOfSwapped(),
	}
	for _, t := range c.Match.Taints {
		n.Values = append(n.Values, t.Values...)
		switch noSchedule := t.hasEffect(v1.TaintEffectNoSchedule); {
		case noSchedule && c.Mode == Audit:
			n.Audited = append(n.Audited, t.Key)
		case noSchedule:
			n.Triggers = append(n.Triggers, t.Key)
		}
	}
	return n
}

// namesOneOfSwapped reports whether the match includes only one of the taints that the node lifecycle controller swaps.
func (m *Match) namesOneOfSwapped() bool {
	for _, effect := range [...]v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule} {
		notReady := v1.Taint{Key: v1.TaintNodeNotReady, Effect: effect}
		unreachable := v1.Taint{Key: v1.TaintNodeUnreachable, Effect: effect}
		if m.names(&notReady) != m.names(&unreachable) {
			return true
		}
	}
	return false
}

// Distinguish reports whether a policy may decide differently for two states of a taint, if the pod tolerates both
// alike.
func (n *Needs) Distinguish(a, b *v1.Taint) bool {
	if a.Key != b.Key && n.Swapped {
		return true
	}
	return a.Value != b.Value && (slices.Contains(n.Values, a.Value) || slices.Contains(n.Values, b.Value))
}

// TriggeredBy reports whether a policy makes taints of effect NoSchedule with this key triggers, or would make them
// triggers if it were enforced.
func (n *Needs) TriggeredBy(key string) bool {
	return slices.Contains(n.Triggers, key) || slices.Contains(n.Audited, key)
}

// Or returns the union of both needs, with sorted lists.
func (n Needs) Or(m Needs) Needs {
	n.Triggers, n.Audited = union(n.Triggers, m.Triggers), union(n.Audited, m.Audited)
	n.PodLabels = union(n.PodLabels, m.PodLabels)
	n.NodeLabels = n.NodeLabels || m.NodeLabels
	n.PodOwners = n.PodOwners || m.PodOwners
	n.NamespaceLabels = n.NamespaceLabels || m.NamespaceLabels
	n.Breakers = n.Breakers || m.Breakers
	n.Values, n.Swapped = union(n.Values, m.Values), n.Swapped || m.Swapped
	n.GracePeriods = n.GracePeriods || m.GracePeriods
	return n
}

// union returns the sorted keys that are in one of the lists.
func union(a, b []string) []string {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

// Needs returns the data that verdicts use, including the data that tells which ended holds count for a pair.
func (j Judge) Needs() Needs {
	n := j.Set.Needs()
	grouped := func(h HoldRecord) bool { return h.TopologyKey != "" }
	if j.Facts != nil && slices.ContainsFunc(j.Facts.Holds, grouped) {
		n.NodeLabels = true
	}
	return n
}
