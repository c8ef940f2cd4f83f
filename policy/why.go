package policy

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// WhyStays returns why the pod stays on its node by this verdict, in the words of the rule that decides: "policy drain
// does not drain pods of DaemonSets".
func (j Judge) WhyStays(pod *taint.Pod, node *taint.Node, v *Verdict) string {
	ignorer := v.ignorer()
	switch {
	case v.Stay == taint.Tolerated && ignorer != "":
		return j.words(v.Stay) + "; " + ignorer + " ignores a taint of the node"
	case v.Stay != taint.NotTainted:
		return j.words(v.Stay)
	case ignorer != "":
		return ignorer + " ignores a taint of the node, and no other one evicts the pod"
	}
	if name := j.leftBy(pod, node); name != "" {
		return "policy " + name + " does not drain pods " + whose(pod)
	}
	return j.words(v.Stay)
}

// ignorer names the policy or method that ignores a taint of the node: "policy drain", "the method Ignore"; it is empty
// if no taint is ignored.
func (v *Verdict) ignorer() string {
	switch {
	case !v.Ignores:
		return ""
	case v.Ignored == "":
		return "the method Ignore"
	}
	return "policy " + v.Ignored
}

// words returns the reason as [taint.Stay.String] does, but does not speak of NoExecute taints alone if there are
// NoSchedule taints that evict.
func (j Judge) words(stay taint.Stay) string {
	triggers := func(c compiled) bool { return c.Mode != Audit && c.Match.triggersOnNoSchedule() }
	switch {
	case !slices.ContainsFunc(j.set().policies, triggers):
	case stay == taint.NotTainted:
		return "the node has no taint that evicts the pod"
	case stay == taint.Tolerated:
		return "every taint that evicts is tolerated without a limit"
	}
	return stay.String()
}

// leftBy returns the name of the first policy that would drain the pod from its node if the pod had a controller that
// is no DaemonSet; "" if there is none.
func (j Judge) leftBy(pod *taint.Pod, node *taint.Node) string {
	controlled := *pod
	controlled.Controller = &taint.Owner{}
	for states := range present(node.Triggers) {
		p := j.pair(&controlled, node, states)
		if m := p.match(); m.Name != "" && m.Method != Ignore && len(m.Match.OwnerKinds) == 0 {
			return m.Name
		}
	}
	return ""
}

func whose(pod *taint.Pod) string {
	if pod.Controller == nil {
		return "without a controller"
	}
	return "of DaemonSets"
}

// NamesOnlyNoExecute returns why a NoSchedule taint evicts no pod although a policy has its key: "policy cordon names
// this taint with NoExecute only"; "" if no policy has the key.
func (s *Set) NamesOnlyNoExecute(of *v1.Taint) string {
	if s == nil || of.Effect != v1.TaintEffectNoSchedule {
		return ""
	}
	for i := range s.policies {
		c := &s.policies[i]
		named := func(t Taint) bool { return t.Key == of.Key && !t.hasEffect(of.Effect) }
		if c.Mode != Audit && slices.ContainsFunc(c.Match.Taints, named) {
			return "policy " + c.Name + " names this taint with NoExecute only"
		}
	}
	return ""
}
