package foresight

import (
	"fmt"
	"maps"
	"slices"

	"github.com/taint-manager/taint-manager/policy"
)

// blindSets are the policies while the labels of nodes are not known, as the journal has none.
type blindSets struct {
	byNode   []string    // names of the policies with a nodeSelector
	certain  *policy.Set // the policies without a nodeSelector
	possible *policy.Set // all; those with a nodeSelector are in mode Audit, and match every node
}

// newBlindSets compiles the policies of a valid configuration.
func newBlindSets(c policy.Config) (sets blindSets) {
	certain, possible := c, c
	certain.Policies, possible.Policies = nil, slices.Clone(c.Policies)
	for i := range possible.Policies {
		p := &possible.Policies[i]
		if p.Match.NodeSelector == nil {
			certain.Policies = append(certain.Policies, *p)
			continue
		}
		sets.byNode = append(sets.byNode, p.Name)
		p.Mode, p.Match.NodeSelector = policy.Audit, nil
	}
	sets.certain, _ = policy.Compile(certain)
	sets.possible, _ = policy.Compile(possible)
	return sets
}

// unknownMatches returns a clause about the policies with a nodeSelector that may match pods on these nodes, or on all
// if none is named, if the nodes come from the journal. The journal has no labels, so the model judges as if these
// policies matched no pod.
func (m *Model) unknownMatches(nodes []string) []string {
	if !m.Hidden() || len(m.rules.blind.byNode) == 0 {
		return nil
	}
	matching := map[string]bool{}
	possible := policy.Judge{Set: m.rules.blind.possible, Facts: m.rulesNow(m.at).Facts}
	for _, p := range m.pods {
		n := m.nodes[p.Node]
		if n == nil || !among(nodes, p.Node) {
			continue
		}
		for _, pair := range possible.Pairs(&p.Pod, &n.estimate.latest.Node) {
			for i := range pair.Audits {
				matching[pair.Audits[i].Policy] = true
			}
		}
	}
	maps.DeleteFunc(matching, func(name string, _ bool) bool { return !slices.Contains(m.rules.blind.byNode, name) })
	names := slices.Sorted(maps.Keys(matching))
	if len(names) == 0 {
		return nil
	}
	which := "the nodeSelector of policy " + names[0] + " matches"
	if len(names) > 1 {
		which = fmt.Sprintf("the nodeSelectors of %d policies (%s) match", len(names), ShortList(names))
	}
	return []string{"this user may not list nodes, so which of them " + which + " is not known: here none, and so " +
		"pods may go at another time, be held or stay, and others may go"}
}

// deletesLater reports whether a policy has a deleteAfter.
func (r *Ruleset) deletesLater() bool {
	return slices.ContainsFunc(r.config.Policies, func(p policy.Policy) bool { return p.DeleteAfter != nil })
}

// withoutLabels returns the judge without policies that have a nodeSelector, and without trips of breakers that use
// labels. While the labels of nodes are not known, these would decide about the pods of the wrong nodes.
func (r *Ruleset) withoutLabels(judge policy.Judge) policy.Judge {
	facts := *judge.Facts
	facts.Tripped = maps.Clone(facts.Tripped)
	maps.DeleteFunc(facts.Tripped, func(t policy.Trip, _ bool) bool { return r.usesLabels(t.Breaker) })
	judge.Facts = &facts
	if len(r.blind.byNode) > 0 {
		judge.Set = r.blind.certain
	}
	return judge
}

// usesLabels reports whether the labels of nodes say which pods the breaker holds.
func (r *Ruleset) usesLabels(breaker string) bool {
	return slices.ContainsFunc(r.config.Guards.Breakers, func(b policy.Breaker) bool {
		return b.Name == breaker && (b.TopologyKey != "" || b.NodeSelector != nil)
	})
}
