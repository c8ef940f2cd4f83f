package policy

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// PairDecision is the decision about one pair of a pod and a taint.
type PairDecision struct {
	// Action has the deadline of the pair, unless the taint is ignored or tolerated forever. The action of a pair that
	// is held is not carried out.
	Action

	// Taint is the taint of the pair.
	Taint *v1.Taint

	// Method is the method of the policy that decides, or the default method. It is empty for a NoSchedule taint that
	// no policy makes a trigger.
	Method Method

	// Held describes the hold of the pair; Held.By is 0 if the pair is not held.
	Held Held

	// Delete is the deletion of the pod, if the pair leads to one.
	Delete Action

	// Audits has the decision that each matching policy in mode Audit would make; only [Judge.Pairs] sets it.
	Audits []PairDecision
}

// Before deleteAfter deletes the pod, requests must have been refused for the time of deleteAfter, or for
// longestRefusal if that is shorter. Requiring a refusal ensures that this process asks the pod's budget before a
// deletion; the cap ensures that requests that begin late, such as after an outage, delay the deletion by at most a
// minute.
const longestRefusal = time.Minute

// Time limits for webhooks that fail for the eviction requests of a pod: a broken webhook must not keep a node from
// draining if deletion is allowed.
const (
	// WebhookFailsFor is how long an episode of such failures must last before it counts as a refusal.
	WebhookFailsFor = 5 * time.Minute

	// WebhookFailsEvery is the longest time between two failures of one episode: the longest backoff plus the time of a
	// call. A longer gap begins a new episode, and so does any other outcome.
	WebhookFailsEvery = 2 * time.Minute
)

// pair is a pod and one state, present or past, of a taint of its node. It includes what decides about it: the policies
// (set) and the facts.
type pair struct {
	set      *Set
	facts    Facts
	released time.Time // Judge.Released
	pod      *taint.Pod
	node     *taint.Node
	states   taint.History // of the taint, up to that state
	taint    *v1.Taint     // of that state

	// enforced is the policy in mode Audit that is treated as if it were in mode Enforce; nil if there is none.
	enforced *compiled
}

// pair returns the pair of the pod and a taint of its node, in the last of these states of the taint.
func (j Judge) pair(pod *taint.Pod, node *taint.Node, states taint.History) pair {
	p := pair{
		set: j.set(), released: j.Released, pod: pod, node: node, states: states,
		taint: &states[len(states)-1].Taint,
	}
	if j.Facts != nil {
		p.facts = *j.Facts
	}
	return p
}

// in returns the pair of the pod and the state with that index.
func (p *pair) in(state int) *pair {
	before := *p
	before.states, before.taint = p.states[:state+1], &p.states[state].Taint
	return &before
}

// match is the policy that decides a pair; if none matches, set.unmatched or set.untriggered.
type match struct {
	*compiled

	// waiting means that the labels of the namespace, which are not known, may make the policy match.
	waiting bool
}

// method returns the method for the pair; empty if no policy makes the taint a trigger.
func (m match) method() Method {
	if m.waiting {
		return Hold
	}
	return m.Method
}

// match returns the first policy that matches. It skips policies in mode Audit, except the enforced policy.
func (p *pair) match() match {
	for i := range p.set.policies {
		policy := &p.set.policies[i]
		if policy.Mode == Audit && policy != p.enforced {
			continue
		}
		if fits, waiting := policy.fits(p); fits {
			return match{policy, waiting}
		}
	}
	if p.taint.Effect == v1.TaintEffectNoExecute {
		return match{compiled: &p.set.unmatched}
	}
	return match{compiled: &p.set.untriggered}
}

// decide returns the decision about the pair.
func (p *pair) decide() PairDecision {
	m := p.match()
	d := PairDecision{Taint: p.taint, Method: m.method(), Action: Action{
		Policy: m.Name, Verdict: taint.Verdict{Stay: taint.Tolerated, Node: p.pod.Node},
	}}
	own := p.toleration()
	if !p.exposed(m, own) {
		return d
	}
	start := later(later(p.exposedSince(), p.pod.Bound), p.began(m))
	at, ends := m.deadline(p.pod, own, start)
	if !ends {
		return d
	}
	d.Verdict = taint.Verdict{
		Evict: true, At: later(at, p.settled()), Start: start, Node: p.pod.Node, Taint: p.taint, Toleration: own,
	}
	if d.Held = p.heldBy(m); d.Held.By != 0 {
		d.Held.Verdict = d.Verdict
		return d
	}
	if m.GracePeriod != nil {
		d.GracePeriod = m.GracePeriod.Max.Duration
	}
	d.Delete = p.deletion(m, d.Action)
	return d
}

// exposed reports whether the pod is exposed to the taint. It is not exposed if the taint is ignored or tolerated
// forever. own is the pod's toleration that counts for the taint.
func (p *pair) exposed(m match, own *v1.Toleration) bool {
	if method := m.method(); method == "" || method == Ignore {
		return false
	}
	_, ends := m.deadline(p.pod, own, p.states[len(p.states)-1].Since)
	return ends
}

// exposedSince returns the start of the latest unbroken run of states to which the pod is exposed. The last state must
// be one of them.
func (p *pair) exposedSince() time.Time {
	first := len(p.states) - 1
	for ; first > 0; first-- {
		if before := p.in(first - 1); !before.exposed(before.match(), before.toleration()) {
			break
		}
	}
	return p.states[first].Since
}

// deletion returns the deletion of a pair that is not held, given the action at its deadline.
func (p *pair) deletion(m match, at Action) Action {
	switch {
	case m.Method == Delete:
		return at
	case m.DeleteAfter == nil || p.facts.Paused:
		return Action{}
	}
	released := later(p.released, p.holdEnded())
	at.At = later(at.At, later(released, p.facts.lastEnd(p))).Add(m.DeleteAfter.Duration)
	at.RefusedFor = min(m.DeleteAfter.Duration, longestRefusal)
	return at
}

// holdEnded returns when the taint last left a state in which a policy held the pod; zero if there was none.
func (p *pair) holdEnded() time.Time {
	for i := len(p.states) - 2; i >= 0; i-- {
		if p.states[i].Ended && p.in(i).match().method() == Hold {
			return p.states[i+1].Since
		}
	}
	return time.Time{}
}

// heldBy returns the hold of the pair: by its policy, or by a breaker.
func (p *pair) heldBy(m match) Held {
	switch {
	case m.waiting:
		return Held{By: HeldByNamespace, Name: m.Name, Policy: m.Name}
	case m.Method == Hold:
		return Held{By: HeldByPolicy, Name: m.Name, Policy: m.Name}
	}
	for i := range p.set.breakers {
		b := &p.set.breakers[i]
		group := GroupOf(b.TopologyKey, p.node.Labels)
		switch {
		case !b.concerns(p):
		case p.facts.Tripped[Trip{b.Name, group}]:
			return Held{By: HeldByBreaker, Name: b.Name, Group: group, Policy: m.Name}
		case p.facts.Unread:
			return Held{By: HeldByJournal, Name: b.Name, Group: group, Policy: m.Name}
		}
	}
	return Held{}
}

// audits returns the decisions that policies in mode Audit would make about the pair, up to the policy that decides.
func (p *pair) audits() (all []PairDecision) {
	for i := range p.set.policies {
		policy := &p.set.policies[i]
		fits, waiting := policy.fits(p)
		switch {
		case !fits:
		case policy.Mode != Audit:
			return all
		case !waiting:
			enforcing := *p
			enforcing.enforced = policy
			all = append(all, enforcing.decide())
		}
	}
	return all
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
