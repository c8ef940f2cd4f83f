package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Step processes one input at the time now, which may be slightly earlier than that of the previous step, and returns
// its effects.
func (c *Core) Step(now time.Time, in Input) Effects {
	var effects Effects
	if c.judge = c.options.Judge(); !c.judge.Audits() {
		clear(c.audited)
	}
	in.apply(c, now, &effects)
	return effects
}

func (in NodeChanged) apply(c *Core, now time.Time, effects *Effects) {
	node, pods := c.options.Reader.PodsOn(in.Name)
	for _, pod := range pods {
		c.evaluate(now, pod, node, effects)
	}
}

// apply records the outcome of a call for the pod, and judges the pod, or drops its state if the pod is gone.
func (in PodChanged) apply(c *Core, now time.Time, effects *Effects) {
	pod, node := c.options.Reader.Pod(in.UID)
	c.settle(now, in.UID, pod, effects)
	if pod == nil {
		c.dropPod(in.UID, effects)
		return
	}
	c.evaluate(now, pod, node, effects)
}

func (TimePassed) apply(c *Core, now time.Time, effects *Effects) {
	if e, ok := c.timed.First(); ok && !e.evaluation.After(now) {
		PodChanged{e.uid}.apply(c, now, effects)
	}
}

// settle records the outcome of a call, if a call for the pod has ended. The pod is nil if it is gone.
func (c *Core) settle(now time.Time, uid types.UID, pod *taint.Pod, effects *Effects) {
	e := c.entries[uid]
	if e == nil || e.stage != offered {
		return
	}
	ended := c.options.Dispatcher.Settle(uid)
	if ended == nil {
		return
	}
	c.record(now, e, ended)
	if pod != nil && e.calls.stuck() && e.calls.report(ended.Outcome.Cause) {
		note := e.note(eviction.EvictionStuck, pod)
		note.Outcome = ended.Outcome
		effects.Notes = append(effects.Notes, note)
	}
}

// evaluate schedules, moves, offers, holds or cancels the eviction of a pod, as the present verdict says.
func (c *Core) evaluate(now time.Time, pod *taint.Pod, node *taint.Node, effects *Effects) {
	verdict := c.decide(now, pod, node, effects)
	c.audit(pod, node, effects)
	switch {
	case verdict.Evicts():
		c.schedule(now, pod, node, &verdict)
	case verdict.Held.By != 0:
		c.hold(pod, &verdict.Held, effects)
	default:
		c.cancel(pod, node, &verdict, effects)
	}
	c.trackLeaving(pod, node)
	c.noteDaemon(pod, node)
}

// schedule schedules, moves or offers the eviction of a pod.
func (c *Core) schedule(now time.Time, pod *taint.Pod, node *taint.Node, verdict *policy.Verdict) {
	method, first := verdict.Earliest()
	e := c.entries[pod.UID]
	switch {
	case e == nil:
		e = &entry{uid: pod.UID}
	case e.stage == held || e.stage == dryRun && first.At.After(now):
		c.setStage(e, none)
		e = &entry{uid: pod.UID}
	}
	if e.stage == accepted || e.stage == dryRun {
		return
	}
	if e.calls == nil {
		e.plan.method = method
	}
	e.plan.policy, e.plan.verdict = first.Policy, first.Verdict
	permits, next := c.judgeOf(pod.UID).Permits(pod, node, e.policyCalls(), now)
	switch {
	case len(permits) > 0:
		e.due = permits[0].At
		c.offer(pod, node, e, permits)
	case c.withdraw(e):
		e.due = next
		c.setStage(e, waiting)
	default:
		return // the end of the running call re-evaluates the pod
	}
	c.reschedule(e, next)
}

// cancel cancels the eviction of a pod that stays, or that terminates for another reason. An accepted eviction is kept
// until the pod is gone, which may take as long as the pod's grace period and finalizers do.
func (c *Core) cancel(pod *taint.Pod, node *taint.Node, verdict *policy.Verdict, effects *Effects) {
	e := c.entries[pod.UID]
	if e == nil || e.stage == accepted || !c.withdraw(e) {
		return // nothing to cancel, or the end of the running call re-evaluates the pod
	}
	switch terminates := verdict.Stay == taint.Terminating; {
	case e.stage == held && terminates:
		effects.Overtaken = append(effects.Overtaken, eviction.Overtaken{Pod: pod})
	case e.stage == waiting && terminates:
		effects.Overtaken = append(effects.Overtaken, eviction.Overtaken{Pod: pod, Deadline: e.plan.verdict.At})
	}
	cause := c.probableCause(e, pod, node, verdict)
	if verdict.Stay == taint.Tolerated || verdict.Stay == taint.NotTainted || cause != "" {
		note := e.note(eviction.EvictionCancelled, pod)
		note.Stays, note.Probably = c.judge.WhyStays(pod, node, verdict), cause
		effects.Notes = append(effects.Notes, note)
	}
	c.setStage(e, none)
}

// dropPod drops the state of a pod that is gone.
func (c *Core) dropPod(uid types.UID, effects *Effects) {
	deleteAndShrink(&c.audited, uid)
	c.forgetHold(uid, effects)
	c.reportDrained(uid, effects)
	deleteAndShrink(&c.daemons, uid)
	if e := c.entries[uid]; e != nil && c.withdraw(e) {
		c.setStage(e, none)
	}
}
