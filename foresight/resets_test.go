package foresight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// A trip that the journal has ends resetAfter after the nodes were read, at the latest, if few enough are affected then.
func TestAQuestionAboutLaterForeseesResets(t *testing.T) {
	minute := outage("")
	minute.ResetAfter = lasting(60)
	byHand, lingers := minute, policy.Policy{Name: "lingers", Method: policy.Evict, DeleteAfter: lasting(3600)}
	byHand.Reset = policy.Manual
	trip := guard.TripRecord{Breaker: "outage", TopologyKey: "zone", Group: "a", Began: at(-300)}
	const held, goes = "held", "goes at -4m59s, deleted at "
	for name, c := range map[string]struct {
		breaker          policy.Breaker
		affected, partly bool // most nodes are affected; only some are in the model
		second           float64
		want             string
		reset            bool
		unknown          bool
	}{
		"at the reading":                 {minute, false, false, 0, held, false, false},
		"before resetAfter is over":      {minute, false, false, 59, held, false, false},
		"once it is over":                {minute, false, false, 60, goes + "1h1m0s", true, false},
		"long after":                     {minute, false, false, 7200, goes + "1h1m0s", true, false},
		"while most nodes are affected":  {minute, true, false, 7200, held, false, false},
		"one that is reset by hand":      {byHand, false, false, 7200, held, false, false},
		"from some nodes, later":         {minute, false, true, 7200, held, false, true},
		"from some nodes, at once":       {minute, false, true, 0, held, false, false},
		"from some nodes, reset by hand": {byHand, false, true, 7200, held, false, false},
		"a question about earlier":       {minute, false, false, -30, held, false, false},
	} {
		n, calm := node("n1", timed("out:NoExecute", -300)), node("n2")
		if c.affected {
			calm.Spec.Taints = n.Spec.Taints
		}
		n.Labels["zone"], calm.Labels["zone"] = "a", "a"
		when := at(c.second)
		m := judgedBy(basis(t, policy.Config{Policies: []policy.Policy{lingers}, Guards: policy.Guards{Breakers: []policy.Breaker{c.breaker}}}), foresight.Focus{}, n, calm, pod("a"))
		m.SetGuards(&guard.Record{Trips: []guard.TripRecord{trip}}, journal.Writing{At: at(-5)})
		m.SetRead(noon)
		if c.partly {
			m.SetPartial()
		}
		e, pending := m.MustExplain("shop", "a", when), m.Pending(when, nil)
		got := told(e.Prediction)
		if e.Prediction.DeleteAt != nil {
			got += ", deleted at " + e.Prediction.DeleteAt.Sub(noon).String()
		}
		if e.Prediction.HeldBy != "" {
			got = held
		}
		if got != c.want || (pending.Pods[0].State == foresight.Held) != (c.want == held) || (len(e.Trips) == 1) == c.reset {
			t.Errorf("%s: %s, want %s; pending %s, trips %v", name, got, c.want, pending.Pods[0].State, e.Trips)
		}
		var resets []foresight.Reset
		if c.reset {
			resets = []foresight.Reset{{Trip: foresight.Trip{Breaker: "outage", Group: "a", Since: at(-300)}, At: at(60)}}
		}
		if diff := cmp.Diff(resets, m.Resets(when)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		known := foresight.Trip{Breaker: "outage", Group: "a", Since: at(-300), Recorded: true, Reset: "Automatic"}
		if c.breaker.Reset == policy.Manual {
			known.Reset = "Manual"
		}
		if got := m.ResetUnknown(known, when); got != c.unknown {
			t.Errorf("%s: unknown is %t", name, got)
		}
	}
}

// Until the plan's time the nodes have their present taints, by which a breaker may trip or be reset; then those of the plan
// count.
func TestAPlanForLaterBeginsWithTheTaintsOfNow(t *testing.T) {
	minute := outage("")
	minute.ResetAfter = lasting(60)
	trip := guard.TripRecord{Breaker: "outage", TopologyKey: "zone", Group: "a", Began: at(-300)}
	for name, c := range map[string]struct {
		tainted bool
		trips   []guard.TripRecord
		change  string
		want    []foresight.Trip
		resets  int
	}{
		"it trips by the plan, after a reset":               {false, []guard.TripRecord{trip}, "out:NoExecute", []foresight.Trip{{Breaker: "outage", Group: "a", Since: at(600), Reset: "Automatic"}}, 1},
		"it is reset, and the plan trips nothing":           {false, []guard.TripRecord{trip}, "other:NoExecute", nil, 1},
		"it is still tripped when the plan lifts the taint": {true, []guard.TripRecord{trip}, "out:NoExecute-", []foresight.Trip{{Breaker: "outage", Group: "a", Since: at(-300), Recorded: true, Reset: "Automatic"}}, 0},
		"it trips before the plan, by the taints of now":    {true, nil, "other:NoExecute", []foresight.Trip{{Breaker: "outage", Group: "a", Since: noon, Reset: "Automatic"}}, 0},
	} {
		n := node("n1")
		if c.tainted {
			n.Spec.Taints = append(n.Spec.Taints, timed("out:NoExecute", -300))
		}
		n.Labels["zone"] = "a"
		m := judgedBy(basis(t, policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{minute}}}), foresight.Focus{}, n, pod("a"))
		m.SetGuards(&guard.Record{Trips: c.trips}, journal.Writing{At: at(-5)})
		m.SetRead(noon)
		q := ask(c.change)
		q.At = at(600)
		p, err := m.Plan(q)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c.want, p.Trips); diff != "" || len(m.Resets(q.At)) != c.resets {
			t.Errorf("%s: resets %v (-want +got):\n%s", name, m.Resets(q.At), diff)
		}
	}
}
