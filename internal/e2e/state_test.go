package e2e

import (
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/testcluster"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/journal/store"
)

const (
	leaseFile   = "../../deploy/kustomize/lease.yaml"
	journalFile = "../../deploy/kustomize/journal.yaml"
)

// TestTheLeaseAndTheJournalOutliveTheirManifests installs, upgrades and replaces the objects that the manifests create
// and the program writes.
func TestTheLeaseAndTheJournalOutliveTheirManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	w.kubectl(t, "apply", "-f", installed)
	s := w.scene(t)
	pod := s.pod("p", bears("key", 3600))
	s.taint("key")
	leader, err := w.StartManager(t.Context(), election...)
	if err != nil {
		t.Fatal(err)
	}
	s.until("the taint is recorded", func() bool { return w.state(t).records[s.node] != "" })
	t.Run("with a running leader", func(t *testing.T) { w.reapplied(t, s.node, true) })
	t.Run("missing with a running leader", func(t *testing.T) { w.missing(t, leader, s.node) })
	t.Run("replaced with a running leader", func(t *testing.T) { w.replaced(t, s.node) })
	leader.Kill() // it keeps the lease
	t.Run("without a leader", func(t *testing.T) { w.reapplied(t, s.node, false) })
	t.Run("emptied without a leader", w.emptied)
	if _, gone := w.deletion(t, pod.UID, time.Now()); gone {
		t.Error("a pod went long before its deadline")
	}
	t.Run("uninstalled", w.uninstalled)
}

// state is what the program has written.
type state struct {
	holder      string
	transitions int32
	acquired    time.Time
	records     map[string]string // by node
	labels      map[string]string // the version label of each object
	releases    map[string]string // the release of helm that owns each object
	pruned      []string          // the objects without the annotation for Argo CD
	taken       []string          // the objects whose content another client owns
}

func (w *world) state(t *testing.T) state {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := state{records: map[string]string{}, labels: map[string]string{}, releases: map[string]string{}}
	if lease.Spec.HolderIdentity != nil && lease.Spec.AcquireTime != nil {
		s.holder, s.transitions, s.acquired = *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions, lease.Spec.AcquireTime.Time
	}
	s.note("lease", lease.ObjectMeta)
	for _, name := range store.PartitionNames(journalName) {
		partition, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), name, metav1.GetOptions{})
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(s.records, journal.Entries(partition.Data))
		s.note(name, partition.ObjectMeta)
	}
	return s
}

func (s *state) note(name string, of metav1.ObjectMeta) {
	s.labels[name] = of.Labels["app.kubernetes.io/version"]
	s.releases[name] = of.Annotations["meta.helm.sh/release-name"]
	for _, entry := range of.ManagedFields {
		fields := entry.FieldsV1.GetRawString()
		if entry.Manager != "taint-manager" && (strings.Contains(fields, `"f:spec"`) || strings.Contains(fields, `"f:data"`)) {
			s.taken = append(s.taken, name+" by "+entry.Manager)
		}
	}
	if of.Annotations["argocd.argoproj.io/sync-options"] != "Prune=false" {
		s.pruned = append(s.pruned, name)
	}
}

// check compares with a state before. An elector's times have microseconds, and its record has seconds.
func (s *state) check(t *testing.T, way string, before state, node string) {
	t.Helper()
	if s.holder == "" || s.holder != before.holder || s.transitions != before.transitions || s.acquired.Sub(before.acquired).Abs() > time.Second {
		t.Errorf("%s: the lease was of %q (%d, %v), and is of %q (%d, %v)", way, before.holder, before.transitions, before.acquired, s.holder, s.transitions, s.acquired)
	}
	if s.records[node] == "" || s.records[node] != before.records[node] {
		t.Errorf("%s: the record was %q, and is %q", way, before.records[node], s.records[node])
	}
	if len(s.pruned) > 0 {
		t.Errorf("%s: %v lack the annotation for Argo CD", way, s.pruned)
	}
	if len(s.taken) > 0 {
		t.Errorf("%s: the content is owned: %v", way, s.taken)
	}
}

