package e2e

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

const budgetManifest = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s, namespace: default}
spec:
  minAvailable: %[2]d
  selector: {matchLabels: {app: %[1]s}}
`

// longestBlockedWait is the longest wait of a blocked eviction for its next try.
const longestBlockedWait = 15 * time.Second

func (s *scene) budget(minAvailable int) {
	s.Helper()
	must(s, s.Apply(s.Context(), fmt.Sprintf(budgetManifest, s.node, minAvailable)))
}

func (s *scene) blockedEvent(pod *v1.Pod) *v1.Event {
	s.Helper()
	var found *v1.Event
	until(s, "an event EvictionBlocked", func() bool {
		list, err := s.admin.CoreV1().Events("default").List(s.Context(), metav1.ListOptions{
			FieldSelector: "reason=EvictionBlocked,involvedObject.uid=" + string(pod.UID),
		})
		if err != nil || len(list.Items) == 0 {
			return false
		}
		found = &list.Items[0]
		return found.Type == v1.EventTypeWarning
	})
	return found
}
