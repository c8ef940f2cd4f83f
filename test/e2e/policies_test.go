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

// configHead begins each configuration file.
const configHead = "apiVersion: taint-manager/v1alpha1\nkind: TaintManagerConfiguration\n"

// maintenance is a key whose taints of effect NoSchedule are a trigger.
const maintenance = "example.com/maintenance"

const policiesFile = configHead + `
policies:
- {name: budgeted, match: {taints: [{key: budgeted}]}, method: Evict, deleteAfter: 5s}
- {name: patient, match: {taints: [{key: patient}]}, method: Evict, deleteAfter: 1h}
- {name: quarantine-release, match: {taints: [{key: quarantine, values: [go]}]}, method: Evict, deleteAfter: 1h}
- {name: quarantine, match: {taints: [{key: quarantine}]}, method: Hold}
- name: maintenance
  match: {taints: [{key: example.com/maintenance, effects: [NoSchedule]}]}
  method: Evict
  deleteAfter: 4s
  tolerations: {absent: 1s, max: 3s, unlimited: 2s}
`

// policyLate is how late an effect of a policy may be: most take several requests, and all scenarios run at the same time.
const policyLate = 4 * time.Second

// Each scenario has a node of its own; all run at the same time, under one taint-manager and one file.
func TestPoliciesDecideWhatHappensToPods(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{AuditLevel: "Metadata"})
	files := &mount{dir: t.TempDir()}
	files.write(t, policiesFile)
	m := w.manage(t, "--config="+files.file())
	t.Run("scenarios", func(t *testing.T) {
		for _, c := range []struct {
			sentence string
			play     func(*scene)
		}{
			{"a budget is obeyed for deleteAfter, and no longer", budgetObeyed},
			{"a budget that admits within deleteAfter: evicted, not deleted", budgetAdmits},
			{"two budgets on one pod: deleted after deleteAfter", twoBudgets},
			{"Hold: stays until the taint's value releases it", func(s *scene) { heldAndReleased(s, m) }},
			{"a NoSchedule taint drains its node by the policy's times", drained},
		} {
			t.Run(c.sentence, func(t *testing.T) {
				t.Parallel()
				c.play(w.scene(t))
			})
		}
	})
	t.Run("a file that needs a missing permission is refused until it is granted", func(t *testing.T) { w.needsNamespaces(t, files, m) })
}

// labelled gives a pod the label by which a budget of the scene selects it.
func (s *scene) labelled(p *v1.Pod) { p.Labels = map[string]string{"app": s.node} }

// owned makes a pod belong to a controller. Its kind is unknown to the API server, so that the garbage collector does
// not collect the pod.
func owned(kind string) func(*v1.Pod) {
	yes := true
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{APIVersion: "example.com/v1", Kind: kind, Name: "owner", UID: "b1f1ae5e-0000-4000-8000-000000000000", Controller: &yes}}
	}
}

// both makes two changes.
func both(one, two func(*v1.Pod)) func(*v1.Pod) {
	return func(p *v1.Pod) { one(p); two(p) }
}

// known waits until this many budgets of the scene have counted their healthy pod.
func (s *scene) known(budgets int) {
	s.Helper()
	until(s, "the budgets know the pod", func() bool {
		list, err := s.admin.PolicyV1().PodDisruptionBudgets("default").List(s.Context(), metav1.ListOptions{})
		n := 0
		for i := range list.Items {
			of := &list.Items[i]
			if of.Spec.Selector.MatchLabels["app"] == s.node && of.Status.ObservedGeneration == of.Generation &&
				of.Status.ExpectedPods == 1 && of.Status.CurrentHealthy == 1 {
				n++
			}
		}
		return err == nil && n == budgets
	})
}

// goesAround is like goes, and the pod may be as late as an effect of a policy.
func (s *scene) goesAround(pod *v1.Pod, since moment, seconds float64) {
	s.Helper()
	s.goesWithin(policyLate, pod, since, seconds)
}

// asked returns when taint-manager first asked for the eviction and for the deletion of a pod that has gone: zero if it
// did not.
func (s *scene) asked(pod *v1.Pod, since moment) (eviction, deletion time.Time) {
	s.Helper()
	awaitDeletions(s.T, s.AuditLog(), pod.Name)
	for _, r := range ofPods(writes(s.T, s.AuditLog(), since.before)) {
		switch {
		case r.ObjectRef.Name != pod.Name:
		case r.Verb == "create" && r.ObjectRef.Subresource == "eviction" && eviction.IsZero():
			eviction = r.RequestReceivedTimestamp
		case r.Verb == "delete" && deletion.IsZero():
			deletion = r.RequestReceivedTimestamp
		}
	}
	return eviction, deletion
}

