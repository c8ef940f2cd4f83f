package store_test

import (
	"errors"
	"fmt"
	"maps"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
)

// recorded stores a record of the node n that is a minute old.
func (w *world) recorded() {
	w.put("n", map[string]string{"_journal": w.head(-60), "n": w.entry("n", "3", "gpu", -60)})
}

func TestAJournalThatCanNotBeReadIsNotWaitedForLongAndTakenOverLater(t *testing.T) {
	for _, c := range []struct {
		name    string
		err     error
		loaded  float64 // seconds until decisions begin
		trouble string
	}{
		{"forbidden", forbidden, 0, "partitions that can't be read: 8"},
		{"the server fails", broken, 10, "partitions that can't be read: 8"},
		{"the server is overloaded", apierrors.NewTooManyRequests("later", 1), 10, "partitions that can't be read: 8"},
		{"no answer", apierrors.NewTimeoutError("no answer", 1), 10, "partitions that can't be read: 8"},
	} {
		t.Run(c.name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				w.recorded()
				w.taint("n", "gpu")
				w.fault(failing(c.err, "list"))
				p := w.start().lead()
				if took := time.Since(w.born).Seconds(); took != c.loaded {
					t.Errorf("decisions begin after %v s, want %v", took, c.loaded)
				}
				p.knows("without the journal", "n", fmt.Sprintf("gpu@%v", 0))
				p.troubled("without the journal", c.trouble)
				w.pass(200)
				if n := w.stored(); n != 0 {
					t.Errorf("%d writes to what was not read", n)
				}
				w.fault(nil)
				w.pass(240)
				p.knows("with the journal", "n", "gpu@-60")
				p.troubled("with the journal", "")
				if got := strings.Count(p.said(), "A problem of the journal:"); got < 1 || got > 5 {
					t.Errorf("%d lines in the log:\n%s", got, p.said())
				}
			})
		})
	}
}

// If the server never answers, the keeper's goroutines are blocked, but decisions begin.
func TestAJournalThatHangsIsNotWaitedForLong(t *testing.T) {
	inWorld(t, func(w *world) {
		hang := make(chan struct{})
		w.taint("n", "gpu")
		p := w.start(func(o *store.Options) { o.Partitions = silent(hang) }).lead()
		if took := time.Since(w.born); took != 10*time.Second {
			t.Errorf("decisions begin after %v", took)
		}
		p.troubled("without an answer", "partitions that can't be read: 8")
		close(hang)
	})
}

func TestAJournalThatCanNotBeWrittenIsTriedAgainAndSaysSo(t *testing.T) {
	for name, err := range map[string]error{
		"refused": forbidden,
		"failed":  broken,
	} {
		t.Run(name, func(t *testing.T) {
			inWorld(t, func(w *world) {
				registry := prometheus.NewRegistry()
				metrics, _ := store.NewMetrics(registry)
				w.put("n", nil)
				w.fault(failing(err, "create", "update"))
				p := w.start(func(o *store.Options) { o.Metrics = metrics }).lead()
				w.taint("n", "gpu")
				w.pass(1)
				p.troubled("at once", "partitions that can't be written: 8")
				w.pass(600)
				if n := w.storedOf("n"); n < 15 || n > 35 {
					t.Errorf("%d tries of one partition in 10 minutes", n)
				}
				if got := strings.Count(p.said(), "A problem of the journal:"); got < 1 || got > 10 {
					t.Errorf("%d lines in the log:\n%s", got, p.said())
				}
				expectMetric(t, registry, "taint_manager_journal_problems", "unwritten", 8)
				expectMetric(t, registry, "taint_manager_journal_writes_total", name, float64(w.stored()))
				w.fault(nil)
				w.pass(640)
				p.troubled("when it works again", "")
				expectMetric(t, registry, "taint_manager_journal_problems", "unwritten", 0)
				expectMetric(t, registry, "taint_manager_journal_records", "", 1)
				p.kill()
				expectMetric(t, registry, "taint_manager_journal_records", "", 0)
				w.start().knows("after a restart", "n", "gpu@0")
			})
		})
	}
}

func TestAProcessThatEndsTakesItsFiguresBack(t *testing.T) {
	inWorld(t, func(w *world) {
		registry := prometheus.NewRegistry()
		metrics, err := store.NewMetrics(registry)
		if err != nil {
			t.Fatal(err)
		}
		w.fault(failing(forbidden, "list"))
		p := w.start(func(o *store.Options) { o.Metrics = metrics })
		expectMetric(t, registry, "taint_manager_journal_problems", "unread", 8)
		p.kill()
		expectMetric(t, registry, "taint_manager_journal_problems", "unread", 0)
	})
}

