package sim

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
)

// calm returns a world with one node and one process, without actions.
func calm() *World {
	w := newWorld(&plan{nodes: 1, replicas: 1, shards: 1, workers: 1, places: 1, turmoil: time.Minute, clocks: inStep(1)}, Options{})
	w.until(preface + time.Second)
	return w
}

func TestAFrozenProcessDoesLaterWhatItWasToDo(t *testing.T) {
	w := calm()
	p, began := w.processes[0], w.now()
	var done []time.Duration
	for _, d := range []time.Duration{3, 1, 2, 12} {
		p.after(d*time.Second, func() { done = append(done, d) })
	}
	p.freeze(5 * time.Second)
	p.freeze(10 * time.Second)
	w.until(began + 9*time.Second)
	if len(done) > 0 {
		t.Fatalf("frozen, it has done %v", done)
	}
	w.until(began + 11*time.Second)
	if want := []time.Duration{1, 2, 3}; !slices.Equal(done, want) {
		t.Errorf("it has done %v, want %v", done, want)
	}
}

func TestAFrozenProcessGoesOnWhenAllFaultsEnd(t *testing.T) {
	w := calm()
	p, began := w.processes[0], w.now()
	var done bool
	p.freeze(time.Hour)
	p.after(time.Second, func() { done = true })
	w.until(began + 2*time.Second)
	w.calmDown()
	if !done {
		t.Error("what was put off is still to be done")
	}
}

// A partition that a leader has written, without getting the answer, contains nothing that is news to the leader.
func TestALeaderAdoptsNothingFromItsOwnPartition(t *testing.T) {
	w := calm()
	p := w.processes[0]
	w.server.changeTaints(nodeName(0), func([]v1.Taint) []v1.Taint { return []v1.Taint{noExecute("gpu")} })
	w.until(w.now() + 3*time.Second)
	i := partitionOf(nodeName(0))
	if len(w.server.partitions[i].entries) != 1 {
		t.Fatalf("the partition has %v", w.server.partitions[i].entries)
	}
	before := p.feed.Tainted()[0]
	p.store.partitions[i].mine, p.store.partitions[i].stored.version = false, 0
	p.store.took(i, w.server.partitions[i], never)
	if after := p.feed.Tainted()[0]; after != before {
		t.Errorf("it knows %+v, want %+v", after, before)
	}
}
