package sim

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// What users and controllers do. It has no effect if its object does not exist.

// setTaint sets a taint as kubectl or a controller does; its timeAdded is ahead of the present time, or missing.
func (s *server) setTaint(node string, t v1.Taint, ahead *time.Duration) {
	if t.TimeAdded = nil; ahead != nil {
		t.TimeAdded = &metav1.Time{Time: s.stamp().Add(*ahead)}
	}
	s.changeTaints(node, func(list []v1.Taint) []v1.Taint { return with(list, t) })
}

func (s *server) lift(node string, keys ...string) {
	s.changeTaints(node, func(list []v1.Taint) []v1.Taint { return without(list, keys...) })
}

// ready removes the taints of the node lifecycle controller.
func (s *server) ready(node string) { s.lift(node, v1.TaintNodeNotReady, v1.TaintNodeUnreachable) }

// flap removes one of the node's taints, or the given one, and sets it again after a while.
func (s *server) flap(node string, number int, t v1.Taint, ahead *time.Duration, lasts time.Duration) {
	if n := s.node(node); n != nil && len(n.Spec.Taints) > 0 {
		t = n.Spec.Taints[number%len(n.Spec.Taints)]
	}
	s.lift(node, t.Key)
	s.line.after(lasts, func() { s.setTaint(node, t, ahead) })
}

// changeTaints writes a changed list of taints to a node.
func (s *server) changeTaints(node string, change func([]v1.Taint) []v1.Taint) {
	s.changeNode(node, func(n *v1.Node) { n.Spec.Taints = change(slices.Clone(n.Spec.Taints)) })
}

// swap changes the taints as the node lifecycle controller does when the node fails in another way: unreachable
// replaces not-ready, or the reverse, in one write, and timeAdded is now.
func (s *server) swap(node string) {
	s.changeTaints(node, func(list []v1.Taint) []v1.Taint {
		from, to := v1.TaintNodeNotReady, v1.TaintNodeUnreachable
		if slices.ContainsFunc(list, func(t v1.Taint) bool { return t.Key == to }) {
			from, to = to, from
		}
		return with(without(list, from), v1.Taint{Key: to, Effect: v1.TaintEffectNoExecute, TimeAdded: new(s.stamp())})
	})
}

// rewrite changes the taints as that controller does after a restart: timeAdded is now.
func (s *server) rewrite(node string) {
	s.changeTaints(node, func(list []v1.Taint) []v1.Taint {
		for i := range list {
			if list[i].Key == v1.TaintNodeNotReady || list[i].Key == v1.TaintNodeUnreachable {
				list[i].TimeAdded = new(s.stamp())
			}
		}
		return list
	})
}

// with returns the list with the taint, which replaces a taint with the same key and effect.
func with(list []v1.Taint, t v1.Taint) []v1.Taint {
	for i := range list {
		if list[i].Key == t.Key && list[i].Effect == t.Effect {
			if list[i].Value == t.Value {
				t.TimeAdded = list[i].TimeAdded // the taint exists already
			}
			list[i] = t
			return list
		}
	}
	return append(list, t)
}

func without(list []v1.Taint, keys ...string) []v1.Taint {
	return slices.DeleteFunc(list, func(t v1.Taint) bool { return slices.Contains(keys, t.Key) })
}

// replacePod removes a pod, and creates one of that name.
func (s *server) replacePod(name, node string, tolerations []v1.Toleration, shape podShape) {
	if p := s.pod(name); p != nil {
		s.removePod(p.UID)
		s.createPod(name, node, tolerations, shape)
	}
}

func (s *server) tolerate(name string, tolerations []v1.Toleration) {
	if p := s.pod(name); p != nil {
		s.changePod(p.UID, func(p *v1.Pod) { p.Spec.Tolerations = tolerations; p.Generation++ })
	}
}

func (s *server) finish(uid types.UID) {
	s.changePod(uid, func(p *v1.Pod) { p.Status.Phase = v1.PodSucceeded })
}

// touch has a pod run; one that has finished never runs again.
func (s *server) touch(uid types.UID) {
	s.changePod(uid, func(p *v1.Pod) {
		if p.Status.Phase == v1.PodPending {
			p.Status.Phase = v1.PodRunning
		}
	})
}

// touchPartition changes the partition of a node, or loses its content; no replica takes part in it.
func (s *server) touchPartition(node string, lost bool) {
	i := journal.PartitionOf(node)
	now := s.partitions[i]
	if now.version == 0 {
		return
	}
	if lost {
		now.data, now.records = nil, nil
	}
	s.storePartition(i, now)
}
