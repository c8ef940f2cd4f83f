package shard

import (
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// probably returns what has probably ended the eviction of a pod, by the present verdict; "" if that is not known.
func (c *Core) probably(e *entry, pod *taint.Pod, node *taint.Node, now *policy.Verdict) string {
	switch present := *pod; now.Stay {
	case taint.Terminating:
		present.Terminating = false
		if (e.state == held || c.judge.Paused()) && c.judge.DeletedByDaemonSet(&present, node).Evict {
			return eviction.DeletedByDaemonSet
		}
	case taint.NotTainted, taint.Tolerated:
		if taint.ReportsOutage(e.plan.verdict.Taint.Key) && node.OutageSpared() {
			return eviction.OutageSpared
		}
	}
	return ""
}

// noteDaemon notes whether the DaemonSet controller deletes a pod of which there is no entry, as a policy ignores it.
func (c *Core) noteDaemon(pod *taint.Pod, node *taint.Node) {
	if c.entries[pod.UID] == nil && c.judge.DeletedByDaemonSet(pod, node).Evict {
		c.daemons[pod.UID] = struct{}{}
	} else {
		forget(&c.daemons, pod.UID)
	}
}

// deletedByOthers turns the view of a pod that waits, is held, or has gone in a dry run only, into that of one that the
// DaemonSet controller deletes, if it does.
func (c *Core) deletedByOthers(e *entry, v eviction.View, node *taint.Node) eviction.View {
	verdict := c.judge.DeletedByDaemonSet(v.Pod, node)
	if !verdict.Evict || v.State == eviction.InFlight || e.state == accepted {
		return v
	}
	return eviction.View{
		Pod: v.Pod, Verdict: verdict, State: eviction.Due, Method: policy.Delete, Attempts: v.Attempts, Last: v.Last,
		DeletedBy: taint.DaemonSetController,
	}
}
