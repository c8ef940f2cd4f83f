package policy

import (
	"slices"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// WhyStays returns why the pod stays on its node by this verdict, in the words of the deciding rule: "policy drain does
// not drain pods of DaemonSets". others are further taints of the node, which need not be triggers.
func (j Judge) WhyStays(pod *taint.Pod, node *taint.Node, v *Verdict, others ...v1.Taint) string {
	ignorer := v.ignorer()
	switch {
	case v.Stay != taint.NotTainted && v.Stay != taint.Tolerated:
		return j.words(v.Stay)
	case v.Stay == taint.Tolerated && ignorer != "":
		return j.words(v.Stay) + "; " + ignorer + " ignores a taint of the node"
	case ignorer != "":
		return ignorer + " ignores a taint of the node, and no other one evicts the pod"
	}
	if name := j.leftBy(pod, node, v.Stay); name != "" {
		return "policy " + name + " does not drain pods " + whose(pod)
	}
	for i := range others {
		if why := j.Set.NamesOnlyNoExecute(&others[i]); v.Stay == taint.NotTainted && why != "" {
			return why + " (" + others[i].ToString() + ")"
		}
	}
	return j.words(v.Stay)
}

// ignorer names the policy or method that ignores a taint of the node: "policy drain", "the method Ignore"; it is empty
// if no taint is ignored.
func (v *Verdict) ignorer() string {
	switch {
	case !v.IgnoresTaint:
		return ""
	case v.IgnoredBy == "":
		return "the method Ignore"
	}
	return "policy " + v.IgnoredBy
}

// words is like [taint.Stay.String], but also fits NoSchedule taints if a policy makes any of them triggers.
func (j Judge) words(stay taint.Stay) string {
	triggers := func(c compiled) bool { return c.Mode != Audit && c.Match.triggersOnNoSchedule() }
	switch {
	case !slices.ContainsFunc(j.set().policies, triggers):
	case stay == taint.NotTainted:
		return "the node has no taint that evicts the pod"
	case stay == taint.Tolerated:
		return "every taint that evicts is tolerated forever"
	}
	return stay.String()
}

// leftBy returns the name of the first policy that would drain the pod from its node if the pod had a controller other
// than a DaemonSet; "" if there is none. If the pod stays because it tolerates taints, tolerated taints do not count.
func (j Judge) leftBy(pod *taint.Pod, node *taint.Node, stay taint.Stay) string {
	controlled := *pod
	controlled.Controller = &taint.Owner{}
	for states := range present(node.Triggers) {
		actual, would := j.pair(pod, node, states), j.pair(&controlled, node, states)
		d := would.decide()
		if actual.match().Name == "" && d.Policy != "" && d.Method != Ignore && (d.Evict || stay == taint.NotTainted) {
			return d.Policy
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

// NamesOnlyNoExecute returns why a NoSchedule taint evicts no pod although a policy names it: "policy cordon names this
// taint with NoExecute only"; "" if no policy names it.
func (s *Set) NamesOnlyNoExecute(of *v1.Taint) string {
	if s == nil || of.Effect != v1.TaintEffectNoSchedule {
		return ""
	}
	executes := *of
	executes.Effect = v1.TaintEffectNoExecute
	for i := range s.policies {
		c := &s.policies[i]
		if c.Mode != Audit && len(c.Match.Taints) > 0 && c.Match.names(&executes) && !c.Match.names(of) {
			return "policy " + c.Name + " names this taint with NoExecute only"
		}
	}
	return ""
}
