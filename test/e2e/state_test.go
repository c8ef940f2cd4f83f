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

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// lease returns the lease of a namespace, which is empty if there is none.
func (w *world) lease(t testing.TB, namespace string) *coordinationv1.Lease {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases(namespace).Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil && !apierrors.IsNotFound(err) {
		t.Fatal(err)
	}
	return lease
}

// holder returns who holds a lease; empty if nobody does.
func holder(lease *coordinationv1.Lease) string {
	if lease.Spec.HolderIdentity == nil {
		return ""
	}
	return *lease.Spec.HolderIdentity
}

// waitForHolder waits until the lease is held, and returns by whom.
func (w *world) waitForHolder(t testing.TB) (identity string) {
	t.Helper()
	until(t, "the lease is held", func() bool {
		identity = holder(w.lease(t, "kube-system"))
		return identity != ""
	})
	return identity
}

// leader starts a manager, and waits until it leads.
func (w *world) leader(t testing.TB) *testcluster.Manager {
	t.Helper()
	m, err := w.StartManager(t.Context(), election...)
	must(t, err)
	w.waitForHolder(t)
	return m
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
	lease := w.lease(t, "kube-system")
	s := state{holder: holder(lease), records: map[string]string{}, annotations: map[string]map[string]string{}}
	if s.holder != "" {
		s.transitions, s.acquired = *lease.Spec.LeaseTransitions, lease.Spec.AcquireTime.Time
	}
	s.note("lease", lease.ObjectMeta)
	for _, name := range store.Names(journalName)[:journal.Partitions] {
		partition, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), name, metav1.GetOptions{})
		if apierrors.IsNotFound(err) {
			continue // no node of the partition has been tainted
		}
		must(t, err)
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

// kept requires that what was just done has changed neither lease nor records, also after the next write of the leader.
func (w *world) kept(t *testing.T, way string, before state, node string, leads bool) {
	t.Helper()
	began := time.Now()
	after := w.state(t)
	after.check(t, way, before, node)
	after.sameTerm(t, way, before)
	if leads {
		until(t, "the leader has renewed the lease", func() bool {
			at := w.lease(t, "kube-system").Spec.RenewTime
			return at != nil && at.After(began)
		})
		after = w.state(t)
		after.check(t, way+", and then renewed", before, node)
		after.sameTerm(t, way+", and then renewed", before)
	}
}

// writtenBack waits until the leader has written its lease and a node's record to the emptied objects.
func (w *world) writtenBack(t *testing.T, way string, before state, node string) {
	t.Helper()
	var after state
	until(t, "the leader has written both back", func() bool {
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

// forgets deletes the lease and the journal by the command of docs/install.md.
func (w *world) forgets(t *testing.T, namespace string) {
	t.Helper()
	text, err := os.ReadFile("../../docs/install.md")
	must(t, err)
	command := regexp.MustCompile("kubectl -n kube-system delete --ignore-not-found lease/taint-manager[^\n]*").Find(text)
	if command == nil {
		t.Fatal("docs/install.md does not say how to delete the lease and the journal")
	}
	w.shell(t, strings.ReplaceAll(string(command), "kube-system", namespace))
}