// deletedAfter requires the pod to be asked for at from, refused, and deleted d later, neither earlier.
func (s *scene) deletedAfter(pod *v1.Pod, since moment, from, d float64) {
	s.Helper()
	s.goesAround(pod, since, from+d)
	eviction, deletion := s.asked(pod, since)
	if eviction.IsZero() || deletion.IsZero() {
		s.Fatalf("%s: want an eviction that is refused and then a DELETE; eviction at %v, DELETE at %v", pod.Name, eviction, deletion)
	}
	if apart := deletion.Sub(eviction); apart < time.Duration(d*float64(time.Second)) {
		s.Errorf("%s: the DELETE came %v after the first eviction, want %v s at least", pod.Name, apart, d)
	}
}

func budgetObeyed(s *scene) {
	pod, free := s.podWith("p", s.labelled), s.pod("free")
	s.budget(1)
	s.known(1)
	tainted := s.taint("budgeted")
	s.goesAround(free, tainted, 0)
	s.deletedAfter(pod, tainted, 0, 5)
	if _, deletion := s.asked(free, tainted); !deletion.IsZero() {
		s.Error("the pod without a budget was deleted, not evicted")
	}
	if blocked := s.blockedEvent(pod); !strings.Contains(blocked.Message, s.node) {
		s.Errorf("the event does not name the budget: %s", blocked.Message)
	}
}

func budgetAdmits(s *scene) {
	pod := s.podWith("p", s.labelled)
	s.budget(1)
	s.known(1)
	tainted := s.taint("patient")
	s.stays(pod, tainted, 7) // longer than another policy's deleteAfter
	s.budget(0)
	if _, ended := s.deletion(s, pod.UID, time.Now().Add(longestBlockedWait+policyLate)); !ended {
		s.Error("the pod did not go after its budget was relaxed")
	}
	if _, deletion := s.asked(pod, tainted); !deletion.IsZero() {
		s.Error("it was deleted, not evicted")
	}
}

func twoBudgets(s *scene) {
	pod := s.podWith("p", s.labelled)
	s.budget(0)
	second := strings.Replace(fmt.Sprintf(budgetManifest, s.node, 0), "name: "+s.node, "name: second-"+s.node, 1)
	must(s, s.Apply(s.Context(), second))
	s.known(2)
	s.deletedAfter(pod, s.taint("budgeted"), 0, 5)
	if blocked := s.blockedEvent(pod); !strings.Contains(blocked.Message, "more than one PodDisruptionBudget") {
		s.Errorf("the event does not name the cause: %s", blocked.Message)
	}
}

func heldAndReleased(s *scene, m *testcluster.Manager) {
	pod := s.pod("p")
	held := s.taint("quarantine=disk")
	s.stays(pod, held, 5)
	if text := body(s.T, m.Page()+"api/v1/evictions?limit=100"); !strings.Contains(text, `"heldBy":"policy quarantine"`) {
		s.Errorf("the page does not say what holds the pod:\n%s", text)
	}
	s.goesAround(pod, s.taint("quarantine=go"), 0)
}

func drained(s *scene) {
	set := owned("Set")
	bare := s.podWith("bare", set)
	counted := s.podWith("counted", set, bears(maintenance, 3600))
	unlimited := s.podWith("unlimited", set, exists(""))
	budgeted := s.podWith("budgeted", both(set, s.labelled))
	daemon, alone := s.podWith("daemon", owned("DaemonSet")), s.pod("alone")
	s.budget(1)
	s.known(1)
	tainted := s.taintNoSchedule(maintenance)
	s.goesAround(bare, tainted, 1)
	s.goesAround(unlimited, tainted, 2)
	s.goesAround(counted, tainted, 3)
	s.deletedAfter(budgeted, tainted, 1, 4)
	s.toldAsDrained(budgeted)
	s.stays(daemon, tainted, 7)
	s.stays(alone, tainted, 7)
}

// toldAsDrained requires an event Drained on the scene's node, not before its last pod was gone.
func (s *scene) toldAsDrained(last *v1.Pod) {
	s.Helper()
	gone, _ := s.deletion(s, last.UID, time.Now())
	var told []v1.Event
	until(s, "the node has an event Drained", func() bool {
		told = s.events(s, "involvedObject.kind=Node,reason=Drained,involvedObject.name="+s.node)
		return len(told) > 0
	})
	for i := range told {
		if e := &told[i]; e.FirstTimestamp.Time.Before(gone.Truncate(time.Second)) { // its time is cut to seconds
			s.Errorf("the node was told to be drained at %v, and %s was gone at %v", e.FirstTimestamp, last.Name, gone)
		}
	}
}

