package shard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// hold is a hold of a pod.
type hold struct {
	by    policy.Held
	ended time.Time // zero while it lasts
}

// hold cancels the eviction of a pod that is held, and reports a hold that is new. What its calls have met is
// forgotten: a refusal from before the hold does not count after it.
func (c *Core) hold(pod *taint.Pod, by *policy.Held, do *Effects) {
	e, known := c.entries[pod.UID], false
	if e != nil {
		if !c.withdraw(e) || e.state == accepted {
			return // the pod is judged when the call has ended, or it is going already
		}
		known = e.state == held && e.hold.by.String() == by.String()
		c.become(e, none)
	}
	e = &entry{uid: pod.UID, hold: &hold{by: *by}, plan: plan{policy: by.Policy, verdict: by.Verdict}}
	c.become(e, held)
	if !known {
		do.Notes = append(do.Notes, e.note(eviction.EvictionHeld, pod))
	}
}

// audited is what a policy in mode Audit was last reported to decide about a pod.
type audited struct {
	policy       string
	method       policy.Method
	at, deleteAt time.Time
	heldBy       string
}

// audit reports what policies in mode Audit would decide, where that is new.
func (c *Core) audit(pod *taint.Pod, node *taint.Node, do *Effects) {
	if !c.judge.Audits() {
		return
	}
	var now []audited
	for _, p := range earliestAudits(c.judge.Pairs(pod, node)) {
		is := audited{p.Policy, p.Method, p.At, p.Delete.At, p.Held.String()}
		now = append(now, is)
		if !slices.Contains(c.audited[pod.UID], is) {
			do.Notes = append(do.Notes, eviction.Note{
				Kind: eviction.EvictionAudited, Pod: pod, Verdict: p.Verdict, Policy: p.Policy, Method: p.Method,
				Held: p.Held, DeleteAt: p.Delete.At,
			})
		}
	}
	if now == nil {
		delete(c.audited, pod.UID)
		return
	}
	c.audited[pod.UID] = now
}

// earliestAudits returns one decision for each policy in mode Audit: the one with the earliest deadline.
func earliestAudits(pairs []policy.PairDecision) (all []policy.PairDecision) {
	for i := range pairs {
		for _, p := range pairs[i].Audits {
			j := slices.IndexFunc(all, func(other policy.PairDecision) bool { return other.Policy == p.Policy })
			switch {
			case j < 0:
				all = append(all, p)
			case p.Evict && (!all[j].Evict || p.At.Before(all[j].At)):
				all[j] = p
			}
		}
	}
	return all
}
