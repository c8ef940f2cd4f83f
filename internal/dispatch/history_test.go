package dispatch

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// history is one random history of a Core and its twin.
type history struct {
	*twin
	core  *Core
	r     *rand.Rand
	now   time.Time
	alarm time.Time
	done  int
}

func newHistory(seed uint64) *history {
	h := &history{r: rand.New(rand.NewPCG(seed, 1)), now: time.Unix(1000, 0)}
	rates := h.someRates()
	h.core = NewCore(h.now, CoreOptions{
		Workers: 1 + h.r.IntN(8), Rates: rates, Leading: func() bool { return true }, Jitter: func() float64 { return .5 },
	})
	h.twin = &twin{
		n: h.core.places.n, rates: NewRates(h.now, rates), waiting: map[types.UID]Candidate{}, calls: map[types.UID]twinCall{},
		served: map[string]int{},
	}
	h.core.Step(h.now, TermBegan{})
	return h
}

func (h *history) someRates() (all []policy.Rate) {
	for i := range h.r.IntN(4) {
		r := policy.Rate{Name: fmt.Sprint("rate", i), EvictionsPerSecond: []float64{.5, 2, 20, 500}[h.r.IntN(4)], Burst: 1 + h.r.IntN(4)}
		if h.r.IntN(2) == 0 {
			r.TopologyKey = "zone"
		}
		if h.r.IntN(2) == 0 {
			r.Taints = []policy.TaintKey{{Key: "a"}}
		}
		all = append(all, r)
	}
	return all
}

// candidate returns a candidate. The calls of some namespaces are repeats.
func (h *history) candidate() Candidate {
	i := h.r.IntN(40)
	c := Candidate{
		Pod: &taint.Pod{
			UID: types.UID(fmt.Sprintf("p%02d", i)), Namespace: fmt.Sprint("n", i%6), Node: fmt.Sprint("node", i%4), Priority: int32(h.r.IntN(2)),
		},
		Deadline: h.now.Add(-time.Duration(h.r.IntN(3)) * time.Second), NodeLabels: map[string]string{"zone": fmt.Sprint(i % 2)},
	}
	for n := range 1 + h.r.IntN(2) {
		request := eviction.Request{Attempt: 1 + n + 2*(i%6%3), Pod: c.Pod}
		request.Verdict.Taint = &v1.Taint{Key: []string{"a", "b"}[h.r.IntN(2)]}
		c.Requests = append(c.Requests, request)
	}
	return c
}

// act lets something happen to the Core and to its twin.
func (h *history) act() error {
	switch i := h.r.IntN(10); {
	case i < 5:
		return h.offer(h.candidate())
	case i == 5:
		uid := h.candidate().UID
		c, waits := h.waiting[uid]
		delete(h.waiting, uid)
		if waits {
			h.forget(c.Namespace)
		}
		return h.step(Withdrawn{uid}, waits)
	case len(h.calls) > 0:
		calls := slices.Sorted(maps.Keys(h.calls))
		in := CallEnded{calls[h.r.IntN(len(calls))], []eviction.Outcome{succeeds, fails, timesOut}[h.r.IntN(3)]}
		h.end(h.now, in)
		if err := h.step(in, false); err != nil {
			return err
		}
		return h.step(Settled{in.UID}, false)
	}
	return h.step(TimePassed{}, false)
}

func (h *history) offer(c Candidate) error {
	_, called := h.calls[c.UID]
	if !called {
		old, waits := h.waiting[c.UID]
		// A candidate that changes its queue leaves, and returns.
		was, _, _ := h.queueOf(h.now, &c)
		if is, _, _ := h.queueOf(h.now, &old); waits && is != was {
			delete(h.waiting, c.UID)
			h.forget(c.Namespace)
		}
		h.waiting[c.UID] = c
		if h.served[c.Namespace] == 0 {
			h.turn++
			h.served[c.Namespace] = h.turn
		}
	}
	return h.step(Offered{c}, !called)
}

// step requires that the twin agrees with each start of the Core, and that none is missing.
func (h *history) step(in Input, taken bool) error {
	effects := h.core.Step(h.now, in)
	if effects.Taken != taken {
		return fmt.Errorf("%T: taken is %v", in, effects.Taken)
	}
	for _, s := range effects.Starts {
		if err := h.start(h.now, s); err != nil {
			return err
		}
	}
	h.done, h.alarm = h.done+len(effects.Starts), effects.Next
	if may := h.mayStart(h.now); len(may) > 0 {
		return fmt.Errorf("nothing more has started, and these may: %v", may)
	}
	if c := h.core; c.Waiting() != len(h.waiting) || c.InFlight() != len(h.calls) || len(c.namespaces) != len(h.served) {
		return fmt.Errorf("%d wait, %d calls, %d namespaces", c.Waiting(), c.InFlight(), len(c.namespaces))
	}
	return nil
}

// wait lets some time pass, with the steps that are due in it. Nothing may start a moment before the Core asks to step.
func (h *history) wait() error {
	longest := []time.Duration{0, 0, 5 * time.Millisecond, 50 * time.Millisecond, 2 * time.Second}[h.r.IntN(5)]
	to := h.now.Add(time.Duration(h.r.Int64N(int64(longest) + 1)))
	for !h.alarm.IsZero() && !h.alarm.After(to) {
		if may := h.mayStart(h.alarm.Add(-1)); len(may) > 0 {
			return fmt.Errorf("before the alarm, these may start: %v", may)
		}
		h.now = h.alarm
		if err := h.step(TimePassed{}, false); err != nil {
			return err
		}
	}
	h.now = to
	if may := h.mayStart(to); len(may) > 0 {
		return fmt.Errorf("without an alarm, these may start: %v", may)
	}
	return nil
}

func TestEachStartIsOneThatTheRulesPermitAndNoneIsMissing(t *testing.T) {
	done := 0
	for seed := range uint64(200) {
		h := newHistory(seed)
		for i := range 300 {
			if err := h.wait(); err != nil {
				t.Fatalf("seed %d, step %d, waiting: %v", seed, i, err)
			}
			if err := h.act(); err != nil {
				t.Fatalf("seed %d, step %d: %v", seed, i, err)
			}
		}
		done += h.done
	}
	if done < 8_000 {
		t.Errorf("the histories are too calm: %d calls", done)
	}
}
