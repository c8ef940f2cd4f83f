package cluster

import (
	"testing"
	"time"

	batchv1 "k8s.io/api/batch/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
)

func TestTheFilterOfPods(t *testing.T) {
	now := metav1.Now()
	type pod = func(*v1.Pod)
	for _, test := range []struct {
		name          string
		change        pod
		judged, shown bool
		owners        bool // the handler is called for it if policies need owners
	}{
		{"nothing", func(*v1.Pod) {}, false, false, false},
		{"an equal list of tolerations", func(p *v1.Pod) { p.Spec.Tolerations = aPod().Spec.Tolerations }, false, false, false},
		{"IP addresses", func(p *v1.Pod) { p.Status.PodIP = "10.0.0.1" }, false, false, false},
		{"restarts", func(p *v1.Pod) { p.Status.ContainerStatuses = []v1.ContainerStatus{{RestartCount: 1}} }, false, false, false},
		{"another condition", condition(v1.ContainersReady, v1.ConditionTrue, now), false, false, false},
		{"ready", condition(v1.PodReady, v1.ConditionTrue, now), false, true, false},
		{"an annotation", func(p *v1.Pod) { p.Annotations = map[string]string{"a": "b"} }, false, false, false},
		{"from running to pending", inPhase(v1.PodPending), false, true, false},
		{"generation", func(p *v1.Pod) { p.Generation++ }, false, true, false},
		{"priority", func(p *v1.Pod) { p.Spec.Priority = new(int32(1)) }, false, true, false},
		{"disrupted", condition(v1.DisruptionTarget, v1.ConditionTrue, now), false, true, false},
		{"grace period", func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(31)) }, false, true, false},
		{"no grace period", func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = nil }, false, true, false},
		{"controller", controlledBy("ReplicaSet", "other"), false, true, true},
		{"no controller", func(p *v1.Pod) { p.OwnerReferences = nil }, false, true, true},
		{"an owner that does not control it", func(p *v1.Pod) {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: "Other", Name: "o"})
		}, false, false, false},
		{"UID", withUID("other"), true, true, false},
		{"node", onNode("other"), true, true, false},
		{"terminating", func(p *v1.Pod) { p.DeletionTimestamp = &now }, true, true, false},
		{"mirror", func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"} }, true, true, false},
		{"a label that policies read", func(p *v1.Pod) { p.Labels["app"] = "db" }, true, true, false},
		{"another label", func(p *v1.Pod) { p.Labels["other"] = "db" }, false, false, false},
		{"no tolerations", func(p *v1.Pod) { p.Spec.Tolerations = nil }, true, true, false},
		{"toleration: key", func(p *v1.Pod) { p.Spec.Tolerations[0].Key = "other" }, true, true, false},
		{"toleration: seconds", func(p *v1.Pod) { p.Spec.Tolerations[0].TolerationSeconds = new(int64(61)) }, true, true, false},
	} {
		before := []pod{controlledBy("ReplicaSet", "web"), func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(30)) }}
		for _, owners := range []bool{false, true} {
			needs := needing(policy.Needs{PodOwners: owners, PodLabels: []string{"app"}, Triggers: []string{"k"}})
			table := newPods(needs)
			table.put(table.entryOf(aPod(before...), time.Time{}))
			old := table.get("p1")
			changed := table.entryOf(aPod(append(before, test.change)...), time.Time{})
			if got := !old.sameVerdict(changed, owners); got != (test.judged || test.owners && owners) {
				t.Errorf("%s, owners needed %t: judged: got %t", test.name, owners, got)
			}
			if got := !old.same(changed); got != test.shown {
				t.Errorf("%s, owners needed %t: shown: got %t", test.name, owners, got)
			}
		}
	}
}

func TestOnlyBoundPodsAreKeptThatAreNotGone(t *testing.T) {
	now := metav1.Now()
	deleted := func(p *v1.Pod) { p.DeletionTimestamp = &now }
	keptBy := func(finalizers ...string) func(p *v1.Pod) { return func(p *v1.Pod) { p.Finalizers = finalizers } }
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
		{aPod(deleted), true},
		{aPod(inPhase(v1.PodFailed), deleted), true},
		{aPod(inPhase(v1.PodSucceeded), keptBy("example.com/held")), true},
		{aPod(inPhase(v1.PodFailed), keptBy(batchv1.JobTrackingFinalizer)), false},
		{aPod(inPhase(v1.PodFailed), keptBy(batchv1.JobTrackingFinalizer, "example.com/held")), true},
		{aPod(inPhase(v1.PodFailed), keptBy("example.com/held"), onNode("")), false},
	} {
		p := newPods(newNeeds()).entryOf(test.pod, time.Time{})
		if p.gone() == test.want {
			t.Errorf("a pod on %q that is %q with finalizers %q: want kept %t", p.Node, p.Phase, test.pod.Finalizers, test.want)
		}
	}
	running := newPods(newNeeds()).entryOf(aPod(keptBy("example.com/held")), time.Time{})
	if running.Terminating {
		t.Error("a finalizer makes a running pod terminate")
	}
}
