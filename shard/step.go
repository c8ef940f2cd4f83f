package shard

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/evictionqueue"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Step processes one input at the time now and returns what follows from it. Effects.Start is set for Permitted
// only. The time may not go backwards by more than clocks do.
func (c *Core) Step(now time.Time, in Input) Effects {
	var do Effects
	switch in := in.(type) {
	case NodeChanged:
		c.nodeChanged(now, in.Name, &do)
	case PodChanged:
		c.podChanged(now, in.UID, &do)
	case Permitted:
		c.permitted(now, in, &do)
	case SlowChanged:
		c.slow.release(in.Slow, c.queue.Set)
	case Ended:
		c.ended(now, in, &do)
	case RatesChanged:
		c.tryRates(now)
	case Reconfigured:
		c.reconfigured(now, in.Judge)
	}
	return do
}

// reconfigured replaces the judge. It judges no pod.
func (c *Core) reconfigured(now time.Time, judge policy.Judge) {
	if c.decider.Paused() && !judge.Paused() {
		c.resumed = now
	}
	c.decider = judge
	if !judge.Audits() {
		clear(c.audited)
	}
}

// nodeChanged judges every pod of the node.
func (c *Core) nodeChanged(now time.Time, name string, do *Effects) {
	node, pods := c.reader.PodsOn(name)
	for _, pod := range pods {
		c.judge(now, pod, node, do)
	}
}

// podChanged judges one pod, or drops its state if it is gone.
func (c *Core) podChanged(now time.Time, uid types.UID, do *Effects) {
	pod, node := c.reader.Pod(uid)
	if pod == nil {
		c.forget(uid)
		return
	}
	c.judge(now, pod, node, do)
}

// permitted removes the next pod from the queue and judges it once more. The call starts only if the pod is still
// to be evicted now, and in this place: a slow place if its workload is slow, else a slot; and if no rate makes it wait.
func (c *Core) permitted(now time.Time, in Permitted, do *Effects) {
	for do.Start == nil {
		due, class, ok := c.pop(now, in.SlowPlace)
		if !ok {
			return
		}
		if pod, node := c.reader.Pod(due.UID); pod == nil {
			c.forget(due.UID)
		} else {
			c.try(now, in, due, pod, node, do)
		}
		c.tryNext(class)
	}
}

// try starts a call for a pod whose turn has come, or puts its eviction where it is to wait.
func (c *Core) try(now time.Time, in Permitted, due evictionqueue.Entry[why], pod *taint.Pod, node *taint.Node, do *Effects) {
	verdict := c.decider.Decide(pod, node)
	last := c.calls[pod.UID]
	next := last.next(&verdict, now)
	if next.action == nil || next.at.After(now) {
		c.queue.Set(due) // so that judge finds what it cancels or moves
		c.judge(now, pod, node, do)
		return
	}
	switch workload, slow, waits := in.Slow.of(pod); {
	case in.SlowPlace && slow, !in.SlowPlace && !waits:
		next, wait := c.take(now, &in, pod, node, next)
		if wait.Rate != "" {
			c.late[pod.UID] = lateness{eviction.LateByRate, now}
			c.waitForRate(due, wait, next.at)
			return
		}
		c.start(pod, next, do)
	case waits:
		c.slow.add(due, workload)
	default:
		c.queue.Set(due)
	}
}

// start begins a call for a pod that is due.
func (c *Core) start(pod *taint.Pod, next nextCall, do *Effects) {
	last := c.calls[pod.UID]
	if last == nil {
		last = &call{}
		c.calls[pod.UID] = last
		if pod.Disrupted {
			do.Overtaken = append(do.Overtaken, eviction.Overtaken{Pod: pod, Deadline: next.action.At})
		}
	}
	if last.begin(next) {
		do.Notes = append(do.Notes, last.note(eviction.EvictionStarted, pod))
	}
	do.Start = &eviction.Request{
		Pod: pod, Verdict: last.action.Verdict, Method: next.method, Policy: last.action.Policy,
		GracePeriodSeconds: policy.GracePeriodSeconds(pod.GracePeriodSeconds, last.action.GracePeriod),
		LateBy:             c.lateBy(pod.UID, next.action),
		Attempt:            last.attempts, AfterRefusal: last.refused, RefusedSince: last.refusedSince,
	}
	if c.ownMethod && last.action.Policy == "" {
		do.Start.Method = ""
	}
}

