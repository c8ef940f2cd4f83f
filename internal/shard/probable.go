package shard

import (
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// probableCause returns why the eviction of a pod is probably cancelled, by the present verdict; "" if unknown.
func (c *Core) probableCause(e *entry, pod *taint.Pod, node *taint.Node, verdict *policy.Verdict) string {
	switch present := *pod; verdict.Stay {
	case taint.Terminating:
		present.Terminating = false
		if (e.stage == held || c.judge.Paused()) && c.judge.DeletedByDaemonSet(&present, node).Evict {
			return eviction.DeletedByDaemonSet
		}
	case taint.NotTainted, taint.Tolerated:
		if taint.ReportsOutage(e.plan.verdict.Taint.Key) && node.OutageSpared() {
			return eviction.OutageSpared
		}
	}
	return ""
}

// noteDaemon records whether the DaemonSet controller deletes a pod that has no entry because its taint is ignored.
func (c *Core) noteDaemon(pod *taint.Pod, node *taint.Node) {
	if c.entries[pod.UID] == nil && c.judge.DeletedByDaemonSet(pod, node).Evict {
		c.daemons[pod.UID] = struct{}{}
	} else {
		deleteAndShrink(&c.daemons, pod.UID)
	}
}

// deletedByOthers returns the view of a pod that the DaemonSet controller deletes. It returns v for other pods, and if
// this program has deleted the pod or has a call for it in flight.
func (c *Core) deletedByOthers(e *entry, v eviction.View, node *taint.Node) eviction.View {
	verdict := c.judge.DeletedByDaemonSet(v.Pod, node)
	if !verdict.Evict || v.State == eviction.StateInFlight || e.stage == accepted {
		return v
	}
	return eviction.View{
		Pod: v.Pod, Verdict: verdict, State: eviction.StateDue, Method: policy.Delete, Attempts: v.Attempts,
		Last: v.Last, DeletedBy: taint.DaemonSetController,
	}
}
