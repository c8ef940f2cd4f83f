package shard

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// departure is the node that a pod has to leave, and the key of the taint that drains the node.
type departure struct{ node, key string }

// trackLeaving records whether a pod is to be evicted or is held for another reason than an outage of its node. Once
// the pod is being deleted, the record stays until the pod is gone.
func (c *Core) trackLeaving(pod *taint.Pod, node *taint.Node) {
	key := ""
	if drains(node) {
		key = c.trigger(pod, withoutOutage(node))
	}
	switch {
	case key != "":
		c.leaving[pod.UID] = departure{pod.Node, key}
	case !pod.Terminating:
		deleteAndShrink(&c.leaving, pod.UID)
	}
}

// reportDrained reports that a node is drained once a pod that had to leave it is gone, if the node still has the
// taint, and no other pod has to leave the node or is being deleted. Otherwise, the last such pod reports it.
func (c *Core) reportDrained(uid types.UID, effects *Effects) {
	left := c.leaving[uid]
	deleteAndShrink(&c.leaving, uid)
	if left.node == "" {
		return
	}
	node, pods := c.options.Reader.PodsOn(left.node)
	if node == nil || !slices.Contains(node.Keys(), left.key) {
		return
	}
	remains := false
	for _, pod := range pods {
		if pod.Terminating {
			c.leaving[pod.UID] = left
		}
		remains = remains || pod.Terminating || c.trigger(pod, node) != ""
	}
	if !remains {
		effects.Drained = append(effects.Drained, left.node)
	}
}

// drains reports whether a node has a trigger that reports no outage: nobody waits for a dead node to be empty.
func drains(node *taint.Node) bool {
	return node != nil && slices.ContainsFunc(node.Keys(), func(key string) bool { return !taint.ReportsOutage(key) })
}

// withoutOutage returns the node as if it did not carry the taints of an outage.
func withoutOutage(node *taint.Node) *taint.Node {
	for _, key := range node.Keys() {
		if taint.ReportsOutage(key) {
			node = node.Without(key)
		}
	}
	return node
}

// trigger returns the key of the taint that evicts the pod, or because of which the pod is held; "" if the pod stays. A
// pod that is being deleted is judged as if it were not.
func (c *Core) trigger(pod *taint.Pod, node *taint.Node) string {
	present := *pod
	present.Terminating = false
	verdict := c.judge.Decide(&present, node)
	switch {
	case verdict.Evicts():
		return verdict.First().Taint.Key
	case verdict.Held.By != 0:
		return verdict.Held.Verdict.Taint.Key
	}
	return ""
}
