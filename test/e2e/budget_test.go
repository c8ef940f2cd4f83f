package e2e

import (
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
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
		if list := s.events(s, "reason=EvictionBlocked,involvedObject.uid="+string(pod.UID)); len(list) > 0 {
			found = &list[0]
		}
		return found != nil && found.Type == v1.EventTypeWarning
	})
	return found
}
