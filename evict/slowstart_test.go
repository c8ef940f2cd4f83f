package evict

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/google/go-cmp/cmp"
)

func TestSlotsOpenOneAfterAnother(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		f := lasting(900 * time.Millisecond)
		p := NewPool(PoolOptions{Evictor: f, Workers: 8})
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(1500 * ms)
		want := []time.Duration{
			0, 0, 0, 0, 4 * ms, 8 * ms, 12 * ms, 16 * ms, // the calls hang, and keep nobody waiting
			// There were calls all the time: no new start.
			900 * ms, 900 * ms, 900 * ms, 900 * ms, 904 * ms, 908 * ms, 912 * ms, 916 * ms,
		}
		if diff := cmp.Diff(want, f.begins()); diff != "" {
			t.Errorf("calls began (- want, + got):\n%s", diff)
		}
	})
}

func TestSlotsOpenAnewWhenNoCallWasUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(900 * time.Millisecond)
		p := NewPool(PoolOptions{Evictor: f, Workers: 8})
		defer lead(t, p)()
		var counts []int
		for range 2 {
			burst := demand(t, p)
			time.Sleep(slowStartStep / 2)
			counts = append(counts, p.InFlight())
			time.Sleep(slowStartStep)
			counts = append(counts, p.InFlight())
			burst.stop()
			time.Sleep(10 * time.Second)
		}
		if diff := cmp.Diff([]int{4, 5, 4, 5}, counts); diff != "" {
			t.Errorf("calls under way (- want, + got):\n%s", diff)
		}
	})
}
