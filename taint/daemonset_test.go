package taint_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

func TestTheDaemonSetControllerDeletesItsPodsThatDoNotTolerateANoExecuteTaint(t *testing.T) {
	noSchedule := taint.History{{Taint: v1.Taint{Key: "maintenance", Effect: v1.TaintEffectNoSchedule}, Since: at(5)}}
	trigger := node()
	trigger.Triggers = []taint.History{noSchedule}
	daemon := func(tolerations ...v1.Toleration) *taint.Pod {
		p := pod(tolerations...)
		p.Daemon = true
		return p
	}
	terminating, finished := daemon(), daemon()
	terminating.Terminating, finished.Phase = true, v1.PodFailed
	for _, test := range []struct {
		name string
		pod  *taint.Pod
		node *taint.Node
		at   int64
	}{
		{"a NoExecute taint that it does not tolerate", daemon(), node(on(10, "gpu", "")), 10},
		{"the first of two", daemon(), node(on(20, "gpu", ""), on(10, "disk", "")), 10},
		{"the one that it does not tolerate", daemon(exists("disk", seconds(1))), node(on(20, "gpu", ""), on(10, "disk", "")), 20},
		{"a toleration with seconds tolerates", daemon(exists("gpu", seconds(1))), node(on(10, "gpu", "")), stays},
		{"a toleration with zero seconds tolerates", daemon(exists("gpu", seconds(0))), node(on(10, "gpu", "")), stays},
		{"a NoSchedule taint, even if a policy makes it a trigger", daemon(), trigger, stays},
		{"a taint that is no longer there", daemon(), node(states(past(10, "load", "1"))), stays},
		{"a node that is not known", daemon(), nil, stays},
		{"a pod of another controller", pod(), node(on(10, "gpu", "")), stays},
		{"a pod that is being deleted", terminating, node(on(10, "gpu", "")), stays},
		{"a pod that has finished", finished, node(on(10, "gpu", "")), stays},
	} {
		v := taint.DeletedByDaemonSet(test.pod, test.node, taint.Rules{})
		if v.Evict != (test.at != stays) || v.Evict && !v.At.Equal(at(test.at)) {
			t.Errorf("%s: %v, want %d", test.name, v, test.at)
		}
	}
}
