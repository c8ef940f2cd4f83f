package e2e

import (
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// TestTheLeaseAndTheJournalOutliveTheirManifests installs, upgrades and replaces by kubectl around the objects that the
// program writes.
func TestTheLeaseAndTheJournalOutliveTheirManifests(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	w.kubectl(t, "apply", "-f", installed)
	s := w.scene(t)
	pod := s.pod("p", bears("key", 3600))
	s.taint("key")
	w.taintEachPartition(t, "recorded")
	began := time.Now()
	leader := w.launchUnpermitted(t, election...)
	t.Run("created by the first leader", func(t *testing.T) { w.created(t, began, s.node) })
	t.Run("reapplied with a running leader", func(t *testing.T) { w.reapplied(t, s.node, true) })
	t.Run("deleted with a running leader", func(t *testing.T) { w.deleted(t, s.node) })
	leader.Kill() // it keeps the lease
	t.Run("reapplied without a leader", func(t *testing.T) { w.reapplied(t, s.node, false) })
	t.Run("lost without a leader", func(t *testing.T) { w.lost(t) })
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
	records     map[string]string            // by node
	annotations map[string]map[string]string // of each object
	taken       []string                     // the objects whose content another client owns
}

func (w *world) state(t *testing.T) state {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	s := state{records: map[string]string{}, annotations: map[string]map[string]string{}}
	if lease.Spec.HolderIdentity != nil && lease.Spec.AcquireTime != nil {
		s.holder, s.transitions, s.acquired = *lease.Spec.HolderIdentity, *lease.Spec.LeaseTransitions, lease.Spec.AcquireTime.Time
	}
	s.note("lease", lease.ObjectMeta)
	for _, name := range store.Names(journalName)[:journal.Partitions] {
		partition, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // no node of the partition has been tainted
		}
		if err != nil {
			t.Fatal(err)
		}
		maps.Copy(s.records, journal.Entries(partition.Data))
		s.note(name, partition.ObjectMeta)
	}
	return s
}

func (s *state) note(name string, of metav1.ObjectMeta) {
	s.annotations[name] = of.Annotations
	for _, entry := range of.ManagedFields {
		fields := entry.FieldsV1.GetRawString()
		if entry.Manager != "taint-manager" && (strings.Contains(fields, `"f:spec"`) || strings.Contains(fields, `"f:data"`)) {
			s.taken = append(s.taken, name+" by "+entry.Manager)
		}
	}
}

// check compares with a state before, whose lease may have been lost since.
func (s *state) check(t *testing.T, way string, before state, node string) {
	t.Helper()
	if s.holder == "" || s.holder != before.holder {
		t.Errorf("%s: the lease was of %q, and is of %q", way, before.holder, s.holder)
	}
	if s.records[node] == "" || s.records[node] != before.records[node] {
		t.Errorf("%s: the record was %q, and is %q", way, before.records[node], s.records[node])
	}
	if len(s.taken) > 0 {
		t.Errorf("%s: the content is owned: %v", way, s.taken)
	}
}

// sameTerm requires the holder to have kept its lease. An elector's times have microseconds, and its record has seconds.
func (s *state) sameTerm(t *testing.T, way string, before state) {
	t.Helper()
	if s.transitions != before.transitions || s.acquired.Sub(before.acquired).Abs() > time.Second {
		t.Errorf("%s: the lease was acquired at %v (%d), and is at %v (%d)", way, before.acquired, before.transitions, s.acquired, s.transitions)
	}
}

// isLed reports whether the lease has a holder, which may be absent.
func (w *world) isLed(t *testing.T) bool {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	return err == nil && lease.Spec.HolderIdentity != nil && *lease.Spec.HolderIdentity != ""
}

// created requires the first leader to create the lease at once, as no other can have led, and then the journal.
func (w *world) created(t *testing.T, began time.Time, node string) {
	s := &scene{T: t, world: w}
	s.until("it leads", func() bool { return w.isLed(t) })
	t.Logf("it leads after %v", time.Since(began))
	s.until("the taints of all partitions are recorded", func() bool { return len(w.state(t).annotations) == 9 && w.state(t).records[node] != "" })
	after := w.state(t)
	after.check(t, "created", after, node)
}