// reapplied applies the manifests in all ways that merge.
func (w *world) reapplied(t *testing.T, node string, leads bool) {
	before := w.state(t)
	next := relabelled(t, "v7.8.9")
	for _, step := range []struct {
		way     string
		command []string
		version string
	}{
		{"applied twice", []string{"apply", "-f", installed}, "v0.1.0-dev"},
		{"applied with other labels", []string{"apply", "-f", next}, "v7.8.9"},
		{"applied with the old labels", []string{"apply", "-f", installed}, "v0.1.0-dev"},
		{"server-side, with force", []string{"apply", "--server-side", "--force-conflicts", "-f", installed}, "v0.1.0-dev"},
		{"server-side, with other labels", []string{"apply", "--server-side", "--force-conflicts", "-f", next}, "v7.8.9"},
	} {
		w.kubectl(t, step.command...)
		w.kept(t, step.way, before, node, leads)
		w.labelled(t, step.way, step.version)
	}
}

// kept requires that what was just done has changed neither lease nor records, also after the next write of the leader.
func (w *world) kept(t *testing.T, way string, before state, node string, leads bool) {
	t.Helper()
	at := time.Now()
	after := w.state(t)
	after.check(t, way, before, node)
	if leads {
		s := &scene{T: t, world: w}
		s.until("the leader has renewed the lease", func() bool { return w.renewed(t).After(at) })
		after = w.state(t)
		after.check(t, way+", and then renewed", before, node)
	}
}

// renewed returns when the holder of the lease has renewed it, by its clock.
func (w *world) renewed(t *testing.T) time.Time {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if lease.Spec.RenewTime == nil {
		return time.Time{}
	}
	return lease.Spec.RenewTime.Time
}

// labelled requires that the lease and the journal have the labels of this version.
func (w *world) labelled(t *testing.T, way, version string) {
	t.Helper()
	for name, got := range w.state(t).labels {
		if got != version {
			t.Errorf("%s: %s is labelled %q, want %q", way, name, got, version)
		}
	}
}

