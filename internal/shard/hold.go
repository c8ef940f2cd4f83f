package shard

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// release is whether a pod is held, and when it was last released.
type release struct {
	policy string // that holds the pod; empty: no policy does
	held   bool
	ended  time.Time // zero if it never was
}

// judgeOf returns the judge for a pod, which knows when the pod was released.
func (c *Core) judgeOf(uid types.UID) policy.Judge {
	j := c.judge
	j.Released = c.releases[uid].ended
	return j
}

// decide returns the verdict for a pod, and notes whether the pod is held, also by only one of its pairs.
func (c *Core) decide(now time.Time, pod *taint.Pod, node *taint.Node, do *Effects) policy.Verdict {
	verdict := c.judgeOf(pod.UID).Decide(pod, node)
	if released := c.noteHold(now, pod.UID, &verdict.Held, do); released {
		verdict = c.judgeOf(pod.UID).Decide(pod, node)
	}
	return verdict
}

// noteHold notes whether a pod is held, and reports whether it was released now.
func (c *Core) noteHold(now time.Time, uid types.UID, by *policy.Held, do *Effects) (released bool) {
	was := c.releases[uid]
	is := release{held: by.Ends(), ended: was.ended}
	if by.By == policy.HeldByPolicy {
		is.policy = by.Name
	}
	if released = was.held && !is.held; released {
		is.ended = now
	}
	if is != was {
		c.releases[uid] = is
		do.Holds = append(do.Holds, holdings(was.policy, is.policy)...)
	}
	return released
}

// forgetHold drops what is known of the holds of a pod that is gone.
func (c *Core) forgetHold(uid types.UID, do *Effects) {
	do.Holds = append(do.Holds, holdings(c.releases[uid].policy, "")...)
	delete(c.releases, uid)
}

// holdings returns the changes that follow if another policy holds a pod; "" stands for none.
func holdings(before, after string) (all []Holding) {
	if before == after {
		return nil
	}
	if before != "" {
		all = append(all, Holding{Policy: before, Pods: -1})
	}
	if after != "" {
		all = append(all, Holding{Policy: after, Pods: 1})
	}
	return all
}

// hold cancels the eviction of a pod that is held, and reports a hold that is new. What its calls have met is
// forgotten: a refusal from before the hold does not count after it.
func (c *Core) hold(pod *taint.Pod, by *policy.Held, do *Effects) {
	e, known := c.entries[pod.UID], false
	if e != nil {
		if !c.withdraw(e) || e.state == accepted {
			return // the pod is judged when the call has ended, or it is going already
		}
		known = e.state == held && e.heldBy.String() == by.String()
		c.become(e, none)
	}
	e = &entry{uid: pod.UID, heldBy: *by, plan: plan{policy: by.Policy, verdict: by.Verdict}}
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
