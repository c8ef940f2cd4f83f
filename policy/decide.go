package policy

import (
	"github.com/taint-manager/taint-manager/taint"
)

// Decide returns the verdict for a pod on its node. If the node is nil, it is not known, and the pod stays. Without
// policies and breakers the verdict is that of [taint.Decide]. Nil facts are empty ones. Decide never fails, and
// does not change its arguments.
func (s *Set) Decide(pod *taint.Pod, node *taint.Node, facts *Facts) (v Verdict) {
	if s.plain() {
		v.adopt(taint.Decide(pod, node, s.taintRules()), s.defaultMethod())
		return v
	}
	v.Node, v.Stay = pod.Node, staysAnyway(pod, node)
	if v.Stay != 0 {
		return v
	}
	for states := range standing(node) {
		p := s.judge(pod, node, states, facts, nobody)
		v.add(&p)
	}
	if v.Stay == 0 && !v.Goes() && v.Held.By == 0 {
		v.Stay = taint.NotTainted
	}
	return v
}

// Pairs returns the decision about each pair of the pod and a trigger taint of its node, in the order of the taints,
// with what policies in mode Audit would decide. It is for display. It returns nothing if the pod stays in any case.
func (s *Set) Pairs(pod *taint.Pod, node *taint.Node, facts *Facts) []Pair {
	if staysAnyway(pod, node) != 0 {
		return nil
	}
	if s == nil {
		s = &Set{method: Delete}
	}
	var all []Pair
	for states := range standingOf(node.Taints, node.Triggers, node.Audited) {
		p := s.judge(pod, node, states, facts, nobody)
		p.Audits = s.audits(pod, node, states, facts)
		if p.decided() {
			all = append(all, p)
		}
	}
	return all
}

func (s *Set) taintRules() taint.Rules {
	if s == nil {
		return taint.Rules{}
	}
	return s.rules
}

// staysAnyway returns why the pod stays whatever the policies are, or 0 if that depends on them.
func staysAnyway(pod *taint.Pod, node *taint.Node) taint.Stay {
	switch stay := taint.NeverEvicted(pod); {
	case stay != 0:
		return stay
	case node == nil:
		return taint.NodeUnknown
	}
	return 0
}

// adopt adopts a verdict of taint.Decide, for that method.
func (v *Verdict) adopt(of taint.Verdict, m Method) {
	v.Stay, v.Node = of.Stay, of.Node
	switch {
	case !of.Evict:
	case m == Evict:
		v.Evict.Verdict = of
	default:
		v.Delete.Verdict = of
	}
}
