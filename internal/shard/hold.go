package shard

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// podHolds says what holds a pod, and when one of its holds last ended.
type podHolds struct {
	holders []policy.Holder
	ended   time.Time // zero if none has
}

// judgeOf returns the judge for a pod, which knows when the pod was released.
func (c *Core) judgeOf(uid types.UID) policy.Judge {
	j := c.judge
	j.Released = c.holds[uid].ended
	return j
}

// decide returns the verdict for a pod, and records what holds any of its pairs. When a hold ends, decide forgets that
// earlier calls were refused.
func (c *Core) decide(now time.Time, pod *taint.Pod, node *taint.Node, effects *Effects) policy.Verdict {
	verdict := c.judgeOf(pod.UID).Decide(pod, node)
	if released := c.noteHolds(now, pod.UID, verdict.Holds, effects); !released {
		return verdict
	}
	if e := c.entries[pod.UID]; e != nil && e.calls != nil {
		e.calls.RefusedSince, e.calls.webhook = time.Time{}, episode{}
	}
	return c.judgeOf(pod.UID).Decide(pod, node)
}

// noteHolds records what holds a pod, and reports whether a hold has ended now.
func (c *Core) noteHolds(now time.Time, uid types.UID, holders []policy.Holder, effects *Effects) (released bool) {
	r := c.holds[uid]
	over, begun := without(r.holders, holders), without(holders, r.holders)
	if len(over)+len(begun) == 0 {
		return false
	}
	r.holders = holders
	if released = len(over) > 0; released {
		r.ended = now
	}
	c.holds[uid] = r
	effects.addHolds(over, -1)
	effects.addHolds(begun, 1)
	return released
}

// without returns the holders that are not among the others.
func without(holders, others []policy.Holder) (rest []policy.Holder) {
	for _, h := range holders {
		if !slices.Contains(others, h) {
			rest = append(rest, h)
		}
	}
	return rest
}

// forgetHold drops the holds of a pod that is gone.
func (c *Core) forgetHold(uid types.UID, effects *Effects) {
	effects.addHolds(c.holds[uid].holders, -1)
	deleteAndShrink(&c.holds, uid)
}

// addHolds reports that each policy among the holders holds that many more pods.
func (e *Effects) addHolds(holders []policy.Holder, pods int) {
	for _, h := range holders {
		if h.By == policy.HeldByPolicy {
			e.Holds = append(e.Holds, Holding{Policy: h.Name, Pods: pods})
		}
	}
}

// hold cancels the eviction of a pod that is held, and reports a new hold. It forgets the outcomes of the pod's calls,
// because a refusal before the hold does not count after it.
func (c *Core) hold(pod *taint.Pod, by *policy.Held, effects *Effects) {
	e, known := c.entries[pod.UID], false
	if e != nil {
		if !c.withdraw(e) || e.stage == accepted {
			return // the end of the running call re-evaluates the pod, or its deletion was accepted
		}
		known = e.stage == held && e.heldBy.String() == by.String()
		c.setStage(e, none)
	}
	e = &entry{uid: pod.UID, heldBy: *by, plan: plan{policy: by.Policy, verdict: by.Verdict}}
	c.setStage(e, held)
	if !known {
		effects.Notes = append(effects.Notes, e.note(eviction.EvictionHeld, pod))
	}
}

// audited is the last reported decision of a policy in mode Audit about a pod.
type audited struct {
	policy       string
	method       policy.Method
	at, deleteAt time.Time
	heldBy       string
}

// audit reports each new decision that policies in mode Audit would make.
func (c *Core) audit(pod *taint.Pod, node *taint.Node, effects *Effects) {
	if !c.judge.Audits() {
		return
	}
	var reports []audited
	for _, p := range earliestAudits(c.judge.Pairs(pod, node)) {
		report := audited{p.Policy, p.Method, p.At, p.Delete.At, p.Held.String()}
		reports = append(reports, report)
		if !slices.Contains(c.audited[pod.UID], report) {
			effects.Notes = append(effects.Notes, eviction.Note{
				Kind: eviction.EvictionAudited, Pod: pod, Verdict: p.Verdict, Policy: p.Policy, Method: p.Method,
				Held: p.Held, DeleteAt: p.Delete.At,
			})
		}
	}
	if reports == nil {
		deleteAndShrink(&c.audited, pod.UID)
		return
	}
	c.audited[pod.UID] = reports
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
