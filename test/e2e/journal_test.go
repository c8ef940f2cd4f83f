package e2e

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/clientcmd"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

const journalName = "taint-manager-journal"

func TestTheJournal(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	t.Run("a countdown survives a kill and a restart to the second", func(t *testing.T) { killedAndRestarted(w.scene(t), false) })
	t.Run("so does one of a taint with timeAdded", func(t *testing.T) { killedAndRestarted(w.scene(t), true) })
	t.Run("a partition that another hand has written is not overwritten", w.conflicts)
	t.Run("a partition as full as may be is taken", w.takesAFullPartition)
	t.Run("other ConfigMaps are closed to the program", w.isConfined)
}

// killedAndRestarted kills the leader half way. Of a taint without timeAdded only the journal has the start, and one with a
// timeAdded of long ago would start before it was set.
func killedAndRestarted(s *scene, timed bool) {
	killed := s.leader(s)
	pod := s.pod("p", bears("key", 20))
	tainted := during(s, func() error {
		if timed {
			const patch = `{"spec":{"taints":[{"key":"key","effect":"NoExecute","timeAdded":%q}]}}`
			s.patchNode(fmt.Sprintf(patch, s.created().UTC().Format(time.RFC3339)))
		} else {
			s.taint("key")
		}
		return nil
	})
	pause(s, time.Until(tainted.before.Add(5*time.Second)))
	killed.Kill()
	s.checkRecord(tainted)
	restarted := s.manage(s.T, election...)
	const late = 1500 * time.Millisecond
	at, ended := s.deletion(s, pod.UID, tainted.after.Add(20*time.Second+late))
	if !ended || at.Before(tainted.before.Add(20*time.Second)) {
		s.Fatalf("gone: %v, %v after the taint; want 20 s, and up to %v more", ended, at.Sub(tainted.before), late)
	}
	s.Logf("gone %v after its deadline", at.Sub(tainted.after.Add(20*time.Second)).Round(time.Millisecond))
	if log := s.logOf(s.T, restarted); strings.Contains(log, "The journal has a problem") {
		s.Error(log)
	}
}

// created returns when the scene's node was created, which is the earliest timeAdded that counts.
func (s *scene) created() time.Time {
	s.Helper()
	n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	return n.CreationTimestamp.Time
}

// checkRecord inspects the record of the scene's node as a person would.
func (s *scene) checkRecord(tainted moment) {
	s.Helper()
	partition, err := s.admin.CoreV1().ConfigMaps("kube-system").Get(s.Context(), s.partition(), metav1.GetOptions{})
	must(s, err)
	var record struct {
		Taints [][]struct {
			Key   string
			Since time.Time
		}
	}
	if err := json.Unmarshal([]byte(partition.Data[s.node]), &record); err != nil {
		s.Fatalf("%s in %v: %v", s.node, partition.Data, err)
	}
	if len(record.Taints) != 1 || record.Taints[0][0].Key != "key" {
		s.Fatalf("recorded is %s", partition.Data[s.node])
	}
	if since := record.Taints[0][0].Since; since.Before(tainted.before) || since.After(tainted.after.Add(soon)) {
		s.Errorf("recorded is since %v; the taint was set between %v and %v", since, tainted.before, tainted.after)
	}
}

// asManager returns a client with the program's permissions.
func (w *world) asManager(t *testing.T) kubernetes.Interface {
	t.Helper()
	must(t, w.Permit(t.Context()))
	path, err := w.ManagerKubeconfig()
	must(t, err)
	config, err := clientcmd.BuildConfigFromFlags("", path)
	must(t, err)
	client, err := kubernetes.NewForConfig(config)
	must(t, err)
	return client
}

func (w *world) conflicts(t *testing.T) {
	partitions := store.NewConfigMaps(w.asManager(t), "kube-system", journalName)
	name := store.Names(journalName)[0]
	partition, err := w.admin.CoreV1().ConfigMaps("kube-system").Get(t.Context(), name, metav1.GetOptions{})
	version := ""
	if err == nil {
		version = partition.ResourceVersion
	}
	data := map[string]string{"_journal": "1"}
	version, err = partitions.Write(t.Context(), 0, journal.StoredPartition{Version: version, Data: data})
	must(t, err)
	data = map[string]string{"_journal": "2"}
	if _, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Version: version, Data: data}); err != nil {
		t.Error(err)
	}
	if _, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Version: version, Data: data}); !apierrors.IsConflict(err) {
		t.Errorf("with a version that is past: %v", err)
	}
	if _, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Data: data}); !apierrors.IsAlreadyExists(err) {
		t.Errorf("without a version: %v", err)
	}
}

// takesAFullPartition writes short records of nodes with the longest names: the API server also stores a list of the
// keys.
func (w *world) takesAFullPartition(t *testing.T) {
	records := map[string]journal.Record{}
	gpu := v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute}
	var data map[string]string
	for i := 0; ; i++ {
		if i%50 == 0 {
			next, _ := journal.Encode(journal.Partition{Records: records, Heartbeat: journal.Heartbeat{Written: time.Now()}})
			if len(next) < i { // it is compressed
				break
			}
			data = next
		}
		node := fmt.Sprintf("%0250d", i)
		state := journal.TaintState{Start: time.Now()}
		state.Taint = gpu
		records[node] = journal.Record{UID: types.UID(node[:36]), Taints: [][]journal.TaintState{{state}}}
	}
	if journal.Size(data) < 850_000 {
		t.Fatalf("the partition has %d bytes", journal.Size(data))
	}
	partitions := store.NewConfigMaps(w.asManager(t), "default", "full")
	if _, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Data: data}); !apierrors.IsForbidden(err) {
		t.Errorf("in another namespace: %v", err)
	}
	partitions = store.NewConfigMaps(w.admin, "default", "full")
	version, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Data: data})
	must(t, err)
	if _, err := partitions.Write(t.Context(), 0, journal.StoredPartition{Version: version, Data: data}); err != nil {
		t.Error(err)
	}
	t.Logf("%d records, %d bytes", len(data)-1, journal.Size(data))
}

func (w *world) isConfined(t *testing.T) {
	maps := w.asManager(t).CoreV1().ConfigMaps("kube-system")
	if _, err := maps.List(t.Context(), metav1.ListOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("listing all: %v", err)
	}
	if _, err := maps.Get(t.Context(), "kube-root-ca.crt", metav1.GetOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("reading another: %v", err)
	}
	// A Role can't permit to create some names only; see SECURITY.md.
	other, err := maps.Create(t.Context(), &v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "other"}}, metav1.CreateOptions{})
	if err != nil {
		t.Errorf("creating one: %v", err)
	}
	if _, err := maps.Update(t.Context(), other, metav1.UpdateOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("changing another: %v", err)
	}
	if err := maps.Delete(t.Context(), store.Names(journalName)[0], metav1.DeleteOptions{}); !apierrors.IsForbidden(err) {
		t.Errorf("deleting a partition: %v", err)
	}
}