const namespacePermission = `
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRole
metadata: {name: taint-manager-namespaces}
rules:
- {apiGroups: [""], resources: [namespaces], verbs: [list, watch]}
---
apiVersion: rbac.authorization.k8s.io/v1
kind: ClusterRoleBinding
metadata: {name: taint-manager-namespaces}
roleRef: {apiGroup: rbac.authorization.k8s.io, kind: ClusterRole, name: taint-manager-namespaces}
subjects: [{kind: ServiceAccount, name: taint-manager, namespace: kube-system}]
`

func (w *world) needsNamespaces(t *testing.T, files *mount, m *testcluster.Manager) {
	s := w.scene(t)
	other := s.pod("other")
	w.kubectl(t, "label", "namespace", "default", "tier=prod")
	byNamespace := policiesFile + "- {name: prod, match: {taints: [{key: tiered}], namespaceSelector: {matchLabels: {tier: prod}}}, method: Hold}\n"
	files.write(t, byNamespace)
	until(s, "an event of the lease says that the file is refused", func() bool { return w.refusedFile(t, "namespaces is forbidden") })
	if ready := w.readyz(t, m); !strings.Contains(ready, "[!]config: the file is refused") || !strings.Contains(ready, "taint-manager would not start with it") {
		t.Errorf("readiness does not mention it:\n%s", ready)
	}
	if !strings.Contains(w.logOf(t, m), "namespaces is forbidden") {
		t.Error("the log does not name the permission")
	}
	if said := w.refused(t, "--config="+files.file()); !strings.Contains(said, "namespaces is forbidden") {
		t.Errorf("a start with the file does not name the permission:\n%s", said)
	}
	s.stays(other, s.taint("quarantine"), 2) // by the old file
	s.goesAround(other, s.taint("quarantine=go"), 0)

	must(t, w.Apply(t.Context(), namespacePermission))
	s.taint()
	held := s.pod("held")
	until(s, "the file is in force", func() bool {
		files.write(t, byNamespace+fmt.Sprintf("# %d\n", files.swaps)) // considered at once
		pause(s, reloadTime)
		return !strings.Contains(w.readyz(t, m), "[!]config")
	})
	s.stays(held, s.taint("tiered"), 4)
	changed := during(t, func() error { w.kubectl(t, "label", "--overwrite", "namespace", "default", "tier=test"); return nil })
	s.goesAround(held, changed, 0)
}

const managedFile = configHead + `
eviction: {method: Ignore}
policies:
- name: maintenance
  match: {taints: [{key: example.com/maintenance, effects: [NoSchedule]}]}
  method: Evict
  deleteAfter: 1h
  tolerations: {absent: 1s, max: 3s, unlimited: 2s}
`

func TestANoScheduleTriggerDrainsBesideTheRunningOriginal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true, WithoutControllerManager: true, AuditLevel: "Metadata"})
	w.launchOriginal(t)
	w.manage(t, "--config="+configFile(t, managedFile))
	s := w.scene(t)
	set := owned("ReplicaSet")
	bare := s.podWith("bare", set)
	counted, unlimited := s.podWith("counted", set, bears(maintenance, 3600)), s.podWith("unlimited", set, exists(""))
	daemon := s.podWith("daemon", owned("DaemonSet"))
	tainted := s.taintNoSchedule(maintenance)
	s.goesAround(bare, tainted, 1)
	s.goesAround(unlimited, tainted, 2)
	s.goesAround(counted, tainted, 3)
	s.stays(daemon, tainted, 5)
	for _, pod := range []*v1.Pod{bare, counted, unlimited} {
		if eviction, deletion := s.asked(pod, tainted); eviction.IsZero() || !deletion.IsZero() {
			t.Errorf("%s: want an eviction by taint-manager and no DELETE: eviction at %v, DELETE at %v", pod.Name, eviction, deletion)
		}
	}

	crashed := s.taint("crashed") // is left to the original
	s.goesAround(daemon, crashed, 0)
	if eviction, deletion := s.asked(daemon, crashed); !eviction.IsZero() || !deletion.IsZero() {
		t.Error("taint-manager evicted a pod for a NoExecute taint; the original does that")
	}
	of, by := w.acceptedDeletions(t)
	if of[daemon.Name] == 0 {
		t.Errorf("the original deleted no pod: %v", by)
	}
}
