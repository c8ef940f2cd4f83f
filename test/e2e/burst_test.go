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
	t.Run("a taint lifted in the middle: no eviction starts once that is seen", w.liftedInTheMiddle)
	t.Run("dry run: nothing written, every decision logged", w.dryRun)
	t.Run("at most so many a second, when told so", w.limited)
}

func (w *world) burst(t *testing.T) {
	c := newPodLoad(t, w.admin, "burst", 50, 20)
	others := newPodLoad(t, w.admin, "bystander", 3, 5)
	w.manage(t)
	began := time.Now()
	c.taint(t, true)
	last := c.gone(t, w.deletions, 0)
	gets := nodeReads(t, w.AuditLog(), began)
	t.Logf("%d pods gone in %.1f s, with %d GETs of nodes", len(c.pods), last.Sub(began).Seconds(), gets)
	// PATCH and DELETE rest on the same GET, one for each node in five seconds, except for the first and last
	// calls.
	if most := len(c.nodes)*(1+int(last.Sub(began)/(5*time.Second))) + 50; gets > most {
		t.Errorf("%d GETs of nodes, want at most %d", gets, most)
	}

	w.wantEvents(t, c, last)
	awaitDeletions(t, w.AuditLog(), c.podNames()...)
	deleted := map[string]int{}
	for _, r := range ofPods(writes(t, w.AuditLog(), began)) {
		if !strings.HasPrefix(r.ObjectRef.Name, c.name+"-") {
			t.Errorf("%s %s %s: no pod of a tainted node", r.Verb, r.ObjectRef.Name, r.ObjectRef.Subresource)
		}
		if r.Verb == "delete" { // whatever the answer: a second one gets "not found"
			deleted[r.ObjectRef.Name]++
		}
	}
	for _, pod := range c.pods {
		if deleted[pod.Name] != 1 {
			t.Errorf("%s was deleted %d times", pod.Name, deleted[pod.Name])
		}
	}
	for _, pod := range others.pods {
		if _, ended := w.deletion(t, pod.UID, time.Now()); ended {
			t.Errorf("%s is gone; its node has no taint", pod.Name)
		}
	}
}

// wantEvents requires an event for every pod within 30 s after the last deletion.
func (w *world) wantEvents(t testing.TB, c *podLoad, last time.Time) {
	t.Helper()
	for {
		n := c.events(t)
		if n == len(c.pods) {
			t.Logf("all %d events are stored %.1f s after the last deletion", n, time.Since(last).Seconds())
			return
		}
		if time.Since(last) > 30*time.Second {
			t.Fatalf("30 s after the last deletion %d of %d events are stored", n, len(c.pods))
		}
		<-time.After(200 * time.Millisecond) //nolint:forbidigo // for events in a real API server
	}
}

func (w *world) liftedInTheMiddle(t *testing.T) {
	c := newPodLoad(t, w.admin, "lifted", 40, 30)
	w.manage(t)
	c.taint(t, true)
	c.gone(t, w.deletions, len(c.pods)*2/3)
	c.taint(t, false)
	lifted := time.Now()
	<-time.After(2 * time.Second) //nolint:forbidigo // for what a real manager may still write

	// Calls that were under way when the change arrived may still end.
	const underWay = 500 * time.Millisecond
	for _, r := range ofPods(writes(t, w.AuditLog(), lifted.Add(underWay))) {
		t.Errorf("%s %s %v after the taint was lifted", r.Verb, r.ObjectRef.Name, r.RequestReceivedTimestamp.Sub(lifted))
	}
	left := 0
	for _, pod := range c.pods {
		if _, ended := w.deletion(t, pod.UID, time.Now()); !ended {
			left++
		}
	}
	t.Logf("%d of %d pods stay", left, len(c.pods))
	if left == 0 {
		t.Error("no pod is left: the burst was over before the taint was lifted")
	}
}

func (w *world) dryRun(t *testing.T) {
	c := newPodLoad(t, w.admin, "dry", 5, 10)
	began := time.Now()
	m := w.manage(t, "--dry-run")
	c.taint(t, true)
	<-time.After(2 * time.Second) //nolint:forbidigo // for what a real manager may write

	log, err := m.Log()
	if err != nil {
		t.Fatal(err)
	}
	for _, pod := range c.pods {
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

func (w *world) limited(t *testing.T) {
	c := newPodLoad(t, w.admin, "limited", 2, 10)
	w.manage(t, "--max-evictions-per-second=5")
	began := time.Now()
	c.taint(t, true)
	took := c.gone(t, w.deletions, 0).Sub(began)
	if took < 3*time.Second || took > 6*time.Second {
		t.Errorf("20 pods were gone within %v, want about 4 s at 5 a second", took)
	}
}
