package shard

import (
	"slices"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// leave notes whether a pod has to go, or is held, also without an outage of its node. Once the pod is being deleted,
// the note stays until the pod is gone.
func (c *Core) leave(pod *taint.Pod, node *taint.Node) {
	switch {
	case drains(node) && c.hasToGo(pod, withoutOutage(node)):
		c.leaving[pod.UID] = pod.Node
	case !pod.Terminating:
		forget(&c.leaving, pod.UID)
	}
}

// gone reports the node of a pod that had to go and is gone as drained, if no other pod has to go from the node or is
// being deleted. The last of those reports the node.
func (c *Core) gone(uid types.UID, do *Effects) {
	name := c.leaving[uid]
	forget(&c.leaving, uid)
	if name == "" {
		return
	}
	node, pods := c.options.Reader.PodsOn(name)
	if !drains(node) {
		return
	}
	remains := false
	for _, pod := range pods {
		if pod.Terminating {
			c.leaving[pod.UID] = name
		}
		remains = remains || pod.Terminating || c.hasToGo(pod, node)
	}
	if !remains {
		do.Drained = append(do.Drained, name)
	}
}

// drains reports whether a node has a trigger that reports no outage: nobody waits for a dead node to be empty.
func drains(node *taint.Node) bool {
	return node != nil && slices.ContainsFunc(node.Keys(), func(key string) bool { return !taint.ReportsOutage(key) })
}

// withoutOutage returns the node with the taints of an outage ended.
func withoutOutage(node *taint.Node) *taint.Node {
	for _, key := range node.Keys() {
		if taint.ReportsOutage(key) {
			node = node.Without(key)
		}
	}
	return node
}

// hasToGo reports whether a pod goes or is held, or would if it were not already being deleted.
func (c *Core) hasToGo(pod *taint.Pod, node *taint.Node) bool {
	present := *pod
	present.Terminating = false
	verdict := c.judge.Decide(&present, node)
	return verdict.Goes() || verdict.Held.By != 0
}
