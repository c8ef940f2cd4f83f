package e2e

import (
	"bytes"
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

const (
	// drainPolicy evicts because of a NoSchedule taint, as docs/examples/policies/drain.yaml does, and holdPolicy holds.
	drainPolicy = configHead + `policies:
- name: maintenance
  match: {taints: [{key: example.com/maintenance, effects: [NoSchedule]}], ownerKinds: [None]}
  method: Delete
  tolerations: {absent: 4s}
`
	holdPolicy = configHead + `policies:
- name: quarantine
  match: {taints: [{key: key, effects: [NoExecute]}]}
  method: Hold
`
)

func TestForesightByTheConfigurationInForce(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	must(t, w.Permit(t.Context()))
	t.Run("no manager has ever run", func(t *testing.T) { noManagerEverRan(w.scene(t)) })
	files := &mount{dir: t.TempDir()}
	files.write(t, drainPolicy)
	m, err := w.StartManager(t.Context(), append([]string{"--config=" + filepath.Join(files.dir, "config.yaml")}, election...)...)
	must(t, err)
	t.Cleanup(func() { _ = m.Stop() })
	t.Run("pending lists what a policy evicts, and a wait ends when that is gone", func(t *testing.T) { drainsByPolicy(w.scene(t)) })
	t.Run("what may not be read, or a dump lacks, is no all-clear", func(t *testing.T) { lacksThePolicies(w.scene(t)) })
	w.inForce(t, m, files, holdPolicy)
	t.Run("pending says which policy holds", func(t *testing.T) { saysWhichPolicyHolds(w.scene(t)) })
	w.inForce(t, m, files, configHead)
	t.Run("a reload during a wait", func(t *testing.T) {
		reloadsDuringAWait(w.scene(t), func() { w.inForce(t, m, files, drainPolicy) })
	})
	t.Run("a journal that can't be written", func(t *testing.T) { canNotWriteTheJournal(w.scene(t)) })
	if err := m.Stop(); err != nil {
		t.Error(err)
	}
	t.Run("no manager runs any longer", func(t *testing.T) { noManagerRuns(w.scene(t)) })
}

// tells requires an exit code, and these words.
func (s *scene) tells(code int, words string, kubeconfig string, args ...string) string {
	s.Helper()
	got, stdout, stderr := s.run(kubeconfig, args...)
	said := stdout + stderr
	if got != code || !strings.Contains(said, words) {
		s.Errorf("%s: exit code %d, want %d and %q:\n%s", strings.Join(args, " "), got, code, words, said)
	}
	return said
}

const byTheManager = ", under the policies of the running manager."

// noManagerEverRan has neither a Lease nor a journal, so the default rules count.
func noManagerEverRan(s *scene) {
	pod := s.pod("p", bears("key", 300))
	pause(s, wholeSecond)
	s.taint("key")
	if said := s.tells(0, pod.Name, s.Kubeconfig(), "pending", "-A", "--node", s.node); strings.Contains(said, "under the policies of") {
		s.Errorf("there is no manager, and yet:\n%s", said)
	}
	s.taint()
}

func drainsByPolicy(s *scene) {
	admin := s.Kubeconfig()
	linger := func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(5)) }
	pods := []*v1.Pod{s.podWith("a", linger), s.podWith("b", linger)}
	pause(s, wholeSecond)
	s.taintNoSchedule(maintenance)
	said := s.tells(0, byTheManager, admin, "pending", "-A")
	s.tells(0, byTheManager, admin, "plan", "--node", s.node, "--taint", "example.com/maintenance-")
	s.tells(0, byTheManager, admin, "explain", "default/"+pods[0].Name)
	for _, pod := range pods {
		if !strings.Contains(said, pod.Name) {
			s.Errorf("%s is not pending:\n%s", pod.Name, said)
		}
	}
	s.tells(0, "All evictions are complete on "+s.node, admin, "pending", "--node", s.node, "--wait", "--timeout", "2m")
	for _, pod := range pods {
		if _, err := s.admin.CoreV1().Pods("default").Get(s.Context(), pod.Name, metav1.GetOptions{}); err == nil {
			s.Errorf("%s is there after the wait", pod.Name)
		}
	}
}

