package guard_test

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// holdTwin is the plain implementation: it writes down all holds after each input, and computes from that list when
// each hold has ended.
type holdTwin struct {
	config   guard.Config
	breakers *guard.Breakers
	seconds  []int
	holding  [][]policy.HoldRecord
}

func (h *holdTwin) note(second int) {
	h.seconds = append(h.seconds, second)
	h.holding = append(h.holding, h.config.Holds(h.breakers.Tripped(), h.config.Paused))
}

// ends returns the last end of each hold.
func (h *holdTwin) ends() []string {
	last := map[string]int{}
	for i := 1; i < len(h.holding); i++ {
		for _, was := range h.holding[i-1] {
			if !slices.ContainsFunc(h.holding[i], func(is policy.HoldRecord) bool { return is.Same(&was) && is.Rules == was.Rules }) {
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

// TestTheCoreAgreesWithItsTwin plays random changes of nodes and configurations, with restarts and changes of leader
// between them.
func TestTheCoreAgreesWithItsTwin(t *testing.T) {
	configs := []guard.Config{
		whole(false), whole(true), configured(false, nil, lingering()),
		configured(true, []policy.Breaker{zones()}, lingering(), quarantine()),
	}
	rapid.Check(t, func(rt *rapid.T) {
		first := rapid.SampledFrom(configs).Draw(rt, "first")
		w := &holdTwin{config: first, breakers: guard.NewBreakers(first.Guards.Breakers)}
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
			f := l.Judge().Facts
			if len(f.Tripped) != len(w.breakers.Tripped()) || f.Paused != w.config.Paused || len(l.known()) != len(w.ends()) {
				rt.Fatalf("second %d: the facts are %+v, want the trips %v and %d ends", second, f, w.breakers.Tripped(), len(w.ends()))
			}
		}
	})
}

// play draws one input for both. A restart, and a change of leader, are not changes to the holdTwin.
func play(rt *rapid.T, l *leader, w *holdTwin, second int) {
	now := at(float64(second))
	switch rapid.IntRange(0, 4).Draw(rt, "what") {
	case 0:
		changes := nodes(4, rapid.IntRange(0, 4).Draw(rt, "out"))
		w.breakers.Step(now, changes...)
		l.step(float64(second), guard.NodesChanged{Changes: changes})
	case 1:
		w.config = rapid.SampledFrom([]guard.Config{whole(false), whole(true), configured(false, []policy.Breaker{zones()}, lingering())}).Draw(rt, "config")
		w.breakers.Reload(now, w.config.Guards.Breakers)
		l.step(float64(second), guard.Reconfigured{Config: w.config})
	case 2:
		w.breakers.Step(now)
		l.step(float64(second), guard.TimePassed{})
	case 3:
		var j guard.Journaled
		if j.Known = true; len(l.records) > 0 {
			j.Record = l.records[len(l.records)-1]
		}
		l.step(float64(second), guard.LeadershipEnded{}, guard.RecordRead{Record: j.Record}, guard.LeadershipBegan{Journaled: j})
		w.breakers.Step(now)
	}
}
