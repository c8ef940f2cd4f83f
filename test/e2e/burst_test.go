package e2e

import (
	"strings"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// bare returns the options of a control plane of API server and etcd alone, with an audit log.
func bare() testcluster.Options {
	return testcluster.Options{
		WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true, AuditLevel: "Metadata",
	}
}

// These measure, and each needs the API server for itself.
func TestManyPodsAtOnce(t *testing.T) {
	w := newWorld(t, bare())
	t.Run("50 nodes with 20 pods each: all gone, none twice, no other", w.burst)
	t.Run("dry run: nothing written, every decision logged", w.dryRun)
}

func (w *world) burst(t *testing.T) {
	c := newPodLoad(t, w.admin, "burst", 50, 20)
	others := newPodLoad(t, w.admin, "bystander", 3, 5)
	w.manage(t)
	began := time.Now()
	c.taint(t, true)
	last := c.gone(t, w.deletions, 0)
	gets := nodeReads(t, w.AuditLog(), began)
	t.Logf("%d pods gone in %.1f s, with %d GETs of nodes", len(c.Pods), last.Sub(began).Seconds(), gets)
	// PATCH and DELETE rest on the same GET. A node is read for its first pod and ahead of its turn, 100 GETs in all; the
	// first and the last calls, of which few are in flight, read it for themselves.
	if most := len(c.Pods) / 4; gets > most {
		t.Errorf("%d GETs of nodes, want at most %d", gets, most)
	}

	c.wantEvents(t, last)
	c.deletedOnce(t, w.AuditLog(), began)
	for _, pod := range others.Pods {
		if _, ended := w.deletion(t, pod.UID, time.Now()); ended {
			t.Errorf("%s is gone; its node has no taint", pod.Name)
		}
	}
}

// wantEvents requires an event for every pod within 30 s after the last deletion.
func (pl *podLoad) wantEvents(t *testing.T, last time.Time) {
	t.Helper()
	within(t, time.Until(last.Add(30*time.Second)), "all events are stored", func() bool {
		n, err := pl.Described(t.Context())
		must(t, err)
		return n == len(pl.Pods)
	})
	t.Logf("all events are stored %.1f s after the last deletion", time.Since(last).Seconds())
}

func (w *world) dryRun(t *testing.T) {
	c := newPodLoad(t, w.admin, "dry", 5, 10)
	began := time.Now()
	m := w.manage(t, "--dry-run")
	c.taint(t, true)
	pause(t, 2*time.Second) // for what a real manager may write

	log := w.logOf(t, m)
	for _, pod := range c.Pods {
		if n := strings.Count(log, `"default/`+pod.Name+`"`); n != 1 {
			t.Errorf("%s is named %d times in the log, want once", pod.Name, n)
		}
	}
	for _, r := range writes(t, w.AuditLog(), began) {
		if r.ObjectRef.Resource == "pods" || r.ObjectRef.Resource == "events" {
			t.Errorf("a dry run wrote: %s %s %s", r.Verb, r.ObjectRef.Resource, r.ObjectRef.Name)
		}
	}
	c.taint(t, false)
}
