package dispatch

import (
	"fmt"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func TestTheStatusSaysWhyACandidateWaitsAndUntilWhen(t *testing.T) {
	const ms = time.Millisecond
	hangs := after(time.Hour, succeeds)
	for name, c := range map[string]struct {
		prepare func(w *world) // what happens before the candidate is offered, 10 s after the begin
		waits   eviction.WaitCause
		rate    string
		until   time.Duration // from then; 0: not known
	}{
		"this process does not lead": {func(w *world) { w.step(TermEnded{}) }, eviction.WaitsForTurn, "", 0},
		"all calls are paused":       {func(w *world) { w.step(Paused{true}) }, eviction.WaitsForPause, "", 0},
		"the server is away":         {func(w *world) { w.at(w.after(10_000), func() { w.step(NodeRead{"n", w.now, unreachable}) }) }, eviction.WaitsForServer, "", 100 * ms},
		"the server is loaded":       {func(w *world) { w.core.throttled = w.after(70_000) }, eviction.WaitsForServer, "", time.Minute},
		"its rate has no token": {func(w *world) {
			w.step(Configured{[]policy.Rate{{Name: "few", EvictionsPerSecond: .01, Burst: 1}}, 4})
		}, eviction.WaitsForRate, "few", 90 * time.Second},
		"all calls are limited": {func(w *world) {
			w.core.pace = newPace(.1)
			w.pod("other", 0, 5*time.Second, hangs)
		}, eviction.WaitsForRate, eviction.RateOfAllCalls, 5*time.Second - paceSlack},
		"all places are taken": {func(w *world) {
			for i := range 12 {
				w.pod(fmt.Sprint("n", i), 0, 0, hangs)
			}
		}, eviction.WaitsForTurn, "", 0},
		"only its namespace has calls in flight": {func(w *world) {
			for range 4 {
				w.pod("a", 0, 8*time.Second, hangs)
			}
		}, eviction.WaitsForTurn, "", 0},
		"its namespace has half of the free places": {func(w *world) {
			for range 3 {
				w.pod("a", 0, 8*time.Second, hangs)
			}
			for range 4 {
				w.pod("b", 0, 0, hangs)
			}
		}, eviction.WaitsForShare, "", 0},
	} {
		w := newWorld()
		w.core.outage.jitter = func() float64 { return 1 }
		w.core.places.n = 4
		c.prepare(w)
		p := w.pod("a", 0, 10*time.Second, hangs)
		checked := false
		w.at(w.after(10_000), func() {
			checked = true
			want := Status{Waits: eviction.Wait{Cause: c.waits, Rate: c.rate}}
			if c.waits == eviction.WaitsForShare {
				want.Waits.Namespace, want.Waits.Calls = "a", 3
			}
			if c.until > 0 {
				want.Until = w.now.Add(c.until)
			}
			if got := w.core.Status(w.now, p.UID); got != want {
				t.Errorf("%s: got %+v, want %+v", name, got, want)
			}
			if n := w.core.Waiting(); n != 1 {
				t.Errorf("%s: %d wait", name, n)
			}
		})
		w.run([]*evicted{p}, 10*time.Second)
		if !checked {
			t.Errorf("%s: nothing was checked", name)
		}
	}
}