// reapplied applies the manifests in all ways that merge.
func (w *world) reapplied(t *testing.T, node string, leads bool) {
	before := w.state(t)
	for _, command := range [][]string{
		{"apply", "-f", installed},
		{"apply", "--server-side", "--force-conflicts", "-f", installed},
	} {
		w.kubectl(t, command...)
		w.kept(t, strings.Join(command, " "), before, node, leads)
	}
}

// kept requires that what was just done has changed neither lease nor records, also after the next write of the leader.
func (w *world) kept(t *testing.T, way string, before state, node string, leads bool) {
	t.Helper()
	at := time.Now()
	after := w.state(t)
	after.check(t, way, before, node)
	after.sameTerm(t, way, before)
	if leads {
		s := &scene{T: t, world: w}
		s.until("the leader has renewed the lease", func() bool { return w.renewed(t).After(at) })
		after = w.state(t)
		after.check(t, way+", and then renewed", before, node)
		after.sameTerm(t, way+", and then renewed", before)
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

// deleted deletes the lease and a partition. The leader creates the lease again at once, and the partition with its next
// write.
func (w *world) deleted(t *testing.T, node string) {
	before := w.state(t)
	partition := store.Names(journalName)[journal.PartitionOf(node)]
	w.kubectl(t, "-n", "kube-system", "delete", "lease/taint-manager", "configmap/"+partition)
	s := &scene{T: t, world: w}
	s.until("the lease exists again", func() bool { return w.isLed(t) })
	w.taintEachPartition(t, "tainted-later")
	w.writtenBack(t, "deleted", before, node)
}

// lost deletes the lease while no leader runs.
func (w *world) lost(t *testing.T) {
	w.kubectl(t, "-n", "kube-system", "delete", "lease", "taint-manager")
	began := time.Now()
	m := w.launchUnpermitted(t) // a lease lasts 15 s
	s := &scene{T: t, world: w}
	s.until("it leads", func() bool { return w.isLed(t) })
	if took := time.Since(began); took > 14*time.Second {
		t.Errorf("it leads after %v, as if it had waited for a lease that does not exist", took)
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

// shell runs a command as script does, which must succeed, and returns its output.
func (w *world) shell(t *testing.T, command string) string {
	t.Helper()
	out, err := w.script(t, command).CombinedOutput()
	if err != nil {
		t.Fatalf("%s: %v\n%s", command, err, out)
	}
	return string(out)
}

// script returns a command that runs at the root of the repository, in which kubectl is an administrator's, as are helm and
// taint-manager.
func (w *world) script(t *testing.T, command string) *exec.Cmd {
	t.Helper()
	dir := t.TempDir()
	kubectl := w.Kubectl(t.Context())
	script := "#!/bin/sh\nexec '" + strings.Join(append([]string{kubectl.Path}, kubectl.Args[1:]...), "' '") + "' \"$@\"\n"
	must(t, os.WriteFile(filepath.Join(dir, "kubectl"), []byte(script), 0o700))
	root, err := filepath.Abs(filepath.Join("..", ".."))
	must(t, err)
	sh := exec.CommandContext(t.Context(), "sh", "-ec", command)
	sh.Dir = root
	sh.Env = append(append(append(os.Environ(), kubectl.Env...), newHelm(t, w).env...), "PATH="+dir+":"+filepath.Join(root, "bin")+":"+os.Getenv("PATH"))
	return sh
}

func (w *world) uninstalled(t *testing.T) {
	w.kubectl(t, "delete", "-f", installed)
	w.state(t) // the lease exists
	w.forgets(t, "kube-system")
	w.nothingLeft(t)
}

// forgets deletes the lease and the journal by the command of docs/install.md.
func (w *world) forgets(t *testing.T, namespace string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	if err != nil {
		t.Fatal(err)
	}
	command := regexp.MustCompile("kubectl -n kube-system delete --ignore-not-found lease/taint-manager[^\n]*").Find(text)
	if command == nil {
		t.Fatal("docs/install.md does not say how to delete the lease and the journal")
	}
	w.shell(t, strings.ReplaceAll(string(command), "kube-system", namespace))
}

// nothingLeft requires that the lease and all ConfigMaps are gone.
func (w *world) nothingLeft(t *testing.T) {
	t.Helper()
	left := w.kubectl(t, "-n", "kube-system", "get", "leases,configmaps", "-o", "name")
	if strings.Contains(left, "taint-manager") {
		t.Errorf("some of these are left:\n%s", left)
	}
}
