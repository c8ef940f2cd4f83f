package dispatch

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestTheCoreStartsWhatTheRulesSayAndAllOfIt(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		rates := []policy.Rate{{Name: "r", Taints: []policy.TaintKey{{Key: "down"}}, TopologyKey: "zone", EvictionsPerSecond: 1, Burst: 3}}
		w := &twin{T: rt, n: rapid.IntRange(1, 4).Draw(rt, "N"), now: epoch, served: map[string]int{}, rates: NewRates(epoch, rates)}
		c := NewCore(epoch, CoreOptions{Workers: w.n, Rates: rates, Leading: func() bool { return true }})
		w.step(c, TermBegan{})
		for i := range rapid.IntRange(1, 200).Draw(rt, "steps") {
			w.now = w.now.Add(time.Duration(rapid.IntRange(40, 700).Draw(rt, "ms")) * time.Millisecond)
			switch what := rapid.IntRange(0, 9).Draw(rt, "what"); {
			case what < 5:
				it := w.draw(i)
				w.step(c, TimePassed{})
				w.offer(it)
				w.step(c, Offered{it.Candidate})
			case what < 8 && len(w.calls) > 0:
				w.step(c, TimePassed{})
				it := remove(&w.calls, w.calls[rapid.IntRange(0, len(w.calls)-1).Draw(rt, "call")].UID)
				w.forget(it.Namespace)
				w.step(c, CallEnded{it.UID, succeeds})
				w.step(c, Settled{it.UID})
			case what == 8 && len(w.waiting) > 0:
				w.step(c, TimePassed{})
				if len(w.waiting) > 0 {
					it := remove(&w.waiting, w.waiting[0].UID)
					w.forget(it.Namespace)
					w.step(c, Withdrawn{it.UID})
				}
			}
			w.step(c, TimePassed{})
		}
	})
}

// draw returns a new candidate.
func (t *twin) draw(i int) *twinItem {
	pod := &taint.Pod{UID: types.UID(fmt.Sprint(i)), Namespace: rapid.StringMatching("[a-e]").Draw(t.T, "namespace")}
	r := eviction.Request{Pod: pod, Attempt: rapid.IntRange(1, 2).Draw(t.T, "attempt")}
	r.Verdict.Taint = &v1.Taint{Key: rapid.SampledFrom([]string{"up", "down"}).Draw(t.T, "taint")}
	it := &twinItem{Candidate: Candidate{Pod: pod, Ways: []eviction.Request{r}, Deadline: epoch.Add(time.Duration(rapid.IntRange(0, 3).Draw(t.T, "deadline")))}}
	it.NodeLabels = map[string]string{"zone": rapid.SampledFrom([]string{"x", "y"}).Draw(t.T, "zone")}
	it.buckets = t.rates.BucketsOf(r.Verdict.Taint.Key, it.NodeLabels)
	return it
}
