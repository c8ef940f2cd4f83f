package foresight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// minute is a reset a minute after few enough nodes are affected.
func minute(b *policy.Breaker) { b.ResetAfter = lasting(60) }

// A recorded trip ends resetAfter after the nodes were read, if few enough are affected then.
func TestAQuestionAboutLaterForeseesResets(t *testing.T) {
	const held, goes = "held by breaker outage (a)", "goes at -4m59s, deleted at 1h1m0s"
	const reset = "resets by 2026-05-01T12:01:00Z"
	for _, c := range []struct {
		name     string
		reset    func(*policy.Breaker)
		affected bool // most nodes are affected
		second   float64
		want     string
		note     string
	}{
		{"at the reading", minute, false, 0, held, reset},
		{"before resetAfter is over", minute, false, 59, held, reset},
		{"once it is over", minute, false, 60, goes, reset},
		{"long after", minute, false, 7200, goes, reset},
		{"while most nodes are affected", minute, true, 7200, held, "resets once few enough nodes"},
		{"a breaker that is reset by hand", byHand, false, 7200, held, "until resetBefore is set"},
		{"a question about earlier", minute, false, -30, held, "resets by 2026-05-01T12:00:30Z"},
	} {
		t.Run(c.name, func(t *testing.T) {
			other := zoned("n2")
			if c.affected {
				other = zoned("n2", timed("out:NoExecute", -300))
			}
			m := must(load(breakers(outage(minute, c.reset)), foresight.Focus{}, foresight.Reading{At: noon},
				zoned("n1", timed("out:NoExecute", -300)), other, pod("a"), holding(trips(tripped()))))
			when := at(c.second)
			if got := foretold(t, m, when); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			notes := m.Pending(when, nil).Notes
			if !noted(notes, c.note) || noted(notes, reset) != (c.note == reset) {
				t.Errorf("notes %q, want %q", notes, c.note)
			}
		})
	}
}

// Until the plan's time the nodes have their present taints, by which a breaker may trip or be reset; then those of the
// plan count.
func TestAPlanForLaterBeginsWithTheTaintsOfNow(t *testing.T) {
	trip := func(seconds float64, recorded bool) []foresight.Trip {
		return []foresight.Trip{{Breaker: "outage", Group: "a", Since: at(seconds), Recorded: recorded, Reset: "Automatic"}}
	}
	lifted := trip(-300, true)
	lifted[0].ResetsBy = new(at(660))
	out, recorded := timed("out:NoExecute", -300), trips(tripped())
	for _, c := range []struct {
		name    string
		objects []any
		record  *breaker.Record
		change  string
		want    []foresight.Trip
		reset   bool
	}{
		{"it trips by the plan, after a reset", []any{zoned("n1")}, recorded, "out:NoExecute", trip(600, false), true},
		{"it is reset, and the plan trips nothing", []any{zoned("n1")}, recorded, "other:NoExecute", nil, true},
		{"it is still tripped when the plan lifts the taint", []any{zoned("n1", out)}, recorded, "out:NoExecute-", lifted, true},
		{"it trips before the plan, by the taints of now", []any{zoned("n1", out)}, &breaker.Record{}, "other:NoExecute", trip(0, false), false},
	} {
		m := must(load(breakers(outage(minute)), foresight.Focus{}, foresight.Reading{At: noon}, append(c.objects, pod("a"), holding(c.record))...))
		q := ask(c.change)
		q.At = at(600)
		p := must(m.Plan(q))
		if diff := cmp.Diff(c.want, p.Trips); diff != "" || noted(p.Notes, "and resets by ") != c.reset {
			t.Errorf("%s: notes %q (-want +got):\n%s", c.name, p.Notes, diff)
		}
	}
}
