package e2e

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// Each scenario has a node of its own; all run at the same time, under one taint-manager. test/differential compares all
// rules about deadlines with the built-in controller, and with a model.
func TestPodsGoOrStayExactlyAsTheyShould(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.manage(t)
	for _, c := range []struct {
		sentence string
		play     func(*scene)
	}{
		{"no toleration: gone at once", atOnce},
		{"tolerated for 4 s: gone at 4 s", fourSeconds},
		{"all taints lifted: stays, and says so", lifted},
		{"Lt and Gt: a numeric taint whose value changes", numeric},
		{"DisruptionTarget is on the pod before it is deleted", disruptionTarget},
		{"kubectl describe shows the event", described},
		{"a job does not count an evicted pod as failed", job},
		{"finished, terminating and mirror pods are left alone", leftAlone},
	} {
		t.Run(c.sentence, func(t *testing.T) {
			t.Parallel()
			c.play(w.scene(t))
		})
	}
}

func atOnce(s *scene) {
	pod := s.pod("p")
	s.goes(pod, s.taint("key"), 0)
}

func fourSeconds(s *scene) {
	pod := s.pod("p", bears("key", 4))
	s.goes(pod, s.taint("key"), 4)
}

func lifted(s *scene) {
	pod := s.pod("p", bears("key", 4))
	tainted := s.taint("key")
	pause(s, 2*time.Second)
	s.taint()
	s.stays(pod, tainted, 8)
	event := s.event(pod, "Cancelling deletion of Pod default/"+pod.Name)
	if event.Type != v1.EventTypeNormal || event.Reason != "TaintManagerEviction" || event.Source.Component != "taint-eviction-controller" {
		s.Errorf("got type %s, reason %s, component %s", event.Type, event.Reason, event.Source.Component)
	}
}

func numeric(s *scene) {
	s.since(s, 35, "Lt and Gt in tolerations")
	low := v1.Toleration{Key: "load", Operator: v1.TolerationOpLt, Value: "50", Effect: v1.TaintEffectNoExecute}
	high := v1.Toleration{Key: "load", Operator: v1.TolerationOpGt, Value: "10", Effect: v1.TaintEffectNoExecute}
	for6 := bears("load", 6)
	bearsLow, bearsHigh, counted := s.pod("low", low), s.pod("high", high), s.pod("counted", low, for6)
	s.taint("load=30")
	changed := s.taint("load=40")
	s.stays(bearsLow, changed, 2)
	over := s.taint("load=60")
	s.goes(bearsLow, over, 0)
	pause(s, time.Until(over.after.Add(soon+time.Second)))
	s.taint("load=70") // does not restart the countdown
	s.goes(counted, over, 6)
	s.stays(bearsHigh, over, 6)
	s.goes(bearsHigh, s.taint("load=5"), 0)
}

func disruptionTarget(s *scene) {
	pod := s.podWith("p", hold)
	stream, err := s.admin.CoreV1().Pods("default").Watch(s.Context(), metav1.ListOptions{
		FieldSelector: "metadata.name=" + pod.Name, ResourceVersion: pod.ResourceVersion,
	})
	must(s, err)
	defer stream.Stop()
	s.goes(pod, s.taint("key"), 0)
	var held *v1.Pod // as it was when its deletion was first seen
	for held == nil || held.DeletionTimestamp == nil {
		held, _ = (<-stream.ResultChan()).Object.(*v1.Pod)
	}
	condition := conditionOf(held, v1.DisruptionTarget)
	if condition == nil || condition.Status != v1.ConditionTrue || condition.Reason != "DeletionByTaintManager" ||
		condition.Message != "Taint manager: deleting due to NoExecute taint" || (condition.ObservedGeneration != 0) != (s.Minor() >= 34) {
		s.Errorf("got the condition %+v", condition)
	}
	s.release(pod)
}

// hold keeps a pod from being removed once it is deleted; release removes the finalizer.
func hold(p *v1.Pod) { p.Finalizers = []string{"example.com/hold"} }

func (s *scene) release(pod *v1.Pod) {
	s.Helper()
	patch := []byte(`{"metadata":{"finalizers":null}}`)
	_, err := s.admin.CoreV1().Pods("default").Patch(s.Context(), pod.Name, types.MergePatchType, patch, metav1.PatchOptions{})
	must(s, err)
}

func conditionOf(pod *v1.Pod, kind v1.PodConditionType) *v1.PodCondition {
	for i := range pod.Status.Conditions {
		if pod.Status.Conditions[i].Type == kind {
			return &pod.Status.Conditions[i]
		}
	}
	return nil
}

func described(s *scene) {
	pod := s.podWith("p", hold, bears("key", 1))
	s.goes(pod, s.taint("key"), 1)
	want := "Marking for deletion Pod default/" + pod.Name
	s.event(pod, want)
	out, err := s.Kubectl(s.Context(), "describe", "pod", pod.Name).CombinedOutput()
	if err != nil {
		s.Fatalf("%v: %s", err, out)
	}
	if !strings.Contains(string(out), want) || !strings.Contains(string(out), "taint-eviction-controller") {
		s.Errorf("kubectl describe pod does not show the event:\n%s", out)
	}
}

func leftAlone(s *scene) {
	finished := s.pod("finished")
	s.setPhase(finished, v1.PodSucceeded)
	mirror := s.podWith("mirror", func(p *v1.Pod) {
		p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"}
	})
	terminating := s.podWith("terminating", hold)
	must(s, s.admin.CoreV1().Pods("default").Delete(s.Context(), terminating.Name, metav1.DeleteOptions{}))
	s.deletion(s, terminating.UID, time.Now().Add(soon))
	witness := s.pod("witness")
	tainted := s.taint("key")
	s.goes(witness, tainted, 0)
	s.stays(finished, tainted, 3)
	s.stays(mirror, tainted, 3)
	now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), terminating.Name, metav1.GetOptions{})
	if err != nil || conditionOf(now, v1.DisruptionTarget) != nil || s.findEvent(terminating, "Marking") != nil {
		s.Errorf("a pod that is being deleted was not left alone: %v, %+v", err, now.Status.Conditions)
	}
	s.release(terminating)
}

// setPhase waits until the simulated kubelet has set a phase, and then overwrites it.
func (s *scene) setPhase(pod *v1.Pod, phase v1.PodPhase) {
	s.Helper()
	until(s, "the pod is "+string(phase), func() bool {
		now, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.Name, metav1.GetOptions{})
		if err != nil || now.Status.Phase != v1.PodRunning {
			return err == nil && now.Status.Phase == phase
		}
		now.Status.Phase = phase
		_, err = s.admin.CoreV1().Pods("default").UpdateStatus(s.Context(), now, metav1.UpdateOptions{})
		return err == nil
	})
}