// expectMetric checks the value of the one metric with this name and label; an empty label means a metric without
// labels.
func expectMetric(t *testing.T, registry *prometheus.Registry, name, label string, want float64) {
	t.Helper()
	families, err := registry.Gather()
	if err != nil {
		t.Fatal(err)
	}
	for _, family := range families {
		for _, m := range family.GetMetric() {
			labelled := label == ""
			for _, pair := range m.GetLabel() {
				labelled = labelled || pair.GetValue() == label
			}
			if family.GetName() != name || !labelled {
				continue
			}
			if got := m.GetGauge().GetValue() + m.GetCounter().GetValue(); got != want {
				t.Errorf("%s %s is %v, want %v", name, label, got, want)
			}
			return
		}
	}
	t.Errorf("there is no %s with %s", name, label)
}

// A record of the taint stays while the journal cannot be written. If the taint is removed and set again meanwhile, it
// must not count from the recorded time after a restart.
func TestAPartitionThatALeaderCouldNotWriteIsNotBelieved(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(10)
		w.fault(failing(forbidden, "update"))
		w.pass(100)
		w.taint("n")
		w.pass(200)
		w.taint("n", "gpu")
		w.pass(300)
		p.kill()
		p = w.start(func(o *store.Options) { o.LastLed = w.born.Add(300 * time.Second) })
		p.knows("after a restart", "n", "gpu@300")
		p.troubled("after a restart", "partitions that were not written for too long: 1")
		w.fault(nil)
		p.lead()
		w.pass(310)
		p.troubled("once it is written", "")
		p.kill()
		w.start(func(o *store.Options) { o.LastLed = w.born.Add(310 * time.Second) }).knows("after another restart", "n", "gpu@300")
	})
}

func TestAPartitionThatNobodyWasThereToWriteIsBelieved(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(119)
		p.kill()
		w.pass(5000)
		w.start(func(o *store.Options) { o.LastLed = w.born.Add(119 * time.Second) }).knows("after a restart", "n", "gpu@0")
	})
}

func TestAPartitionOfAnUnknownVersionIsNeitherUsedNorOverwritten(t *testing.T) {
	inWorld(t, func(w *world) {
		data := map[string]string{"_journal": `{"version":2,"written":"soon"}`, "n": w.entry("n", "3", "gpu", -60)}
		w.put("n", data)
		w.taint("n", "gpu")
		p := w.start().lead()
		p.knows("at the start", "n", "gpu@0")
		p.troubled("at the start", "partitions that are of an unknown version: 1")
		if said := p.said(); !strings.Contains(said, store.PartitionNames(name)[journal.PartitionOf("n")]) || !strings.Contains(said, "delete it to start with an empty one") {
			t.Errorf("the log says %s", said)
		}
		w.taint("n", "gpu", "disk")
		w.pass(3600)
		if got := w.partition("n").Data; !maps.Equal(got, data) || w.storedOf("n") != 0 {
			t.Errorf("after %d writes it is %v", w.storedOf("n"), got)
		}
		w.deletePartition("n")
		w.pass(3610)
		p.troubled("once it was deleted", "")
		if got := w.partition("n").Data; !strings.Contains(got["n"], "disk") {
			t.Errorf("once it was deleted: %v", got)
		}
	})
}

func (w *world) deletePartition(node string) {
	w.Helper()
	err := w.client.CoreV1().ConfigMaps(namespace).Delete(w.Context(), store.PartitionNames(name)[journal.PartitionOf(node)], metav1.DeleteOptions{})
	if err != nil {
		w.Fatal(err)
	}
}

