package e2e

import (
	"path/filepath"
	"strings"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/testcluster"
)

const selectingNamespaces = `
apiVersion: taint-manager/v1alpha1
kind: TaintManagerConfiguration
policies:
- name: production
  match: {taints: [{key: maintenance}], namespaceSelector: {matchLabels: {tier: prod}}}
  method: Evict
`

// The program is run without any permission, and then without the binding of the role that evicts. What it names is
// run each time, and then nothing is missing.
func TestTheCommandsThatTheProgramNamesGrantWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	w.kubectl(t, "label", "namespace", "default", "tier=prod")
	file := configFile(t, selectingNamespaces)
	launch := func() *testcluster.Manager { return w.launchUnpermitted(t, "--config="+file) }

	refused := launch()
	if err := refused.Wait(20 * time.Second); err == nil {
		t.Fatal("it ends without an error")
	}
	_, commands, found := strings.Cut(w.logOf(t, refused), "and run as it:\n")
	if strings.Count(commands, "kubectl ") != 3 || !found {
		t.Fatalf("want three commands:\n%s", w.logOf(t, refused))
	}
	w.runsCommands(t, commands)

	w.kubectl(t, "delete", "clusterrolebinding", "taint-manager-evictions")
	unbound := launch()
	s := w.scene(t)
	s.until("it says what is missing", func() bool { return strings.Contains(w.logOf(t, unbound), `permission="create pods/eviction"`) })
	if err := unbound.Stop(); err != nil {
		t.Error(err)
	}
	_, commands, _ = strings.Cut(w.logOf(t, unbound), "commands=<\n")
	commands, _, _ = strings.Cut(commands, "\n >")
	w.runsCommands(t, commands)

	granted := launch()
	pod := s.pod("web")
	tainted := s.taint("maintenance")
	s.until("it evicts", func() bool { _, gone := w.deletion(t, pod.UID, tainted.after); return gone })
	if err := granted.Stop(); err != nil {
		t.Error(err)
	}
	if log := w.logOf(t, granted); strings.Contains(log, "permission is missing") {
		t.Errorf("permissions are still missing:\n%s", log)
	}
}

// launchUnpermitted runs the program with the permissions that are there.
func (w *world) launchUnpermitted(t *testing.T, flags ...string) *testcluster.Manager {
	t.Helper()
	kubeconfig, err := w.KubeconfigFor(testcluster.ManagerUser, "system:serviceaccounts", "system:serviceaccounts:kube-system")
	if err != nil {
		t.Fatal(err)
	}
	binary, err := filepath.Abs(filepath.Join("..", "..", "bin", "taint-manager"))
	if err != nil {
		t.Fatal(err)
	}
	m, err := w.LaunchWith(t.Context(), binary, kubeconfig, flags...)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

func (w *world) logOf(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	return log
}

// runsCommands runs commands, one a line, in the repository.
func (w *world) runsCommands(t *testing.T, commands string) {
	t.Helper()
	for command := range strings.Lines(commands) {
		if command = strings.TrimSpace(command); command != "" {
			t.Log(command)
			w.shell(t, "cd ../.. && "+command)
		}
	}
}

// With rbac.create the program creates the lease and the partitions itself. They have the name of the golden file.
func TestWithThePermissionToCreateNothingIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	w.waitForNoPods(t)
	w.kubectl(t, "apply", "-f", "../../release/chart/testdata/create.golden.yaml")
	w.kubectl(t, "-n", "kube-system", "delete", "lease", "evictions")
	w.kubectl(t, "-n", "kube-system", "delete", "configmap", "-l", "app.kubernetes.io/name=taint-manager", "--field-selector=metadata.name!=taint-manager")
	m := w.replica(t, "kube-system")
	w.taintEachPartition(t)
	s := &scene{T: t, world: w}
	s.until("the program has created its lease and eight partitions", func() bool {
		_, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "evictions", metav1.GetOptions{})
		list, listed := w.admin.CoreV1().ConfigMaps("kube-system").List(t.Context(), metav1.ListOptions{})
		partitions := 0
		for i := range list.Items {
			if strings.HasPrefix(list.Items[i].Name, "evictions-journal-") {
				partitions++
			}
		}
		return err == nil && listed == nil && partitions == 8
	})
	if err := m.Stop(); err != nil {
		t.Error(err)
	}
	if log := w.logOf(t, m); strings.Contains(log, "create it with") || strings.Contains(log, "create them with") {
		t.Errorf("it says that something is missing:\n%s", log)
	}
}
