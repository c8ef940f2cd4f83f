package policy

import (
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// ruling names the policy that decides a pair.
type ruling struct {
	policy  *compiled // nil: none matches
	method  Method
	waiting bool // for the labels of the namespace, which may make the policy match
}

func (r *ruling) name() string {
	if r.policy == nil {
		return ""
	}
	return r.policy.name
}

// rule returns the first policy that matches. It skips policies in mode Audit, except the enforced one.
func (s *Set) rule(p pair, of Namespaces, enforced int) ruling {
	for i := range s.policies {
		policy := &s.policies[i]
		if policy.audit && i != enforced {
			continue
		}
		switch policy.match.fits(p, of) {
		case fits:
			return ruling{policy: policy, method: policy.method}
		case fitsPerhaps:
			return ruling{policy: policy, method: Hold, waiting: true}
		}
	}
	if p.taint.Effect == v1.TaintEffectNoExecute {
		return ruling{method: s.method}
	}
	return ruling{}
}

// heldBy returns what holds a pair that the ruling decides.
func (s *Set) heldBy(p pair, r ruling, facts *Facts) Held {
	switch {
	case r.waiting:
		return Held{By: HeldByNamespace, Name: r.name(), Policy: r.name()}
	case r.method == Hold:
		return Held{By: HeldByPolicy, Name: r.name(), Policy: r.name()}
	}
	for i := range s.breakers {
		b := &s.breakers[i]
		if group := GroupOf(b.topologyKey, p.node.Labels); b.guards(p.node, p.taint) &&
			facts.tripped(Trip{b.name, group}) {
			return Held{By: HeldByBreaker, Name: b.name, Group: group, Policy: r.name()}
		}
	}
	return Held{}
}

// audits returns the decisions that policies in mode Audit would make about the last of the states, up to the policy
// that decides.
func (s *Set) audits(pod *taint.Pod, node *taint.Node, states taint.History, facts *Facts) []Pair {
	on := pair{pod, node, &states[len(states)-1].Taint}
	var all []Pair
	for i := range s.policies {
		matches := s.policies[i].match.fits(on, facts.namespaces())
		switch {
		case matches == fitsNot:
		case !s.policies[i].audit:
			return all
		case matches == fits:
			all = append(all, s.judge(pod, node, states, facts, i))
		}
	}
	return all
}
