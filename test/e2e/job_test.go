package e2e

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// jobManifest is a job whose pods stay on one node and run for ever, and which does not count a pod as failed that
// has the condition DisruptionTarget.
const jobManifest = `
apiVersion: batch/v1
kind: Job
metadata: {name: %[1]s, namespace: default}
spec:
  backoffLimit: 6
  podReplacementPolicy: Failed
  podFailurePolicy:
    rules:
    - action: Ignore
      onPodConditions: [{type: DisruptionTarget}]
  template:
    spec:
      nodeSelector: {kubernetes.io/hostname: %[1]s}
      terminationGracePeriodSeconds: 1
      restartPolicy: Never
      containers: [{name: c, image: image}]
`

func job(s *scene) {
	must(s, s.Apply(s.Context(), fmt.Sprintf(jobManifest, s.node)))
	first := s.jobPod()
	must(s, s.admin.CoreV1().Pods("default").Delete(s.Context(), first.Name, metav1.DeleteOptions{}))
	until(s, "the control: a pod deleted by hand counts as failed", func() bool { return s.failed() == 1 })

	second := s.jobPod(first.Name)
	s.goes(second, s.taint("key"), 0)
	until(s, "the evicted pod is replaced", func() bool { return s.findJobPod(first.Name, second.Name) != nil })
	pause(s, 2*time.Second) // the job controller may count late
	if n := s.failed(); n != 1 {
		s.Errorf("%d pods count as failed, want 1: the evicted one does not", n)
	}
}

func (s *scene) failed() int32 {
	j, err := s.admin.BatchV1().Jobs("default").Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	return j.Status.Failed
}

// jobPod waits for a running pod of the job that is not one of these.
func (s *scene) jobPod(not ...string) (found *v1.Pod) {
	s.Helper()
	until(s, "a pod of the job runs", func() bool {
		found = s.findJobPod(not...)
		return found != nil && found.Status.Phase == v1.PodRunning
	})
	return found
}

func (s *scene) findJobPod(not ...string) *v1.Pod {
	list, err := s.admin.CoreV1().Pods("default").List(s.Context(), metav1.ListOptions{LabelSelector: "job-name=" + s.node})
	must(s, err)
	for i := range list.Items {
		pod := &list.Items[i]
		if pod.DeletionTimestamp == nil && !slices.Contains(not, pod.Name) {
			return pod
		}
	}
	return nil
}
