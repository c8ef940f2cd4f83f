package policy

import (
	"iter"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// Pair is the decision about one pair of a pod and a taint.
type Pair struct {
	Taint *v1.Taint

	// Policy is the name of the policy that decides; empty if none matches.
	Policy string

	// Method is the method of that policy, or the default one; empty for a NoSchedule taint that no policy makes a
	// trigger.
	Method Method

	// Verdict has the deadline, unless the taint is ignored, or tolerated without a limit.
	Verdict taint.Verdict

	// Held describes what holds the pair; a pair that is held has no action.
	Held Held

	// DeleteAt is when the pod is deleted at the latest, if Deletes.
	DeleteAt time.Time
	Deletes  bool

	GracePeriod time.Duration

	refusedFor time.Duration

	// Audits has the decision that each matching policy in mode Audit would make; only [Set.Pairs] sets it.
	Audits []Pair
}

// decided reports whether the taint is a trigger.
func (p *Pair) decided() bool { return p.Method != "" || len(p.Audits) > 0 }

// longestRefusal is the longest time for which a request must have been refused before a deletion by deleteAfter. So
// an outage delays the deletion by a minute, and no pod is deleted against a budget that was not asked.
const longestRefusal = time.Minute

// WebhookFailsFor is how long a webhook must have failed for the eviction requests of a pod until that counts as a
// refusal: a broken webhook does not keep a node from draining when deletion is allowed.
const WebhookFailsFor = 5 * time.Minute

// nobody stands for no policy where the number of a policy is expected.
const nobody = -1

// standing yields the history of each state of a trigger that is on the node, that state last.
func standing(node *taint.Node) iter.Seq[taint.History] {
	return standingOf(node.Taints, node.Triggers)
}

// standingOf yields the history of each state that has not ended, that state last.
func standingOf(taints ...[]taint.History) iter.Seq[taint.History] {
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

// judge decides the pair of the pod and the last of the states. enforced is the number of a policy in mode Audit that
// is treated as if it enforced, or nobody.
func (s *Set) judge(pod *taint.Pod, node *taint.Node, states taint.History, facts *Facts, enforced int) Pair {
	last := &states[len(states)-1]
	on := pair{pod, node, &last.Taint}
	r := s.rule(on, facts.namespaces(), enforced)
	p := Pair{Taint: &last.Taint, Policy: r.name(), Method: r.method, Verdict: taint.Verdict{
		Stay: taint.Tolerated,
		Node: pod.Node,
	}}
	if r.method == "" || r.method == Ignore {
		return p
	}
	b := s.bears(pod, &last.Taint, last.Since)
	limit := r.policy.limit(pod, b)
	if _, ends := limit.from(last.Since); !ends {
		return p
	}
	start := later(s.exposedSince(pod, node, states, facts, enforced), pod.Bound)
	at, ends := limit.from(start)
	if !ends {
		return p
	}
	if len(s.breakers) > 0 {
		at = later(at, s.settled(node, states))
	}
	p.Verdict = taint.Verdict{
		Evict: true, At: at, Start: start, Node: pod.Node, Taint: &last.Taint,
		Toleration: b.toleration,
	}
	p.Held = s.heldBy(on, r, facts)
	p.Held.Verdict = p.Verdict
	if p.Held.By == 0 {
		s.carryOut(&p, r, on, states, facts, enforced)
		p.Held = Held{}
	}
	return p
}

// carryOut computes the actions of a pair that is not held.
func (s *Set) carryOut(p *Pair, r ruling, on pair, states taint.History, facts *Facts, enforced int) {
	if r.policy != nil {
		p.GracePeriod = r.policy.gracePeriod
	}
	switch {
	case r.method == Delete:
		p.DeleteAt, p.Deletes = p.Verdict.At, true
	case r.policy != nil && r.policy.deletes && !facts.paused():
		last := later(s.holdEnded(on, states, facts, enforced), facts.lastEnd(on))
		p.DeleteAt, p.Deletes = later(p.Verdict.At, last).Add(r.policy.deleteAfter), true
		p.refusedFor = min(r.policy.deleteAfter, longestRefusal)
	}
}

// exposedSince returns the start of the latest unbroken run of states that the pod does not tolerate without a limit
// and that no policy ignores. The last state must be one of them.
func (s *Set) exposedSince(
	pod *taint.Pod, node *taint.Node, states taint.History, facts *Facts, enforced int,
) time.Time {
	first := len(states) - 1
	for ; first > 0; first-- {
		before := &states[first-1]
		r := s.rule(pair{pod, node, &before.Taint}, facts.namespaces(), enforced)
		if r.method == "" || r.method == Ignore {
			break
		}
		if _, ends := r.policy.limit(pod, s.bears(pod, &before.Taint, before.Since)).from(before.Since); !ends {
			break
		}
	}
	return states[first].Since
}

// holdEnded returns when the taint last left a state in which a policy held the pod; zero if there was none.
func (s *Set) holdEnded(on pair, states taint.History, facts *Facts, enforced int) time.Time {
	for i := len(states) - 2; i >= 0; i-- {
		before := pair{on.pod, on.node, &states[i].Taint}
		if states[i].Ended && s.rule(before, facts.namespaces(), enforced).method == Hold {
			return states[i+1].Since
		}
	}
	return time.Time{}
}

// add merges the pair into the verdict of the pod.
func (v *Verdict) add(p *Pair) {
	switch {
	case p.Method == "":
	case p.Method == Ignore:
		v.Ignores = true
		if v.Ignored == "" {
			v.Ignored = p.Policy
		}
	case !p.Verdict.Evict:
		v.Stay = taint.Tolerated
	case p.Held.By != 0:
		if v.Held.By == 0 || p.Held.Verdict.At.Before(v.Held.Verdict.At) {
			v.Held = p.Held
		}
	default:
		if p.Method == Evict {
			v.Evict.earlier(p.action(p.Verdict.At))
		}
		if p.Deletes {
			action := p.action(p.DeleteAt)
			action.RefusedFor = p.refusedFor
			v.Delete.earlier(action)
			if action.RefusedFor == 0 {
				v.Unconditional.earlier(action)
			}
		}
	}
	if v.Goes() || v.Held.By != 0 {
		v.Stay = 0
	}
}

func (p *Pair) action(at time.Time) Action {
	a := Action{Verdict: p.Verdict, Policy: p.Policy, GracePeriod: p.GracePeriod}
	a.At = at
	return a
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