func lacksThePolicies(s *scene) {
	s.pod("p", bears("key", 300))
	admin, next := s.Kubeconfig(), "so the policies in use are unknown; set --config, or --config=none for the default rules"
	noJournal := s.reader("no-state", mayRead("pods", "nodes"), rbacv1.PolicyRule{
		APIGroups: []string{"coordination.k8s.io"}, Resources: []string{"leases"}, Verbs: []string{"get"},
	})
	forbidden := "this user may not get ConfigMaps taint-manager-journal-* in namespace kube-system ('kubectl -n kube-system " +
		"create rolebinding taint-manager-viewer --role=taint-manager-viewer --user=USER' grants it), " + next
	s.tells(1, forbidden, noJournal, "pending", "-A")
	s.tells(1, forbidden, noJournal, "pending", "-A", "--exit-code")
	s.tells(2, "", noJournal, "pending", "--node", s.node, "--wait", "--timeout", "15s")
	s.shell(s.T, commands(s.T, "dumps.md", "In a cluster")[0])
	viewer, err := s.KubeconfigFor("policy-viewer", "GROUP")
	must(s.T, err)
	s.tells(0, byTheManager, viewer, "pending", "-A")
	if said := s.tells(0, "", noJournal, "pending", "-A", "--config", "none"); strings.Contains(said, "running manager") {
		s.Errorf("a file is given, and yet:\n%s", said)
	}

	dump := filepath.Join(s.TempDir(), "cluster.json")
	lines := strings.Split(commands(s.T, "dumps.md", "In a dump")[0], "\n")
	write := func(line string) { // kubectl fails for the pages of the journal that do not exist
		s.shell(s.T, "cd '"+filepath.Dir(dump)+"'; bash -c '"+line+"' || true")
	}
	write(lines[0])
	lacks := dump + " has no ConfigMap kube-system/taint-manager-journal-state, " + next
	s.tells(1, lacks, admin, "pending", "-f", dump)
	s.tells(1, lacks, admin, "plan", "-f", dump, "--node", s.node, "--taint", "key:NoExecute")
	write(lines[1])
	s.tells(0, byTheManager, admin, "pending", "-f", dump)
	s.tells(0, byTheManager, admin, "plan", "-f", dump, "--node", s.node, "--taint", "example.com/maintenance:NoSchedule")
}

func saysWhichPolicyHolds(s *scene) {
	pod := s.pod("p")
	pause(s, wholeSecond)
	s.taint("key")
	said := s.tells(0, byTheManager, s.Kubeconfig(), "pending", "-A", "--node", s.node)
	if !strings.Contains(said, pod.Name) || !strings.Contains(said, "held by policy quarantine") {
		s.Errorf("got\n%s", said)
	}
	s.tells(0, "held by policy quarantine", s.Kubeconfig(), "explain", "default/"+pod.Name)
	s.taint()
}

// reloadsDuringAWait has a node with a taint that no policy names, until the file changes.
func reloadsDuringAWait(s *scene, reload func()) {
	pod := s.pod("p")
	pause(s, wholeSecond)
	s.taintNoSchedule(maintenance)
	ctx, cancel := context.WithTimeout(s.Context(), 2*time.Minute)
	defer cancel()
	waiting := exec.CommandContext(ctx, s.binary(s.T), "pending", "--node", s.node, "--wait")
	waiting.Env = append(os.Environ(), "KUBECONFIG="+s.Kubeconfig())
	var said bytes.Buffer
	waiting.Stdout, waiting.Stderr = &said, &said
	must(s.T, waiting.Start())
	pause(s, 6*time.Second)
	reload()
	err := waiting.Wait()
	ended := time.Now()
	if gone, is := s.deletion(s, pod.UID, ended); err != nil || !is || ended.Before(gone) {
		s.Errorf("the wait has ended (%v) while the pod was there: %s", err, said.String())
	}
}

// canNotWriteTheJournal takes the permission to write ConfigMaps from the manager.
func canNotWriteTheJournal(s *scene) {
	roles := s.admin.RbacV1().Roles("kube-system")
	role, err := roles.Get(s.Context(), "taint-manager", metav1.GetOptions{})
	must(s.T, err)
	for i := range role.Rules {
		if slices.Contains(role.Rules[i].Resources, "configmaps") {
			role.Rules[i].Verbs = []string{"get"}
		}
	}
	_, err = roles.Update(s.Context(), role, metav1.UpdateOptions{})
	must(s.T, err)
	pause(s, 65*time.Second)
	s.tells(1, "the manager can't write its journal, which was last written at", s.Kubeconfig(), "pending", "-A")
	s.tells(2, "the manager can't write its journal", s.Kubeconfig(), "pending", "--node", s.node, "--wait", "--timeout", "15s")
}

func noManagerRuns(s *scene) {
	pause(s, 65*time.Second)
	s.tells(0, "under the policies of a manager that no longer runs (its journal was last written at", s.Kubeconfig(), "pending", "-A", "--node", s.node)
	s.tells(1, "no manager is running", s.Kubeconfig(), "pending", "--node", s.node, "--wait", "--timeout", "30s")
}
