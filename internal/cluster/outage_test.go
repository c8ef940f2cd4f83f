package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

// A start of kube-controller-manager lifts the NoExecute taint of an outage; its NoSchedule taint stays, and is known
// at that moment, also if it came later than the other.
func TestTheNoScheduleTaintOfAnOutageIsKnown(t *testing.T) {
	s := newStores()
	noExecute := v1.Taint{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoExecute}
	noSchedule := v1.Taint{Key: v1.TaintNodeUnreachable, Effect: v1.TaintEffectNoSchedule}
	since := time.Unix(7, 0)
	other := v1.Taint{Key: "full", Effect: v1.TaintEffectNoSchedule}
	for _, step := range []struct {
		taints         []v1.Taint
		outage, spared bool
	}{
		{[]v1.Taint{noExecute}, false, false},
		{[]v1.Taint{noExecute, noSchedule}, true, false},
		{[]v1.Taint{noSchedule}, true, true},
		{[]v1.Taint{other}, false, false},
	} {
		node := aNode(step.taints...)
		node.Status.Conditions = []v1.NodeCondition{
			{Type: v1.NodeMemoryPressure, Status: v1.ConditionUnknown, LastTransitionTime: metav1.NewTime(since.Add(-time.Hour))},
			{Type: v1.NodeReady, Status: v1.ConditionUnknown, LastTransitionTime: metav1.NewTime(since)},
		}
		must(t, s.nodeStore.Update(node))
		if n := s.get(node.Name); n.Outage != step.outage || n.OutageSpared() != step.spared || s.OutageWithoutNoExecute()[node.Name].Equal(since) != step.spared {
			t.Errorf("%v: outage %v, spared %v, %v", step.taints, n.Outage, n.OutageSpared(), s.OutageWithoutNoExecute())
		}
	}
	s.nodes.needs.Store(s.nodes.needs.Load().next(policy.Needs{Triggers: []string{v1.TaintNodeUnreachable}}))
	must(t, s.nodeStore.Update(aNode(noSchedule)))
	if got := s.OutageWithoutNoExecute(); len(got) > 0 {
		t.Errorf("a policy has the taint: %v", got)
	}
}
