package policy

import (
	"cmp"
	"iter"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

// Judge is a set of policies with the facts of one moment. It is immutable. The zero value decides as [taint.Decide]
// does.
type Judge struct {
	Set   *Set
	Facts *Facts // nil: no facts

	// Released is when the pod that is judged was last released from a hold, as far as the caller has seen; zero if it
	// never was.
	Released time.Time
}

// Decide returns the verdict for a pod on its node. A nil node is unknown: the pod stays. If the judge is plain, the
// verdict is that of [taint.Decide]; see [Judge.Plain]. Decide never fails, and does not change its arguments.
func (j Judge) Decide(pod *taint.Pod, node *taint.Node) (v Verdict) {
	if j.Plain() {
		return verdictOf(taint.Decide(pod, node, j.set().config.Rules), j.Method())
	}
	v.Node, v.Stay = pod.Node, staysAnyway(pod, node)
	if v.Stay != 0 {
		return v
	}
	for states := range present(node.Taints, node.Triggers) {
		p := j.pair(pod, node, states)
		v.add(p.decide())
	}
	if v.Stay == 0 && !v.Evicts() && v.Held.By == 0 {
		v.Stay = taint.NotTainted
	}
	return v
}

// Pairs returns the decision about each pair of the pod and a trigger taint of its node, in the order of the taints,
// with the decisions that policies in mode Audit would make. It is for display. It returns nothing if the pod stays in
// any case.
func (j Judge) Pairs(pod *taint.Pod, node *taint.Node) (all []PairDecision) {
	if staysAnyway(pod, node) != 0 {
		return nil
	}
	for states := range present(node.Taints, node.Triggers, node.Audited) {
		p := j.pair(pod, node, states)
		d := p.decide()
		if d.Audits = p.audits(); d.Method != "" || len(d.Audits) > 0 { // the taint is a trigger
			all = append(all, d)
		}
	}
	return all
}

// present yields, for each state that has not ended, the history up to that state.
func present(taints ...[]taint.History) iter.Seq[taint.History] {
	return func(yield func(taint.History) bool) {
		for _, histories := range taints {
			for _, history := range histories {
				for i := range history {
					if !history[i].Ended && !yield(history[:i+1]) {
						return
					}
				}
			}
		}
	}
}

// staysAnyway returns why the pod stays whatever the policies are, or 0 if that depends on them.
func staysAnyway(pod *taint.Pod, node *taint.Node) taint.Stay {
	if stay := taint.NeverEvicted(pod); stay != 0 || node != nil {
		return stay
	}
	return taint.NodeUnknown
}

// verdictOf returns the verdict of [taint.Decide] as a verdict of this package, with that method.
func verdictOf(of taint.Verdict, m Method) Verdict {
	v := Verdict{Stay: of.Stay, Node: of.Node}
	switch {
	case !of.Evict:
	case m == Evict:
		v.Request.Verdict = of
	default:
		v.Delete.Verdict = of
	}
	return v
}

// Plain reports whether the judge decides as [taint.Decide] does: without policies, breakers and the method Ignore.
func (j Judge) Plain() bool {
	return len(j.set().policies)+len(j.set().breakers) == 0 && j.Method() != Ignore
}

// Audits reports whether any policy is in mode Audit.
func (j Judge) Audits() bool { return j.set().audits }

// Paused reports whether all calls are paused.
func (j Judge) Paused() bool { return j.Facts != nil && j.Facts.Paused }

// Method returns the method for pairs that no policy matches.
func (j Judge) Method() Method { return j.set().config.Method }

var emptySet = compile(Config{})

func (j Judge) set() *Set { return cmp.Or(j.Set, emptySet) }
