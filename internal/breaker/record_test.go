package breaker_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/permutations"
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

// held has one pod that quarantine holds.
var held = map[string]int{"quarantine": 1}

// A record that was stored and read again leads to the same verdicts.
func TestARecordOutlivesTheProcess(t *testing.T) {
	c := holdThenEvict()
	r := breaker.Record{}.WithHolds(at(5), c.Holds(held, map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}, true)).WithHolds(at(30), c.Holds(held, nil, false))
	r.Trips = []breaker.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(3)}}
	r.HoldsEnded, r.Policies = at(1), []policy.Begin{{Policy: "drain", Rules: "x", Began: at(2)}}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	again, err := breaker.Decode(text)
	if diff := cmp.Diff(r, again); diff != "" || err != nil {
		t.Errorf("(-want +got):\n%s\n%s, %v", diff, text, err)
	}
	pod, node := aPod(), tainted(at(1), "out")
	set, _ := policy.Compile(c)
	v := policy.Judge{Set: set, Facts: &policy.Facts{Holds: again.Holds}}.Decide(pod, node)
	if !v.Delete.At.Equal(at(30 + 3600)) {
		t.Errorf("got %+v", v.Delete)
	}
}

func TestARecordHasUpTo256EndedHolds(t *testing.T) {
	for n, want := range map[int]int{256: 256, 257: 0} {
		var holds []policy.HoldRecord
		for i := range n {
			holds = append(holds, policy.HoldRecord{By: fmt.Sprint("policy ", i), Holds: true})
		}
		r := breaker.Record{}.WithHolds(at(1), holds).WithHolds(at(2), nil)
		if len(r.Holds) != want || r.HoldsEnded.IsZero() != (want == n) {
			t.Errorf("of %d holds, %d are left, and all others ended at %v", n, len(r.Holds), r.HoldsEnded)
		}
	}
}

// Too many holds become one of all pods, with the latest end: no deletion is earlier.
func TestARecordIsBounded(t *testing.T) {
	var r breaker.Record
	for i := range 1000 {
		key := []policy.KeyPattern{{Key: fmt.Sprint("key-", i)}}
		r = r.WithHolds(at(float64(i)), []policy.HoldRecord{{By: fmt.Sprint("policy ", i), Taints: key, Holds: true}})
		over := 0
		for _, h := range r.Holds {
			if !h.Holds && h.Ended.After(r.HoldsEnded) {
				over++
			}
		}
		if len(r.Holds) > 300 || over+int(r.HoldsEnded.Sub(zero).Seconds()) != i && !r.HoldsEnded.IsZero() {
			t.Fatalf("second %d: got %d holds, %d of them over, and all others ended at %v", i, len(r.Holds), over, r.HoldsEnded)
		}
	}
}

func TestARecordThatNoProgramHasMadeIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an end without a time":   `{"holds":[{"by":"pause"}]}`,
		"a trip without a time":   `{"trips":[{"breaker":"zones"}]}`,
		"a policy without a time": `{"policies":[{"policy":"drain","rules":"x"}]}`,
		"another type":            `{"holds":"none"}`,
	} {
		if r, err := breaker.Decode([]byte(text)); err == nil || !reflect.ValueOf(r).IsZero() {
			t.Errorf("%s: got %+v, %v", name, r, err)
		}
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
	wave := []breaker.NodeChange{is("n0", "a", out), is("n1", "a", out), is("n2", "a", out), is("n3", "a", out)}
	for order := range permutations.Of(wave) {
		b := synced(nodes(5, 0), z)
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
	}
}
