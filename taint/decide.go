package taint

import (
	"time"

	v1 "k8s.io/api/core/v1"
)

// Rules are the settings that affect a verdict. The zero value is the default.
type Rules struct {
	// NoComparison makes tolerations with the operators Lt and Gt match nothing, as in clusters whose API server does
	// not support them. By default they count.
	NoComparison bool
}

// Decide returns the verdict for a pod on its node. A nil node is unknown: the pod stays.
//
// It never fails and never panics for objects that an API server accepts. It does not allocate, unless Lt or Gt
// compares a value that is not a number. The verdict points into pod and node.
func Decide(pod *Pod, node *Node, rules Rules) Verdict {
	if stay := NeverEvicted(pod); stay != 0 {
		return Verdict{Stay: stay, Node: pod.Node}
	}
	if node == nil {
		return Verdict{Stay: NodeUnknown, Node: pod.Node}
	}
	if len(node.Taints) == 0 {
		return Verdict{Stay: NotTainted, Node: pod.Node}
	}
	verdict := Verdict{Stay: Tolerated, Node: pod.Node}
	for _, history := range node.Taints {
		for i := range history {
			if history[i].Ended {
				continue
			}
			if v := evaluate(pod, history[:i+1], rules); v.sooner(&verdict) {
				verdict = v
			}
		}
	}
	return verdict
}

// NeverEvicted returns the reason why a pod stays whatever its node's taints are; 0 if there is none.
func NeverEvicted(pod *Pod) Stay {
	switch {
	case pod.Node == "":
		return Unbound
	case pod.Phase == v1.PodSucceeded || pod.Phase == v1.PodFailed:
		return Finished
	case pod.Terminating:
		return Terminating
	case pod.Mirror:
		return Mirror
	}
	return 0
}

// evaluate returns the verdict on the taint's last state; earlier states count for the start of the exposure.
func evaluate(pod *Pod, states History, rules Rules) Verdict {
	last := &states[len(states)-1]
	toleration := matching(pod.Tolerations, &last.Taint, rules)
	if toleratesForever(toleration, last.Since) {
		return Verdict{Stay: Tolerated, Node: pod.Node}
	}
	since := exposedSince(pod, states, rules)
	start := later(since, pod.Bound)
	if toleratesForever(toleration, start) {
		return Verdict{Stay: Tolerated, Node: pod.Node}
	}
	return Verdict{
		Evict:      true,
		At:         deadline(toleration, start),
		Start:      start,
		Node:       pod.Node,
		Taint:      &last.Taint,
		Toleration: toleration,
	}
}

// exposedSince returns the start of the latest unbroken run of states that the pod does not tolerate forever. The last
// state must be one of them.
func exposedSince(pod *Pod, states History, rules Rules) time.Time {
	first := len(states) - 1
	for ; first > 0; first-- {
		before := &states[first-1]
		if toleratesForever(matching(pod.Tolerations, &before.Taint, rules), before.Since) {
			break
		}
	}
	return states[first].Since
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
