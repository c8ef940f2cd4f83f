package guard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// holdThenEvict returns a configuration that holds quarantined pods, evicts all others, and deletes them an hour
// later.
func holdThenEvict() policy.Config {
	return policy.Config{
		Policies: []policy.Policy{
			{Name: "quarantine", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "quarantine"}}}},
			{Name: "rest", Method: policy.Evict, DeleteAfter: lasting(3600)},
		},
		Guards: policy.Guards{Breakers: []policy.Breaker{zones()}},
	}
}

func TestARecordHasTheEndsOfHolds(t *testing.T) {
	c := holdThenEvict()
	trip := map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}
	release := c
	release.Policies = append([]policy.Policy{{Name: "release", Method: policy.Delete, Match: policy.Match{Namespaces: []string{"shop"}}}}, c.Policies...)
	audit := c
	audit.Policies = append([]policy.Policy{{Name: "release", Mode: policy.Audit, Method: policy.Delete}}, c.Policies...)
	reordered := c
	reordered.Policies = []policy.Policy{c.Policies[0], {Name: "new", Method: policy.Ignore}, c.Policies[1]}
	for name, test := range map[string]struct {
		before, after []policy.HoldRecord
		want          []string
	}{
		"nothing changes":                     {c.Holds(trip, true), c.Holds(trip, true), nil},
		"a pause ends":                        {c.Holds(nil, true), c.Holds(nil, false), []string{"pause at 9s"}},
		"a trip ends":                         {c.Holds(trip, false), c.Holds(nil, false), []string{"breaker zones at 9s"}},
		"another group trips":                 {c.Holds(nil, false), c.Holds(trip, false), nil},
		"a policy is removed":                 {c.Holds(nil, false), nil, []string{"policy quarantine at 9s"}},
		"a policy before it takes its pairs":  {c.Holds(nil, false), release.Holds(nil, false), []string{"policy quarantine at 9s"}},
		"one that audits takes none":          {c.Holds(nil, false), audit.Holds(nil, false), nil},
		"a policy after it takes none either": {c.Holds(nil, false), reordered.Holds(nil, false), nil},
	} {
		r := guard.Record{}.With(at(5), nil, test.before).With(at(9), nil, test.after)
		if diff := cmp.Diff(test.want, endsOf(r)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// A record that was stored and read again leads to the same verdicts.
func TestARecordOutlivesTheProcess(t *testing.T) {
	c := holdThenEvict()
	trips := []guard.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(3)}}
	r := guard.Record{}.With(at(5), trips, c.Holds(map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}, true)).With(at(30), trips, c.Holds(nil, false))
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var again guard.Record
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(r, again); diff != "" {
		t.Errorf("(-want +got):\n%s\n%s", diff, text)
	}
	if diff := cmp.Diff(endsOf(r), endsOf(again.With(at(40), trips, c.Holds(nil, false)))); diff != "" {
		t.Errorf("a hold that goes on has ended: %s", diff)
	}
	pod, node := aPod(), tainted(at(1), "out")
	set, _ := policy.Compile(c)
	v := policy.Judge{Set: set, Facts: &policy.Facts{Holds: again.Holds}}.Decide(pod, node)
	if !v.Delete.At.Equal(at(30 + 3600)) {
		t.Errorf("got %+v", v.Delete)
	}
}

func TestARecordIsBounded(t *testing.T) {
	var r guard.Record
	for i := range 1000 {
		key := []policy.KeyPattern{{Key: fmt.Sprint("key-", i)}}
		r = r.With(at(float64(i)), nil, []policy.HoldRecord{{By: fmt.Sprint("policy ", i), Taints: key, Holds: true}})
	}
	if len(r.Holds) > guard.MaxEnded+1 {
		t.Fatalf("got %d: those that are over, and one that holds", len(r.Holds))
	}
	i := slices.IndexFunc(r.Holds, func(h policy.HoldRecord) bool { return h.By == "earlier holds" })
	if i < 0 || r.Holds[i].Taints != nil {
		t.Fatalf("no entry for all pods: %v", endsOf(r))
	}
	oldest := 999 - (len(r.Holds) - 2) // the hold of each second ends in the next one
	if !r.Holds[i].Ended.Equal(at(float64(oldest))) {
		t.Errorf("the entry for all pods has not ended at %v: %v", oldest, endsOf(r))
	}
}

func aPod() *taint.Pod {
	return &taint.Pod{UID: "p", Namespace: "shop", Name: "p", Node: "n", Phase: v1.PodRunning, Bound: zero}
}

func tainted(since time.Time, key string) *taint.Node {
	return &taint.Node{Name: "n", UID: "n", Labels: in("a"), Taints: []taint.History{
		{{Taint: v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}, Since: since}},
	}}
}

// The nodes of a wave become affected one by one within settle, in any order: no pod is evicted, although settle has
// passed for the first node.
func TestNoPodGoesInAWaveThatTrips(t *testing.T) {
	z := zones()
	z.Settle = lasting(10)
	c := policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{z}}}
	set, _ := policy.Compile(c)
	wave := []guard.NodeChange{is("n0", "a", out), is("n1", "a", out), is("n2", "a", out), is("n3", "a", out)}
	permutations(wave, func(order []guard.NodeChange) {
		b := synced(many(5, well), z)
		for second := range 100 {
			if i := second / 3; second%3 == 0 && i < len(order) {
				b.Step(at(float64(second)), order[i])
			}
			for i := range order {
				since := at(float64(3 * i))
				if since.After(at(float64(second))) {
					continue
				}
				v := policy.Judge{Set: set, Facts: &policy.Facts{Tripped: b.Tripped()}}.Decide(aPod(), tainted(since, "out"))
				if method, _ := v.Due(at(float64(second))); method != "" {
					t.Fatalf("second %d: the pod of node %d goes: %+v", second, i, v)
				}
			}
		}
	})
}
