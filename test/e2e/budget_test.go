package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

const budgetManifest = `
apiVersion: policy/v1
kind: PodDisruptionBudget
metadata: {name: %[1]s, namespace: default}
spec:
  minAvailable: %[2]d
  selector: {matchLabels: {app: %[1]s}}
`

func TestMethodEvictObeysAPodDisruptionBudget(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.manage(t, "--eviction-method=evict")
	s := w.scene(t)
	pod := s.podWith("p", func(p *v1.Pod) { p.Labels = map[string]string{"app": s.node} })
	free := s.pod("free")
	s.budget(1)
	s.until("the pod is ready and its budget says no", func() bool {
		pdb, err := s.admin.PolicyV1().PodDisruptionBudgets("default").Get(s.Context(), s.node, metav1.GetOptions{})
		return err == nil && pdb.Status.CurrentHealthy == 1 && pdb.Status.DisruptionsAllowed == 0 && pdb.Status.ExpectedPods == 1
	})

	tainted := s.taint("key")
	s.goes(free, tainted, 0)
	s.stays(pod, tainted, 4)
	if blocked := s.blockedEvent(pod); !strings.Contains(blocked.Message, s.node) {
		s.Errorf("the event does not name the budget: %s", blocked.Message)
	}

	s.budget(0)
	relaxed := time.Now()
	at, ended := s.deletion(s, pod.UID, relaxed.Add(longestBlockedWait+soon))
	if !ended {
		s.Fatalf("the pod did not go within %v after its budget was relaxed", longestBlockedWait+soon)
	}
	s.Logf("gone %v after the budget was relaxed", at.Sub(relaxed).Round(time.Millisecond))
}

// The eviction subresource answers this with a failure that may look like one of the server's.
func TestMethodEvictWaitsWhileTwoBudgetsSelectAPod(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.manage(t, "--eviction-method=evict")
	s := w.scene(t)
	pod := s.podWith("p", func(p *v1.Pod) { p.Labels = map[string]string{"app": s.node} })
	s.budget(0)
	second := strings.Replace(fmt.Sprintf(budgetManifest, s.node, 0), "name: "+s.node, "name: second", 1)
	if err := s.Apply(s.Context(), second); err != nil {
		s.Fatal(err)
	}
	s.until("the pod is ready and both budgets know it", func() bool {
		list, err := s.admin.PolicyV1().PodDisruptionBudgets("default").List(s.Context(), metav1.ListOptions{})
		return err == nil && len(list.Items) == 2 &&
			list.Items[0].Status.CurrentHealthy == 1 && list.Items[1].Status.CurrentHealthy == 1
	})

	s.stays(pod, s.taint("key"), 4)
	if blocked := s.blockedEvent(pod); !strings.Contains(blocked.Message, "more than one PodDisruptionBudget") {
		s.Errorf("the event does not name the cause: %s", blocked.Message)
	}
	if err := s.admin.PolicyV1().PodDisruptionBudgets("default").Delete(s.Context(), "second", metav1.DeleteOptions{}); err != nil {
		s.Fatal(err)
	}
	alone := time.Now()
	at, ended := s.deletion(s, pod.UID, alone.Add(longestBlockedWait+soon))
	if !ended {
		s.Fatalf("the pod did not go within %v after the second budget was deleted", longestBlockedWait+soon)
	}
	s.Logf("gone %v after the second budget was deleted", at.Sub(alone).Round(time.Millisecond))
}

// longestBlockedWait is the longest wait of a blocked eviction for its next try.
const longestBlockedWait = 15 * time.Second

func (s *scene) budget(minAvailable int) {
	s.Helper()
	if err := s.Apply(s.Context(), fmt.Sprintf(budgetManifest, s.node, minAvailable)); err != nil {
		s.Fatal(err)
	}
}

func (s *scene) blockedEvent(pod *v1.Pod) *v1.Event {
	s.Helper()
	var found *v1.Event
	s.until("an event EvictionBlocked", func() bool {
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
