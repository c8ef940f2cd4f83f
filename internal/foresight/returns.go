package foresight

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// rounds returns how often each workload was evicted from each node, by taint key, in the hour before this time,
// according to the manager's events about pods that are gone.
func (m *Model) rounds(at time.Time) eviction.Rounds {
	rounds := eviction.Rounds{}
	lately := func(e *v1.Event) bool {
		age := at.Sub(eventTime(e))
		return e.Reason == EvictionReason && m.pods[e.InvolvedObject.UID] == nil && age >= 0 && age <= time.Hour
	}
	for _, e := range m.eventsThat(lately) {
		said := e.Annotations
		if bound, err := time.Parse(time.RFC3339, said[eviction.BoundAnnotation]); err == nil {
			rounds.Add(eviction.Origin{
				Namespace: e.InvolvedObject.Namespace, Workload: said[eviction.WorkloadAnnotation],
				Node: said[eviction.NodeAnnotation], Key: withoutValue(said[eviction.TaintAnnotation]).Key,
			}, bound, eventTime(e))
		}
	}
	return rounds
}

// returned returns the number of rounds of evictions after which a pod has come back to its node; 0 if fewer than two.
func (p *pod) returned(after eviction.Rounds, by *Prediction) int {
	return after.Returned(eviction.Origin{
		Namespace: p.Namespace, Workload: p.Workload().String(), Node: p.Node, Key: withoutValue(by.Taint).Key,
	}, p.Bound)
}

// noteReturned adds a note about pods that have come back to their nodes again and again.
func (p *Pending) noteReturned() {
	var names []string
	for _, pod := range p.Pods {
		if pod.Returned > 0 {
			names = append(names, fmt.Sprintf("%s on %s after %d evictions", &pod.PodRef, pod.Node, pod.Returned))
		}
	}
	if len(names) > 0 {
		p.note("eviction loop: within the last hour, pods of one owner came back to the same node, and are evicted again "+
			"because of the same taint (%s); a NoSchedule taint that they do not tolerate keeps them off", ShortList(names))
	}
}

// loopWarnings returns a warning if the replacement of an evicted pod may be scheduled to the same node with these
// taints, and be evicted again: the pod tolerates all of them for some time or, if a policy evicts it, forever.
func loopWarnings(p *pod, taints []v1.Taint, rules taint.Rules) []string {
	if p.Controller == nil {
		return nil
	}
	for i := range taints {
		if keepsOff(&p.Pod, taints[i], rules) {
			return nil
		}
	}
	if p.Daemon {
		return []string{"the DaemonSet controller creates the pod on this node again at once, where it is evicted again, " +
			"without end; add a NoSchedule taint that it does not tolerate"}
	}
	tolerates := "a replacement pod also tolerates the node's taints"
	if slices.ContainsFunc(taints, func(t v1.Taint) bool { return isLimited(&p.Pod, &t, rules) }) {
		tolerates += " for some time"
	}
	return []string{tolerates + ", so it may be scheduled to the same node and evicted again"}
}

// isLimited reports whether the pod tolerates the taint, but not forever.
func isLimited(p *taint.Pod, t *v1.Taint, rules taint.Rules) bool {
	counts := taint.Matching(p, t, rules)
	return counts != nil && counts.TolerationSeconds != nil
}

// keepsOff reports whether a taint keeps pods with the tolerations of this pod off its node. A node with not-ready or
// unreachable as NoExecute also has it as NoSchedule.
func keepsOff(p *taint.Pod, t v1.Taint, rules taint.Rules) bool {
	if t.Effect == v1.TaintEffectPreferNoSchedule {
		return false
	}
	twin := t
	if isManaged(t) {
		twin.Effect = v1.TaintEffectNoSchedule
	}
	return taint.Matching(p, &t, rules) == nil || taint.Matching(p, &twin, rules) == nil
}

// stuckWarnings returns a warning if the kubelet of a node with these taints can't confirm that a pod has stopped.
func stuckWarnings(taints []v1.Taint) []string {
	if !hasKey(taints, v1.TaintNodeUnreachable) || hasKey(taints, v1.TaintNodeOutOfService) {
		return nil
	}
	return []string{"it stays Terminating until its node is reachable again, is deleted, or has the taint out-of-service"}
}

// hasKey reports whether a taint has this key, whatever its value and effect.
func hasKey(taints []v1.Taint, key string) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool { return t.Key == key })
}
