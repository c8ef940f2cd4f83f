package foresight

import (
	"fmt"
	"maps"
	"slices"

	"github.com/taint-manager/taint-manager/policy"
)

// unlabelled are the policies while the labels of nodes are not known, as the journal has none.
type unlabelled struct {
	certain *policy.Set // those without a nodeSelector
	perhaps *policy.Set // all; those with a nodeSelector are in mode Audit, and match every node
}

// newUnlabelled compiles the policies of a valid configuration.
func newUnlabelled(c policy.Config) unlabelled {
	certain, perhaps := c, c
	certain.Policies, perhaps.Policies = nil, slices.Clone(c.Policies)
	for i := range perhaps.Policies {
		p := &perhaps.Policies[i]
		if p.Match.NodeSelector == nil {
			certain.Policies = append(certain.Policies, *p)
			continue
		}
		p.Mode, p.Match.NodeSelector = policy.Audit, nil
	}
	var of unlabelled
	of.certain, _ = policy.Compile(certain)
	of.perhaps, _ = policy.Compile(perhaps)
	return of
}

// unknownPolicies returns the sorted names of the policies of which it is not known whether they match pods on these
// nodes, or on all if none is named: the nodes come from the journal, which has no labels, and the policies have a
// nodeSelector. The model judges as if they matched no pod.
func (m *Model) unknownPolicies(nodes []string) []string {
	if !m.byRecords || !m.rules.selectsNodes() {
		return nil
	}
	names := map[string]bool{}
	perhaps := policy.Judge{Set: m.rules.unlabelled.perhaps, Facts: m.now(m.began).Facts}
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil || len(nodes) > 0 && !slices.Contains(nodes, p.Node) {
			continue
		}
		pairs := perhaps.Pairs(&p.Pod, &n.estimate.latest.Node)
		for i := range pairs {
			for j := range pairs[i].Audits {
				names[pairs[i].Audits[j].Policy] = true
			}
		}
	}
	maps.DeleteFunc(names, func(name string, _ bool) bool { return !m.rules.selectsNodesBy(name) })
	return slices.Sorted(maps.Keys(names))
}

// unknownMatches returns a clause about the policies of which it is not known whether they match pods on these nodes.
func (m *Model) unknownMatches(nodes []string) []string {
	names := m.unknownPolicies(nodes)
	if len(names) == 0 {
		return nil
	}
	which := "the nodeSelector of policy " + names[0] + " matches"
	if len(names) > 1 {
		which = fmt.Sprintf("the nodeSelectors of %d policies (%s) match", len(names), Few(names))
	}
	return []string{"this user may not list nodes, so which of them " + which + " is not known: here none, and so " +
		"pods may go at another time, be held or stay, and others may go"}
}

// unknownEnds reports whether deleteAfter may count from later: a hold has ended of which it is not known whether it
// held pods on the nodes, as the journal has no labels of nodes.
func (m *Model) unknownEnds() bool {
	if !m.byRecords || m.guards.record == nil || !m.rules.deletesLater() {
		return false
	}
	return slices.ContainsFunc(m.guards.record.Holds, func(h policy.HoldRecord) bool { return h.TopologyKey != "" })
}

// selectsNodes reports whether a policy has a nodeSelector.
func (r *Ruleset) selectsNodes() bool {
	return slices.ContainsFunc(r.config.Policies, func(p policy.Policy) bool { return p.Match.NodeSelector != nil })
}

// selectsNodesBy reports whether the policy of this name has a nodeSelector.
func (r *Ruleset) selectsNodesBy(name string) bool {
	return slices.ContainsFunc(r.config.Policies, func(p policy.Policy) bool {
		return p.Name == name && p.Match.NodeSelector != nil
	})
}

// deletesLater reports whether a policy has a deleteAfter.
func (r *Ruleset) deletesLater() bool {
	return slices.ContainsFunc(r.config.Policies, func(p policy.Policy) bool { return p.DeleteAfter != nil })
}

// withoutLabels returns the judge without what depends on labels of nodes while they are not known: policies with a
// nodeSelector, and trips of breakers that use labels. They would decide about the pods of the wrong nodes.
func (r *Ruleset) withoutLabels(by policy.Judge) policy.Judge {
	facts := *by.Facts
	facts.Tripped = maps.Clone(facts.Tripped)
	maps.DeleteFunc(facts.Tripped, func(t policy.Trip, _ bool) bool { return r.usesLabels(t.Breaker) })
	by.Facts = &facts
	if r.selectsNodes() {
		by.Set = r.unlabelled.certain
	}
	return by
}

// usesLabels reports whether the labels of nodes say which pods the breaker holds.
func (r *Ruleset) usesLabels(breaker string) bool {
	return slices.ContainsFunc(r.config.Guards.Breakers, func(one policy.Breaker) bool {
		return one.Name == breaker && (one.TopologyKey != "" || one.NodeSelector != nil)
	})
}
