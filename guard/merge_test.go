package guard_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

func TestTheLaterOfTwoTripsCounts(t *testing.T) {
	trip := func(group string, began float64, ended bool) guard.TripRecord {
		return guard.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: group, Began: at(began), Ended: ended}
	}
	own := guard.Record{Trips: []guard.TripRecord{trip("a", 1, false), trip("b", 5, true), trip("c", 5, true)}}
	other := guard.Record{Trips: []guard.TripRecord{trip("a", 3, true), trip("b", 4, false), trip("c", 6, true), trip("d", 2, false)}}
	want := []guard.TripRecord{trip("a", 3, false), trip("b", 5, false), trip("c", 6, true), trip("d", 2, false)}
	if diff := cmp.Diff(want, own.Merge(other).Trips); diff != "" {
		t.Error(diff)
	}
	if own.Trips[0] != trip("a", 1, false) {
		t.Error("the record itself was changed")
	}
}

func TestAHoldThatEndsAgainIsRecordedOnce(t *testing.T) {
	c := holdThenEvict()
	r := guard.Record{}
	for i := range 200 {
		r = r.With(at(float64(2*i)), nil, c.Holds(nil, true)).With(at(float64(2*i+1)), nil, c.Holds(nil, false))
	}
	if diff := cmp.Diff([]string{"pause at 6m39s"}, ends(r)); diff != "" {
		t.Error(diff)
	}
}

// Nothing that shortens or joins records makes a deletion earlier than the records themselves, with the holds that each
// process finds when it compares.
func TestNoFormOfARecordMakesADeletionEarlier(t *testing.T) {
	c := holdThenEvict()
	set, _ := policy.Compile(c)
	deleteAt := func(r guard.Record) time.Time { // by each end on its own
		for _, h := range r.Holding {
			if !slices.ContainsFunc(c.Holds(nil, false), func(is policy.HoldScope) bool { return is.Same(&h) }) {
				r.Ended = append(slices.Clone(r.Ended), guard.EndedRecord{HoldScope: h, At: at(1000)})
			}
		}
		v := set.Decide(aPod(), tainted(at(1), "out"), &policy.Facts{Ended: r.EndedHolds(sameTime)})
		return v.Delete.At
	}
	scopes := append(c.Holds(map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true, {Breaker: "zones", Group: "b"}: true}, true),
		policy.HoldScope{By: "policy old", Match: &policy.Match{Namespaces: []string{"shop"}}}, policy.HoldScope{By: "policy other", Match: &policy.Match{Namespaces: []string{"other"}}})
	draw := func(t *rapid.T, name string) (r guard.Record) {
		for i := range rapid.IntRange(0, 100).Draw(t, name+" ends") {
			scope := rapid.SampledFrom(scopes).Draw(t, "scope")
			if rapid.Bool().Draw(t, "other name") {
				scope.By = fmt.Sprint("policy ", i)
			}
			r.Ended = append(r.Ended, guard.EndedRecord{HoldScope: scope, At: at(float64(rapid.IntRange(1, 900).Draw(t, "at")))})
		}
		if rapid.Bool().Draw(t, "holding") {
			r.Holding = []policy.HoldScope{rapid.SampledFrom(scopes).Draw(t, "holds")}
		}
		slices.SortStableFunc(r.Ended, func(a, b guard.EndedRecord) int { return a.At.Compare(b.At) })
		return r
	}
	rapid.Check(t, func(t *rapid.T) {
		a, b := draw(t, "a"), draw(t, "b")
		for name, r := range map[string]guard.Record{"merged": a.Merge(b), "merged the other way round": b.Merge(a), "merged twice": a.Merge(b).Merge(b)} {
			if got := deleteAt(r); got.Before(deleteAt(a)) || got.Before(deleteAt(b)) {
				t.Fatalf("%s: deleted at %v, by the records alone at %v and %v", name, got.Sub(zero), deleteAt(a).Sub(zero), deleteAt(b).Sub(zero))
			}
		}
		for name, r := range map[string]guard.Record{"condensed": a.Condensed(), "bounded": a.Bounded(), "compared": a.With(at(1000), nil, c.Holds(nil, false))} {
			if got := deleteAt(r); got.Before(deleteAt(a)) {
				t.Fatalf("%s: deleted at %v, by the record at %v", name, got.Sub(zero), deleteAt(a).Sub(zero))
			}
		}
	})
}
