package policy

import (
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Needs lists the data that the verdicts of a set use in addition to those of [taint.Decide].
type Needs struct {
	// Triggers are the sorted keys of the taints of effect NoSchedule that a policy makes triggers. Audited are
	// those that only policies in mode Audit name: their starts are shown, but do not begin an exposure.
	Triggers, Audited []string

	// NodeLabels, PodOwners and NamespaceLabels report whether they are used. Namespaces need a watch only then.
	NodeLabels, PodOwners, NamespaceLabels bool

	// Breakers reports whether there are breakers. They use the labels and the taints of any effect of all nodes.
	Breakers bool

	// GracePeriods reports whether a policy limits the grace periods of pods.
	GracePeriods bool
}

// Needs returns the data that the policies use.
func (s *Set) Needs() Needs {
	var n Needs
	if s == nil {
		return n
	}
	triggers := map[bool]map[string]bool{false: {}, true: {}} // by audit
	for i := range s.policies {
		p := &s.policies[i]
		n.NodeLabels = n.NodeLabels || p.match.nodes != nil
		n.NamespaceLabels = n.NamespaceLabels || p.match.spaces != nil
		n.PodOwners = n.PodOwners || len(p.match.owners) > 0 || p.stay.Unlimited != nil
		n.GracePeriods = n.GracePeriods || p.gracePeriod > 0
		for _, t := range p.match.taints {
			if slices.Contains(t.Effects, v1.TaintEffectNoSchedule) {
				triggers[p.audit][t.Key], n.PodOwners = true, true
			}
		}
	}
	n.Breakers = len(s.breakers) > 0
	n.NodeLabels = n.NodeLabels || n.Breakers
	n.Triggers = slices.Sorted(maps.Keys(triggers[false]))
	maps.DeleteFunc(triggers[true], func(key string, _ bool) bool { return triggers[false][key] })
	n.Audited = slices.Sorted(maps.Keys(triggers[true]))
	return n
}
