package breaker_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// holdTwin is the plain implementation: it writes down all holds after each input, and computes from that list when
// each hold has ended.
type holdTwin struct {
	config   breaker.Config
	breakers *breaker.Breakers
	held     map[string]int
	seconds  []int
	holding  [][]policy.HoldRecord
}

func (h *holdTwin) note(second int) {
	h.seconds = append(h.seconds, second)
	h.holding = append(h.holding, h.config.Holds(h.held, h.breakers.Tripped(), h.config.Paused))
}

// present returns the holds in force.
func (h *holdTwin) present() (list []string) {
	for _, is := range h.holding[len(h.holding)-1] {
		list = append(list, is.By)
	}
	slices.Sort(list)
	return list
}

// ends returns the last end of each hold.
func (h *holdTwin) ends() []string {
	last := map[string]int{}
	for i := 1; i < len(h.holding); i++ {
		for _, was := range h.holding[i-1] {
			if !slices.ContainsFunc(h.holding[i], func(is policy.HoldRecord) bool { return is.Same(&was) }) {
				last[was.By] = h.seconds[i]
			}
		}
	}
	var list []string
	for by, second := range last {
		list = append(list, fmt.Sprintf("%s at %ds", by, second))
	}
	return list
}

// TestTheCoreAgreesWithItsTwin plays random changes of nodes, configurations and held pods, with changes of leader
// between them.
func TestTheCoreAgreesWithItsTwin(t *testing.T) {
	configs := []breaker.Config{
		whole(false), whole(true), configured(false, nil, lingering()),
		configured(true, []policy.Breaker{zones()}, lingering(), quarantine()),
	}
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.SampledFrom(configs).Draw(rt, "first")
		w := &holdTwin{config: first, breakers: breaker.NewBreakers(first.Guards.Breakers), held: map[string]int{"quarantine": 1}}
		w.breakers.Step(at(0), nodes(4, 0)...)
		w.breakers.Synced(at(0))
		w.note(0)
		l := leading(first, known)
		for second := 1; second < 40; second++ {
			play(rt, l, w, second)
			w.note(second)
			if got, want := slices.Sorted(slices.Values(l.ends())), slices.Sorted(slices.Values(w.ends())); !slices.Equal(got, want) {
				rt.Fatalf("second %d: ended are %q, want %q", second, got, want)
			}
			if got, want := l.holding(), w.present(); !slices.Equal(got, want) {
				rt.Fatalf("second %d: recorded as in force are %q, want %q", second, got, want)
			}
			f := l.Judge().Facts
			if len(f.Tripped) != len(w.breakers.Tripped()) || f.Paused != w.config.Paused {
				rt.Fatalf("second %d: the facts are %+v, want the trips %v", second, f, w.breakers.Tripped())
			}
		}
	})
}

// play draws one input for both. A change of leader is not a change to the holdTwin.
func play(rt *rapid.T, l *leader, w *holdTwin, second int) {
	now := at(float64(second))
	switch rapid.IntRange(0, 5).Draw(rt, "what") {
	case 0:
		changes := nodes(4, rapid.IntRange(0, 4).Draw(rt, "out"))
		w.breakers.Step(now, changes...)
		l.step(float64(second), breaker.NodesChanged{Changes: changes})
	case 1:
		w.config = rapid.SampledFrom([]breaker.Config{whole(false), whole(true), configured(false, []policy.Breaker{zones()}, lingering())}).Draw(rt, "config")
		w.breakers.Reload(now, w.config.Guards.Breakers)
		l.step(float64(second), breaker.Reconfigured{Config: w.config})
	case 2:
		w.breakers.Step(now)
		l.step(float64(second), breaker.TimePassed{})
	case 3:
		j := breaker.Journaled{Known: true}
		if len(l.records) > 0 {
			j.Record = l.records[len(l.records)-1]
		}
		l.step(float64(second), breaker.LeadershipEnded{}, breaker.LeadershipBegan{Journaled: j})
		w.breakers.Step(now)
	case 4:
		pods := rapid.IntRange(-w.held["quarantine"], 2).Draw(rt, "pods")
		w.held["quarantine"] += pods
		w.breakers.Step(now)
		l.step(float64(second), breaker.PodsHeld{Policy: "quarantine", Pods: pods})
	}
}
