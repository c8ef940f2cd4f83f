package sim

import (
	"slices"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// calm returns a world with one node and one process, without actions.
func calm() *World {
	w := newWorld(&plan{nodes: 1, replicas: 1, shards: 1, workers: 1, method: policy.Delete, turmoil: time.Minute}, Options{})
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