// relabelled returns a file of the manifests with another version in their labels.
func relabelled(t *testing.T, version string) string {
	t.Helper()
	text, err := os.ReadFile(installed)
	if err != nil {
		t.Fatal(err)
	}
	path := filepath.Join(t.TempDir(), "install.yaml")
	changed := strings.ReplaceAll(string(text), `app.kubernetes.io/version: "v0.1.0-dev"`, fmt.Sprintf("app.kubernetes.io/version: %q", version))
	if err := os.WriteFile(path, []byte(changed), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// replaced empties the objects, as 'kubectl replace' does, or deletes and creates them.
func (w *world) replaced(t *testing.T, node string) {
	before := w.state(t)
	for _, way := range [][]string{{"replace"}, {"replace"}, {"replace", "--force", "--cascade=orphan"}} {
		w.kubectl(t, append(slices.Clone(way), "-f", leaseFile, "-f", journalFile)...)
		w.writtenBack(t, strings.Join(way, " "), before, node)
	}
	if err := w.Kubectl(t.Context(), "apply", "-f", leaseFile, "-f", journalFile).Run(); err != nil { // restores its annotations, and warns
		t.Error(err)
	}
}

// emptied replaces the lease while no leader runs, which a process that starts can't know: it waits for the lease's
// duration.
func (w *world) emptied(t *testing.T) {
	w.kubectl(t, "replace", "-f", leaseFile)
	began := time.Now()
	m, err := w.StartManager(t.Context(), election...)
	if err != nil {
		t.Fatal(err)
	}
	s := &scene{T: t, world: w}
	s.until("it leads", func() bool { return w.state(t).holder != "" })
	if took := time.Since(began); took < 6*time.Second || took > 15*time.Second {
		t.Errorf("it took the lease after %v, want the lease's 6 s and the time to start", took)
	}
	if err := m.Stop(); err != nil {
		t.Error(err)
	}
}

// writtenBack waits until the leader has written its lease and a node's record to the emptied objects.
func (w *world) writtenBack(t *testing.T, way string, before state, node string) {
	t.Helper()
	s := &scene{T: t, world: w}
	var after state
	s.until("the leader has written both back", func() bool {
		after = w.state(t)
		return after.holder != "" && after.records[node] != ""
	})
	after.check(t, way, before, node)
}

// missing deletes the lease and a partition, and creates them by the commands that the program names.
func (w *world) missing(t *testing.T, leader *testcluster.Manager, node string) {
	before := w.state(t)
	partition := store.PartitionNames(journalName)[journal.PartitionOf(node)]
	w.kubectl(t, "-n", "kube-system", "delete", "lease/taint-manager", "configmap/"+partition)
	s := &scene{T: t, world: w}
	var lease, partitions string
	s.until("readiness names both", func() bool {
		_, said := ask(t, w.adminTLS(t), "https://"+leader.Address()+"/readyz?verbose")
		lease, partitions = line(said, "[!]lease: "), line(said, "[!]journal: ")
		return lease != "" && partitions != ""
	})
	metrics := w.managerMetrics(t, leader)
	for _, want := range []string{"taint_manager_lease_missing 1", `taint_manager_journal_problems{kind="missing"} 1`} {
		if !strings.Contains(metrics, want+"\n") {
			t.Errorf("the metrics lack %s", want)
		}
	}
	_, createLease, _ := strings.Cut(lease, "create it with ")
	_, createPartition, _ := strings.Cut(partitions, "create them with '")
	createPartition, _, _ = strings.Cut(createPartition, "'")
	log, err := leader.Log()
	if err != nil || !strings.Contains(log, createLease) || !strings.Contains(log, createPartition) {
		t.Errorf("the log lacks %s or %s: %v", createLease, createPartition, err)
	}
	w.shell(t, createLease)
	w.shell(t, createPartition)
	created := time.Now()
	s.until("both are written", func() bool {
		lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
		return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity == before.holder && w.record(t, partition, node) == before.records[node]
	})
	if took := time.Since(created); took > 5*time.Second {
		t.Errorf("it took %v", took)
	}
	if _, said := ask(t, w.adminTLS(t), "https://"+leader.Address()+"/readyz?verbose"); strings.Contains(said, "[!]") {
		t.Errorf("readiness still says:\n%s", said)
	}
	if err := w.Kubectl(t.Context(), "apply", "-f", journalFile).Run(); err != nil { // restores its annotations, and warns
		t.Error(err)
	}
}

func (w *world) record(t *testing.T, partition, node string) string {
	t.Helper()
	object, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), partition, metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return object.Data[node]
}

// line returns the rest of the line that begins so.
func line(text, prefix string) string {
	for one := range strings.Lines(text) {
		if rest, ok := strings.CutPrefix(one, prefix); ok {
			return strings.TrimSuffix(rest, "\n")
		}
	}
	return ""
}

// shell runs a command in which kubectl is an administrator's.
func (w *world) shell(t *testing.T, command string) {
	t.Helper()
	dir := t.TempDir()
	kubectl := w.Kubectl(t.Context())
	script := "#!/bin/sh\nexec '" + strings.Join(append([]string{kubectl.Path}, kubectl.Args[1:]...), "' '") + "' \"$@\"\n"
	if err := os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700); err != nil {
		t.Fatal(err)
	}
	sh := exec.CommandContext(t.Context(), "sh", "-c", command)
	sh.Env = append(append(os.Environ(), kubectl.Env...), "PATH="+dir+":"+os.Getenv("PATH"))
	if out, err := sh.CombinedOutput(); err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
}

func (w *world) uninstalled(t *testing.T) {
	w.kubectl(t, "delete", "-f", installed)
	w.nothingLeft(t)
}

// nothingLeft requires that the lease and all ConfigMaps are gone.
func (w *world) nothingLeft(t *testing.T) {
	t.Helper()
	if _, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{}); !apierrors.IsNotFound(err) {
		t.Errorf("the lease is left: %v", err)
	}
	left, err := w.admin.CoreV1().ConfigMaps("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager"})
	if err != nil || len(left.Items) > 0 {
		t.Errorf("%d ConfigMaps are left: %v", len(left.Items), err)
	}
}
