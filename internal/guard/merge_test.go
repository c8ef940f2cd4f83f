package guard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
)

func TestAHoldThatEndsAgainIsRecordedOnce(t *testing.T) {
	c := holdThenEvict()
	r := guard.Record{}
	for i := range 200 {
		r = r.With(at(float64(2*i)), nil, c.Holds(nil, true)).With(at(float64(2*i+1)), nil, c.Holds(nil, false))
	}
	if diff := cmp.Diff([]string{"pause at 399s"}, endsOf(r)); diff != "" {
		t.Error(diff)
	}
}

// Bounding or merging records makes no deletion earlier than the records alone would, after the next leader has
// compared its holds with them.
func TestNoFormOfARecordMakesADeletionEarlier(t *testing.T) {
	c := holdThenEvict()
	set, _ := policy.Compile(c)
	deleteAt := func(r guard.Record) time.Time {
		facts := &policy.Facts{Holds: r.With(at(1000), nil, c.Holds(nil, true)).Holds}
		v := policy.Judge{Set: set, Facts: facts}.Decide(aPod(), tainted(at(1), "out"))
		return v.Delete.At
	}
	present := append(c.Holds(map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true, {Breaker: "zones", Group: "b"}: true}, true),
		policy.HoldRecord{By: "policy old", Taints: []policy.KeyPattern{{}}, Rules: "x"}, policy.HoldRecord{By: "policy other", Taints: []policy.KeyPattern{{Key: "other"}}})
	draw := func(t *rapid.T, name string) (r guard.Record) {
		for i := range rapid.IntRange(0, 400).Draw(t, name) {
			h := rapid.SampledFrom(present).Draw(t, "hold")
			if rapid.Bool().Draw(t, "other name") {
				h.By = fmt.Sprint("policy ", i)
			}
			if rapid.IntRange(0, 2).Draw(t, "other rules") == 0 {
				h.Rules = "y"
			}
			if h.Holds = rapid.IntRange(0, 5).Draw(t, "holds") == 0; !h.Holds || rapid.Bool().Draw(t, "again") {
				h.Ended = at(float64(rapid.IntRange(1, 900).Draw(t, "at")))
			}
			r = guard.Record{Holds: []policy.HoldRecord{h}}.And(r.Holds...)
		}
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		for name, r := range map[string]guard.Record{"merged": a.And(b.Holds...), "merged the other way round": b.And(a.Holds...), "merged twice": a.And(b.Holds...).And(b.Holds...)} {
			if got := deleteAt(r); got.Before(deleteAt(a)) || got.Before(deleteAt(b)) {
				t.Fatalf("%s: deleted at %v, by the records alone at %v and %v", name, got.Sub(zero), deleteAt(a).Sub(zero), deleteAt(b).Sub(zero))
			}
		}
		if got := deleteAt(a.Bounded()); got.Before(deleteAt(a)) {
			t.Fatalf("bounded: deleted at %v, by the record at %v", got.Sub(zero), deleteAt(a).Sub(zero))
		}
	})
}

func TestAHoldOfWhichTwoRecordsHaveOtherRulesHasEndedForTheNextLeader(t *testing.T) {
	c := holdThenEvict()
	own, other := guard.Record{Holds: c.Holds(nil, false)}, guard.Record{Holds: c.Holds(nil, false)}
	other.Holds[0].Rules = "y"
	for name, r := range map[string]guard.Record{"its own": own.And(other.Holds...), "the other's": other.And(own.Holds...)} {
		if diff := cmp.Diff([]string{"policy quarantine at 9s"}, endsOf(r.With(at(9), nil, c.Holds(nil, false)))); diff != "" {
			t.Errorf("with %s first (-want +got):\n%s", name, diff)
		}
	}
	if got := endsOf(own.And(own.Holds...).With(at(9), nil, c.Holds(nil, false))); got != nil {
		t.Errorf("the same rules: %v", got)
	}
}