func TestNonsenseIsDroppedAndNamedAndOverwritten(t *testing.T) {
	// Three nodes of one partition.
	var nodes []string
	for i := 0; len(nodes) < 3; i++ {
		if node := fmt.Sprintf("node-%d", i); journal.PartitionOf(node) == 0 {
			nodes = append(nodes, node)
		}
	}
	inWorld(t, func(w *world) {
		w.put(nodes[0], map[string]string{
			"_journal": w.head(-60),
			nodes[0]:   w.entry(nodes[0], "3", "gpu", -60),
			nodes[1]:   strings.Replace(w.entry(nodes[1], "3", "gpu", -60), "since", "sincé", 1),
			nodes[2]:   w.entry(nodes[2], "3", "gpu", 60), // in the future
			"README":   "do not edit",
		})
		for _, node := range nodes {
			w.taint(node, "gpu")
		}
		w.pass(5)
		p := w.start()
		p.knows("a good record", nodes[0], "gpu@-60")
		p.knows("a bad record", nodes[1], "gpu@5")
		p.knows("a record from the future", nodes[2], "gpu@5")
		p.troubled("standing by", "partitions that have invalid entries: 1")
		for _, want := range []string{nodes[1], "README", "does not say since when"} {
			if said := p.said(); !strings.Contains(said, want) {
				t.Errorf("%q is not in the log:\n%s", want, said)
			}
		}
		p.lead()
		w.pass(7)
		p.troubled("leading", "")
		if data := w.partition(nodes[0]).Data; len(data) != 4 || data["README"] != "" {
			t.Errorf("stored is %v", data)
		}
	})
}

func TestAPartitionThatSaysNothingSensibleAtAllStopsNobody(t *testing.T) {
	for _, data := range []map[string]string{nil, {}, {"_journal": ""}, {"_journal": "{}"}, {"n": ""}, {"": ""}, {"_journal": strings.Repeat("[", 100_000)}} {
		inWorld(t, func(w *world) {
			w.put("n", data)
			w.taint("n", "gpu")
			p := w.start().lead()
			p.knows("at the start", "n", "gpu@0")
			w.pass(10)
			if len(data) == 0 && len(w.partition("n").Data) != 2 {
				t.Errorf("an empty partition was not filled: %v", w.partition("n").Data)
			}
		})
	}
}

func TestAPartitionThatIsOverfullKeepsTheOldestAndSaysSo(t *testing.T) {
	inWorld(t, func(w *world) {
		nodes := newManyNodes(4000)
		p := w.start(nodes.of).lead()
		w.pass(10)
		p.troubled("leading", "partitions that cannot hold all nodes: 1")
		data := w.partition(nodes.nodes[0].Name).Data
		if size := journal.Size(data); size > 900_000 || data[nodes.nodes[0].Name] == "" || data[nodes.nodes[3999].Name] != "" {
			t.Errorf("%d entries of %d bytes; the oldest: %q, the youngest: %q", len(data), size, data[nodes.nodes[0].Name], data[nodes.nodes[3999].Name])
		}
		if said := p.said(); !strings.Contains(said, fmt.Sprintf("%d nodes do not fit", 4001-len(data))) {
			t.Errorf("the log says %s", said)
		}
		p.resign()
		w.pass(20)
		p.troubled("standing by", "")
	})
}

func TestAJournalThatWasDeletedIsWrittenAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.start().lead()
		w.taint("n", "gpu")
		w.pass(5)
		w.deletePartition("n")
		w.pass(8)
		if partition := w.partition("n"); partition == nil || partition.Data["n"] != w.entry("n", "101", "gpu", 0) {
			t.Errorf("got %v", partition)
		}
		p.troubled("afterwards", "")
	})
}

// Whatever a partition contains, the node keeps the same taints, each with a start in the node's lifetime, and the
// program continues.
func TestNoPartitionAddsATaintOrAnEarlierTimeThanTheNodes(t *testing.T) {
	inWorld(t, func(w *world) {
		w.taint("n", "gpu")
		p := w.start()
		w.put("n", map[string]string{"_journal": w.head(0), "n": w.entry("n", latest, "gpu", -1e9)})
		p.knows("a record from before the node", "n", "gpu@-3600")
		w.put("n", map[string]string{"_journal": w.head(0), "n": w.entry("n", latest, v1.TaintNodeNotReady, -60)})
		p.knows("a record of another taint", "n", "gpu@-3600")
		w.put("n", map[string]string{"_journal": w.head(0), "n": strings.Replace(w.entry("n", latest, "gpu", -60), "uid-n", "uid-m", 1)})
		p.knows("a record of another node", "n", "gpu@-3600")
	})
}

func TestAnEnormousErrorIsNotLoggedWhole(t *testing.T) {
	inWorld(t, func(w *world) {
		enormous := apierrors.NewInternalError(errors.New(strings.Repeat("x", 1<<20)))
		w.fault(failing(enormous, "list", "create", "update"))
		p := w.start().lead()
		w.pass(60)
		p.troubled("while it fails", "partitions that can't be read: 8")
		if n := len(p.said()); n == 0 || n > 100<<10 {
			t.Errorf("%d bytes are logged", n)
		}
	})
}
