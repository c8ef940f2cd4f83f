package e2e

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// TestTaintsWithoutTimeAdded is about what else tells when they were set: the journal, and managedFields.
func TestTaintsWithoutTimeAdded(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	t.Run("one that is set again while the API server restarts counts from then", func(t *testing.T) { setAgain(w.scene(t)) })
	t.Run("a deleted partition is written by the next change", func(t *testing.T) { partitionIsDeleted(w.scene(t)) })
	t.Run("a partition that is emptied while nobody runs restarts its countdowns", func(t *testing.T) { partitionIsEmptied(w.scene(t)) })
	t.Run("managedFields of kubectl apply are too early, and no pod goes early", func(t *testing.T) { appliedTwice(w.scene(t)) })
	t.Run("managedFields of a saved node are too early, and no pod goes early", func(t *testing.T) { putBack(w.scene(t)) })
	t.Run("managedFields do not show what admission adds, and no pod goes early", func(t *testing.T) { addedByAdmission(w.scene(t)) })
}

// ended ends a manager, which gives its lease back.
func (s *scene) ended(m *testcluster.Manager) {
	s.Helper()
	must(s, m.Stop())
}

func setAgain(s *scene) {
	m, server := s.leader(s), s.Component(testcluster.APIServer)
	defer s.ended(m)
	pod := s.pod("p", bears("key", 20))
	s.taint("key")
	pause(s, 4*time.Second)
	if err := m.Pause(); err != nil { // it can't watch while the taint is set again
		s.Fatal(err)
	}
	server.Kill()
	must(s, server.Start(s.Context()))
	s.taint()
	again := s.taint("key")
	must(s, m.Resume())
	s.goesWithin(4*time.Second, pod, again, 20)
}

func partitionIsDeleted(s *scene) {
	m := s.leader(s)
	pod := s.pod("p", bears("key", 20), exists("other"))
	tainted := s.taint("key")
	s.untilRecorded("key")
	must(s, s.admin.CoreV1().ConfigMaps("kube-system").Delete(s.Context(), s.partition(), metav1.DeleteOptions{}))
	s.taint("key", "other")
	s.untilRecorded("key", "other")
	m.Kill()
	defer s.ended(s.leader(s))
	s.goesWithin(4*time.Second, pod, tainted, 20)
}

func partitionIsEmptied(s *scene) {
	m := s.leader(s)
	pod := s.pod("p", bears("key", 15))
	s.taint("key")
	s.untilRecorded("key")
	s.ended(m)
	var next *testcluster.Manager
	emptied := during(s, func() error {
		s.kubectl(s.T, "-n", "kube-system", "patch", "configmap", s.partition(), "--type=merge", "-p", `{"data":null}`)
		next = s.leader(s)
		return nil
	})
	defer s.ended(next)
	s.goesWithin(4*time.Second, pod, emptied, 15)
}

// written returns when the list of taints was written according to managedFields.
func (s *scene) written() time.Time {
	s.Helper()
	n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	if entry := journal.TaintsWritten(n.ManagedFields); entry != nil {
		return entry.Time.Time
	}
	s.Fatalf("no entry has the taints: %v", n.ManagedFields)
	return time.Time{}
}

// countsFromTheStart starts the first manager that sees the node, whose managedFields claim to be older than the taint.
func (s *scene) countsFromTheStart(pod *v1.Pod, tainted moment) {
	s.Helper()
	if at := s.written(); at.After(tainted.before.Add(-2 * time.Second)) {
		s.Errorf("the taints were written at %v, and set at %v: this is not too early", at, tainted.before)
	}
	var m *testcluster.Manager
	began := during(s, func() error { m = s.leader(s); return nil })
	defer s.ended(m)
	s.goesWithin(4*time.Second, pod, began, 5)
}

// appliedTwice lets kubectl migrate field managers: the entry of the first apply gets the taints of the second one.
func appliedTwice(s *scene) {
	pod := s.pod("p", bears("key", 5))
	apply := func(spec string, args ...string) {
		file := filepath.Join(s.TempDir(), "node.yaml")
		text := fmt.Sprintf("apiVersion: v1\nkind: Node\nmetadata: {name: %s, labels: {applied: 'yes'}}\n%s\n", s.node, spec)
		must(s, os.WriteFile(file, []byte(text), 0o600))
		if out, err := s.Kubectl(s.Context(), append([]string{"apply", "-f", file}, args...)...).CombinedOutput(); err != nil {
			s.Fatalf("%v\n%s", err, out)
		}
	}
	const taints = "spec: {taints: [{key: key, effect: NoExecute}]}"
	apply("", "--server-side", "--force-conflicts")
	pause(s, 4*time.Second)
	tainted := moment{before: time.Now()}
	apply(taints)
	apply(taints, "--server-side", "--force-conflicts")
	tainted.after = time.Now()
	s.countsFromTheStart(pod, tainted)
}

// putBack lifts a taint, sets it again, and puts the node of before, which changes no taint.
func putBack(s *scene) {
	pod := s.pod("p", bears("key", 5))
	s.taint("key")
	pause(s, 4*time.Second) // meanwhile the node gets what controllers add to it
	saved, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	s.taint()
	tainted := s.taint("key")
	until(s, "the saved node is put", func() bool {
		now, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
		if err != nil {
			return false
		}
		put := saved.DeepCopy()
		put.ResourceVersion = now.ResourceVersion
		_, err = s.admin.CoreV1().Nodes().Update(s.Context(), put, metav1.UpdateOptions{})
		return err == nil
	})
	s.countsFromTheStart(pod, tainted)
}

// mutation adds the taint key to a node that has a label.
const mutation = `
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicy
metadata: {name: %[1]s}
spec:
  failurePolicy: Fail
  reinvocationPolicy: Never
  matchConstraints:
    resourceRules: [{apiGroups: [""], apiVersions: [v1], operations: [UPDATE], resources: [nodes]}]
  matchConditions:
  - {name: labeled, expression: "object.metadata.name == '%[1]s' && 'labeled' in object.metadata.labels"}
  - {name: untainted, expression: "!object.spec.taints.exists(t, t.key == 'key')"}
  mutations:
  - patchType: JSONPatch
    jsonPatch:
      expression: '[JSONPatch{op: "add", path: "/spec/taints/-", value: Object.spec.taints{key: "key", effect: "NoExecute"}}]'
---
apiVersion: admissionregistration.k8s.io/v1
kind: MutatingAdmissionPolicyBinding
metadata: {name: %[1]s}
spec: {policyName: %[1]s}
`

// addedByAdmission has admission add a taint to a list that another manager wrote before, while a label is written.
func addedByAdmission(s *scene) {
	s.since(s.T, 36, "MutatingAdmissionPolicy")
	pod := s.pod("p", bears("key", 5), exists("other"))
	s.taint("other")
	pause(s, 4*time.Second)
	must(s, s.Apply(s.Context(), fmt.Sprintf(mutation, s.node)))
	var tainted moment
	until(s, "the policy is in force", func() bool {
		tainted.before = time.Now()
		patch := fmt.Appendf(nil, `{"metadata":{"labels":{"labeled":"%d"}}}`, tainted.before.UnixNano())
		n, err := s.admin.CoreV1().Nodes().Patch(s.Context(), s.node, types.MergePatchType, patch, metav1.PatchOptions{FieldManager: "labels"})
		tainted.after = time.Now()
		return err == nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == "key" })
	})
	s.countsFromTheStart(pod, tainted)
}
