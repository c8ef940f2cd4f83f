package dispatch

import (
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestSlotsOpenOneAfterAnotherWhenNoCallWasUnderWay(t *testing.T) {
	const ms = time.Millisecond
	synctest.Test(t, func(t *testing.T) {
		n := noting(lasting(900 * ms))
		u := newUser(t, Options{CoreOptions: CoreOptions{Slots: 8}, Evictor: n}).demand(8)
		defer u.lead()()
		time.Sleep(1500 * ms)
		want := []time.Duration{
			0, 0, 0, 0, 4 * ms, 8 * ms, 12 * ms, 16 * ms, // the calls hang, and keep nobody waiting
			// There were calls all the time: no new start.
			900 * ms, 900 * ms, 900 * ms, 900 * ms, 904 * ms, 908 * ms, 912 * ms, 916 * ms,
		}
		if got := n.begins(); !slices.Equal(got, want) {
			t.Errorf("calls at %v, want %v", got, want)
		}
		u.enough()
		time.Sleep(10 * time.Second)
		again := time.Since(n.born)
		u.offer(8)
		time.Sleep(100 * ms)
		if got := n.begins()[16:]; len(got) != 8 || got[3] != again || got[4] != again+4*ms || got[7] != again+16*ms {
			t.Errorf("calls at %v, want four at %v", got, again)
		}
	})
}

func TestTheNumberOfSlotsChangesWhileCallsAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Slots: 4}, Evictor: lasting(900 * time.Millisecond)}).demand(20)
		defer u.lead()()
		time.Sleep(1900 * time.Millisecond) // the start is slow
		for _, step := range []struct{ slots, atOnce, later int }{{6, 6, 6}, {2, 6, 2}, {4, 4, 4}, {32, 20, 20}} {
			u.SetRates(nil, step.slots)
			time.Sleep(100 * time.Millisecond)
			synctest.Wait()
			if got := u.InFlight(); got != step.atOnce {
				t.Errorf("%d slots: %d calls are under way at once, want %d", step.slots, got, step.atOnce)
			}
			time.Sleep(1800 * time.Millisecond)
			synctest.Wait()
			if got, slots := u.InFlight(), u.gauge("eviction_slots"); got != step.later || int(slots) != step.slots {
				t.Errorf("%d slots: %d calls are under way later, want %d; the metric has %v", step.slots, got, step.later, slots)
			}
		}
	})
}

func TestACallHoldsASlotForASecondAtMost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Slots: 4, SlowPlaces: 8}, Evictor: lasting(30 * time.Second)}).demand(40)
		defer u.lead()()
		for _, want := range []int{4, 8, 12, 12} { // of which four hold slots in the end, as all places are taken
			time.Sleep(900 * time.Millisecond)
			synctest.Wait()
			if got := u.InFlight(); got != want {
				t.Errorf("%d calls under way, want %d", got, want)
			}
			time.Sleep(100 * time.Millisecond)
		}
	})
}

func TestSlowCallsThatKeepTheirSlotsAreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		u := newUser(t, Options{CoreOptions: CoreOptions{Slots: 4, SlowPlaces: 2}, Evictor: lasting(30 * time.Second)}).demand(20)
		defer u.lead()()
		for _, want := range []struct {
			after      time.Duration
			kept, slow float64 // those that keep their slots count as slow
		}{
			{900 * time.Millisecond, 0, 0},
			{200 * time.Millisecond, 2, 4},
			{time.Second, 4, 6},
			{40 * time.Second, 10, 6},
			{30 * time.Second, 16, 6},
		} {
			time.Sleep(want.after)
			synctest.Wait()
			kept, slow := testutil.ToFloat64(u.metrics.kept), u.gauge("slow_evictions_in_flight")
			if kept != want.kept || slow != want.slow {
				t.Errorf("%v kept their slots, %v are slow; want %+v", kept, slow, want)
			}
		}
	})
}

func TestWorkloadsAreRememberedForTwoMinutes(t *testing.T) {
	w := newWorld()
	var all []*evicted
	for i := range 3000 {
		all = append(all, w.pod("a", i%10, uint64(i), time.Duration(i)*10*time.Millisecond, quickly))
	}
	w.run(all, 31*time.Second)
	if n := len(w.core.namespaces["a"].workloads); n != 3000 {
		t.Errorf("%d workloads are remembered", n)
	}
	for !w.alarm.IsZero() {
		w.now = w.alarm
		w.step(TimePassed{})
	}
	if c := w.core; len(c.namespaces)+len(c.classes)+len(c.items)+c.expiries.Len()+len(c.calls) > 0 {
		t.Errorf("%d namespaces, %d classes, %d items, %d expiries, %d calls are left", len(c.namespaces), len(c.classes), len(c.items),
			c.expiries.Len(), len(c.calls))
	}
	if passed := w.now.Sub(all[len(all)-1].done); passed > 2*remembered {
		t.Errorf("forgotten after %v", passed)
	}
}
