package shard

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// hold identifies what holds a pod.
type hold struct {
	by    policy.HeldBy
	name  string
	group string
}

func holdOf(h policy.Held) hold { return hold{h.By, h.Name, h.Group} }

// hold cancels the eviction of a pod that is held, and reports a hold that is new. What its calls have met is
// forgotten: a refusal from before the hold does not count after it.
func (c *Core) hold(pod *taint.Pod, by *policy.Held, do *Effects) {
	delete(c.unheld, pod.UID)
	if e := c.entries[pod.UID]; e != nil {
		if !c.withdraw(e) || e.state == accepted {
			return // the pod is judged when the call has ended, or it is going already
		}
		c.become(e, none)
	}
	known := holdOf(c.held[pod.UID]) == holdOf(*by)
	c.held[pod.UID] = *by
	if known {
		return
	}
	do.Notes = append(do.Notes, eviction.Note{
		Kind: eviction.EvictionHeld, Pod: pod, Verdict: by.Verdict,
		Policy: by.Policy, Held: *by,
	})
}

// unhold ends the hold of a pod that is to go.
func (c *Core) unhold(now time.Time, uid types.UID) {
	if _, held := c.held[uid]; held {
		delete(c.held, uid)
		c.unheld[uid] = now
	}
}

// release ends the hold of a pod that has no reason to go, or that terminates.
func (c *Core) release(pod *taint.Pod, now *policy.Verdict, do *Effects) {
	was, held := c.held[pod.UID]
	delete(c.held, pod.UID)
	switch {
	case !held:
	case now.Stay == taint.Terminating:
		do.Overtaken = append(do.Overtaken, eviction.Overtaken{Pod: pod})
	case now.Stay == taint.Tolerated, now.Stay == taint.NotTainted:
		do.Notes = append(do.Notes, eviction.Note{
			Kind: eviction.EvictionCancelled, Pod: pod, Verdict: was.Verdict, Policy: was.Policy, Held: was,
			Stays: now.Stay, Ignorer: now.Ignorer(),
		})
	}
}

// audited is what a policy in mode Audit was last reported to decide about a pod.
type audited struct {
	policy       string
	method       policy.Method
	at, deleteAt time.Time
	hold         hold
}

// audit reports what policies in mode Audit would decide, where that is new.
func (c *Core) audit(pod *taint.Pod, node *taint.Node, do *Effects) {
	if !c.judge.Audits() {
		return
	}
	var now []audited
	for _, p := range earliestAudits(c.judge.Pairs(pod, node)) {
		is := audited{p.Policy, p.Method, p.At, p.Delete.At, holdOf(p.Held)}
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
