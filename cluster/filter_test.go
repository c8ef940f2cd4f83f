package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

func TestTheFilterOfPods(t *testing.T) {
	now := metav1.Now()
	type pod = func(*v1.Pod)
	for _, test := range []struct {
		name          string
		change        pod
		judged, shown bool
	}{
		{"nothing", func(*v1.Pod) {}, false, false},
		{"an equal list of tolerations", func(p *v1.Pod) { p.Spec.Tolerations = aPod().Spec.Tolerations }, false, false},
		{"IP addresses", func(p *v1.Pod) { p.Status.PodIP = "10.0.0.1" }, false, false},
		{"restarts", func(p *v1.Pod) { p.Status.ContainerStatuses = []v1.ContainerStatus{{RestartCount: 1}} }, false, false},
		{"another condition", condition(v1.PodReady, v1.ConditionTrue, now), false, false},
		{"an annotation", func(p *v1.Pod) { p.Annotations = map[string]string{"a": "b"} }, false, false},
		{"from running to pending", inPhase(v1.PodPending), false, true},
		{"generation", func(p *v1.Pod) { p.Generation++ }, false, true},
		{"priority", func(p *v1.Pod) { p.Spec.Priority = new(int32(1)) }, false, true},
		{"disrupted", condition(v1.DisruptionTarget, v1.ConditionTrue, now), false, true},
		{"controller", controlledBy("ReplicaSet", "other"), false, true},
		{"UID", withUID("other"), true, true},
		{"node", onNode("other"), true, true},
		{"terminating", func(p *v1.Pod) { p.DeletionTimestamp = &now }, true, true},
		{"mirror", func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"} }, true, true},
		{"a label", func(p *v1.Pod) { p.Labels["app"] = "db" }, true, true},
		{"no tolerations", func(p *v1.Pod) { p.Spec.Tolerations = nil }, true, true},
		{"toleration: key", func(p *v1.Pod) { p.Spec.Tolerations[0].Key = "other" }, true, true},
		{"toleration: operator", func(p *v1.Pod) { p.Spec.Tolerations[0].Operator = v1.TolerationOpLt }, true, true},
		{"toleration: value", func(p *v1.Pod) { p.Spec.Tolerations[0].Value = "other" }, true, true},
		{"toleration: effect", func(p *v1.Pod) { p.Spec.Tolerations[0].Effect = v1.TaintEffectNoExecute }, true, true},
		{"toleration: seconds", func(p *v1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = new(int64(61)) }, true, true},
		{"toleration: for ever", func(p *v1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = nil }, true, true},
		{"toleration: one more", func(p *v1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{}) }, true, true},
	} {
		old, changed := PodOf(aPod(), time.Time{}), PodOf(aPod(test.change), time.Time{})
		if got := worthJudging(&old, &changed); got != test.judged {
			t.Errorf("%s: judged: got %t", test.name, got)
		}
		if got := worthKeeping(&old, &changed); got != test.shown {
			t.Errorf("%s: shown: got %t", test.name, got)
		}
	}
}

func TestOnlyBoundAndUnfinishedPodsAreKept(t *testing.T) {
	for _, test := range []struct {
		pod  *v1.Pod
		want bool
	}{
		{aPod(), true},
		{aPod(inPhase(v1.PodPending)), true},
		{aPod(inPhase(v1.PodUnknown)), true},
		{aPod(inPhase("")), true},
		{aPod(inPhase(v1.PodSucceeded)), false},
		{aPod(inPhase(v1.PodFailed)), false},
		{aPod(onNode("")), false},
	} {
		if p := PodOf(test.pod, time.Time{}); kept(&p) != test.want {
			t.Errorf("a pod on %q that is %q: want kept %t", p.Node, p.Phase, test.want)
		}
	}
}