// ended records the outcome of a call and judges the pod again.
func (c *Core) ended(now time.Time, in Ended, do *Effects) {
	last := c.calls[in.UID]
	if last == nil {
		return
	}
	last.end(now, in.Outcome, c.jitter())
	pod, node := c.reader.Pod(in.UID)
	if pod == nil {
		c.forget(in.UID)
		return
	}
	if last.delayed() && last.report(in.Outcome.Cause) {
		note := last.note(eviction.EvictionDelayed, pod)
		note.Outcome = in.Outcome
		do.Notes = append(do.Notes, note)
	}
	c.judge(now, pod, node, do)
}

// judge schedules, moves, holds or cancels the eviction of a pod, by the present verdict.
func (c *Core) judge(now time.Time, pod *taint.Pod, node *taint.Node, do *Effects) {
	verdict := c.decider.Decide(pod, node)
	c.audit(pod, node, do)
	switch {
	case verdict.Goes():
		c.unhold(now, pod.UID)
		c.schedule(now, pod, &verdict)
	case verdict.Held.By != 0:
		c.hold(pod, &verdict.Held, do)
	default:
		c.release(pod, &verdict, do)
		c.cancelEviction(pod, &verdict, do)
	}
}

// schedule schedules or moves the eviction of a pod.
func (c *Core) schedule(now time.Time, pod *taint.Pod, verdict *policy.Verdict) {
	last := c.calls[pod.UID]
	method, first := verdict.Earliest()
	if last != nil && last.phase == dryRun && first.At.After(now) {
		delete(c.calls, pod.UID)
		last = nil
	}
	switch {
	case last == nil:
		c.set(now, entry(pod, method, first, first.At))
	case last.phase == waiting:
		last.action = *first
		next := last.next(verdict, now)
		c.set(now, entry(pod, next.method, next.action, next.at))
	}
}

// cancelEviction cancels the eviction of a pod that stays, or that terminates for another reason.
func (c *Core) cancelEviction(pod *taint.Pod, now *policy.Verdict, do *Effects) {
	stay := now.Stay
	last := c.calls[pod.UID]
	scheduled, ok := c.cancel(pod.UID)
	delete(c.late, pod.UID)
	if last != nil && last.phase == inFlight {
		return // the pod is judged when the call has ended
	}
	method, planned := c.planned(scheduled, last)
	if ok && stay == taint.Terminating {
		do.Overtaken = append(do.Overtaken, eviction.Overtaken{Pod: pod, Deadline: planned.At})
	}
	goes := stay == taint.Terminating || stay == taint.Finished
	if last != nil && (goes || last.phase != accepted) {
		delete(c.calls, pod.UID)
	}
	pending := ok || last != nil && last.phase != accepted
	if pending && (stay == taint.Tolerated || stay == taint.NotTainted) {
		do.Notes = append(do.Notes, eviction.Note{
			Kind: eviction.EvictionCancelled, Pod: pod, Verdict: planned.Verdict, Policy: planned.Policy, Method: method,
			Stays: stay, Ignorer: now.Ignorer(),
		})
	}
}

// forget drops the state of a pod that is gone.
func (c *Core) forget(uid types.UID) {
	c.cancel(uid)
	delete(c.held, uid)
	delete(c.audited, uid)
	delete(c.late, uid)
	if last := c.calls[uid]; last != nil && last.phase != inFlight {
		delete(c.calls, uid)
	}
}
