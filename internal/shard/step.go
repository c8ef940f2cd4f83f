package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Step processes one input at the time now and returns what follows from it. The time may not go backwards by more than
// clocks do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var do Effects
	if c.judge = c.options.Judge(); !c.judge.Audits() {
		clear(c.audited)
	}
	switch in := in.(type) {
	case NodeChanged:
		node, pods := c.options.Reader.PodsOn(in.Name)
		for _, pod := range pods {
			c.evaluate(now, pod, node, &do)
		}
	case PodChanged:
		c.reevaluate(now, in.UID, &do)
	case TimePassed:
		if e, ok := c.timed.First(); ok && !e.evaluation.After(now) {
			c.reevaluate(now, e.uid, &do)
		}
	}
	return do
}

// reevaluate takes in the outcome of a call for the pod, and judges the pod, or drops its state if it is gone.
func (c *Core) reevaluate(now time.Time, uid types.UID, do *Effects) {
	pod, node := c.options.Reader.Pod(uid)
	c.settle(now, uid, pod, do)
	if pod == nil {
		c.forget(uid, do)
		return
	}
	c.evaluate(now, pod, node, do)
}

// settle takes in the outcome of a call, if a call for the pod has ended. The pod is nil if it is gone.
func (c *Core) settle(now time.Time, uid types.UID, pod *taint.Pod, do *Effects) {
	e := c.entries[uid]
	if e == nil || e.state != offered {
		return
	}
	ended := c.options.Dispatcher.Settle(uid)
	if ended == nil {
		return
	}
	c.record(now, e, ended)
	if pod != nil && e.calls.delayed() && e.calls.report(ended.Outcome.Cause) {
		note := e.note(eviction.EvictionDelayed, pod)
		note.Outcome = ended.Outcome
		do.Notes = append(do.Notes, note)
	}
}

// evaluate schedules, moves, offers, holds or cancels the eviction of a pod, by the present verdict.
func (c *Core) evaluate(now time.Time, pod *taint.Pod, node *taint.Node, do *Effects) {
	verdict := c.decide(now, pod, node, do)
	c.audit(pod, node, do)
	switch {
	case verdict.Goes():
		c.schedule(now, pod, node, &verdict)
	case verdict.Held.By != 0:
		c.hold(pod, &verdict.Held, do)
	default:
		c.cancel(pod, node, &verdict, do)
	}
	c.leave(pod, node)
	c.noteDaemon(pod, node)
}

// schedule schedules, moves or offers the eviction of a pod.
func (c *Core) schedule(now time.Time, pod *taint.Pod, node *taint.Node, verdict *policy.Verdict) {
	method, first := verdict.Earliest()
	e := c.entries[pod.UID]
	switch {
	case e == nil:
		e = &entry{uid: pod.UID}
	case e.state == held || e.state == dryRun && first.At.After(now):
		c.become(e, none)
		e = &entry{uid: pod.UID}
	}
	if e.state == accepted || e.state == dryRun {
		return
	}
	if e.calls == nil {
		e.plan.method = method
	}
	e.plan.policy, e.plan.verdict = first.Policy, first.Verdict
	ways, next := c.judgeOf(pod.UID).Ways(pod, node, e.policyCalls(), now)
	switch {
	case len(ways) > 0:
		e.due = ways[0].At
		c.offer(pod, node, e, ways)
	case c.withdraw(e):
		e.due = next
		c.become(e, scheduled)
	default:
		return // the pod is judged when the call has ended
	}
	c.reschedule(e, next)
}

// cancel cancels the eviction of a pod that stays, or that terminates for another reason. An accepted eviction is kept
// until the pod is gone, which may take as long as the pod's grace period and finalizers do.
func (c *Core) cancel(pod *taint.Pod, node *taint.Node, now *policy.Verdict, do *Effects) {
	e := c.entries[pod.UID]
	if e == nil || e.state == accepted || !c.withdraw(e) {
		return // or the pod is judged when the call has ended
	}
	switch terminates := now.Stay == taint.Terminating; {
	case e.state == held && terminates:
		do.Overtaken = append(do.Overtaken, eviction.Overtaken{Pod: pod})
	case e.state == scheduled && terminates:
		do.Overtaken = append(do.Overtaken, eviction.Overtaken{Pod: pod, Deadline: e.plan.verdict.At})
	}
	probably := c.probably(e, pod, node, now)
	if now.Stay == taint.Tolerated || now.Stay == taint.NotTainted || probably != "" {
		note := e.note(eviction.EvictionCancelled, pod)
		note.Stays, note.Probably = c.judge.WhyStays(pod, node, now), probably
		do.Notes = append(do.Notes, note)
	}
	c.become(e, none)
}

// forget drops the state of a pod that is gone.
func (c *Core) forget(uid types.UID, do *Effects) {
	delete(c.audited, uid)
	forget(&c.daemons, uid)
	c.forgetHold(uid, do)
	c.gone(uid, do)
	if e := c.entries[uid]; e != nil && c.withdraw(e) {
		c.become(e, none)
	}
}
