package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

const selectingNamespaces = configHead + `
policies:
- name: production
  match: {taints: [{key: maintenance}], namespaceSelector: {matchLabels: {tier: prod}}}
  method: Evict
`

// The program runs without any permission. It names what is forbidden, and what it and docs/install.md say grants it.
func TestTheCommandsThatTheProgramAndTheDocumentsNameGrantWhatIsMissing(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	w.kubectl(t, "label", "namespace", "default", "tier=prod")
	file := configFile(t, selectingNamespaces)
	launch := func() *testcluster.Manager { return w.launchUnpermitted(t, "--config="+file) }

	refused := launch()
	if err := refused.Wait(20 * time.Second); err == nil {
		t.Fatal("it ends without an error")
	}
	const next = "kubectl apply -f deploy/rbac.yaml"
	for _, want := range []string{"nodes is forbidden", "pods is forbidden", "namespaces is forbidden", next} {
		if log := w.logOf(t, refused); !strings.Contains(log, want) {
			t.Errorf("it does not say %q:\n%s", want, log)
		}
	}
	w.shell(t, next)
	w.shell(t, commands(t, "install.md", "Permissions")[0])

	granted := launch()
	s := w.scene(t)
	pod := s.pod("web")
	tainted := s.taint("maintenance")
	until(s, "it evicts", func() bool { _, gone := w.deletion(t, pod.UID, tainted.after); return gone })
	if err := granted.Stop(); err != nil {
		t.Error(err)
	}
	if log := w.logOf(t, granted); strings.Contains(log, "is forbidden") {
		t.Errorf("permissions are still missing:\n%s", log)
	}
}

// launchUnpermitted runs the program with the permissions that are there.
func (w *world) launchUnpermitted(t *testing.T, flags ...string) *testcluster.Manager {
	t.Helper()
	kubeconfig, err := w.ManagerKubeconfig()
	must(t, err)
	m, err := w.Launch(t.Context(), w.binary(t), kubeconfig, flags...)
	must(t, err)
	return m
}

func (w *world) logOf(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	log, err := m.Log()
	must(t, err)
	return log
}

func TestWithoutThePermissionToCreateTheLeaseItSaysSoAndLeadsOnceItIsGranted(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{WithoutScheduler: true})
	w.waitForNoPods(t)
	w.kubectl(t, "apply", "-f", installed)
	w.kubectl(t, "-n", "kube-system", "patch", "role", "taint-manager", "--type=json", `-p=[{"op":"remove","path":"/rules/1"}]`)
	m := w.launchUnpermitted(t, election...)
	var said string
	until(t, "it serves", func() bool { return strings.Contains(w.logOf(t, m), "The page is served") })
	until(t, "the remarks say what is missing", func() bool {
		said = w.remarks(t, m)
		return strings.Contains(w.readyz(t, m), "[!]lease: can't be read or written") && strings.Contains(said, "[!]lease: the Lease kube-system/taint-manager: ") && strings.Contains(said, `cannot create resource "leases"`)
	})
	if log := w.logOf(t, m); !strings.Contains(log, `cannot create resource \"leases\"`) {
		t.Errorf("the log does not name the permission:\n%s", log)
	}
	w.kubectl(t, "apply", "-f", installed)
	w.waitForHolder(t)
	if said = w.readyz(t, m); strings.Contains(said, "[!]lease") {
		t.Errorf("readiness still says:\n%s", said)
	}
	if err := m.Stop(); err != nil {
		t.Error(err)
	}
}
