package sim

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// aWorld returns a world without faults in which only these things happen; their times are those after the first
// replica has started. The pod p0 is on node n0, and tolerates the taint gpu for 60 s.
func aWorld(seed uint64, nodes, replicas int, c policy.Config, actions ...action) *World {
	bears := []v1.Toleration{{Key: "gpu", Operator: v1.TolerationOpExists, TolerationSeconds: new(int64(60))}}
	actions = append([]action{{at: time.Second, kind: createPod, tolerations: bears}}, actions...)
	for i := range actions {
		actions[i].at += preface
	}
	return newWorld(&plan{
		seed: seed, nodes: nodes, replicas: replicas, shards: 1, workers: 2, method: policy.Delete,
		lag: time.Millisecond, turmoil: 2 * time.Minute, actions: actions, ahead: make([]time.Duration, replicas),
		files: []file{{0, compiled(c, false)}},
	}, Options{Policies: len(c.Guards.Breakers) > 0})
}

func gpu() v1.Taint { return v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute} }

// runTo runs the world up to that time, and requires that no promise is broken.
func (w *World) runTo(t *testing.T, at time.Duration) *World {
	t.Helper()
	if w.until(preface + at); w.err != nil {
		t.Fatalf("seed %d: %v", w.plan.seed, w.err)
	}
	return w
}

// starts returns the recorded starts of the taint of node n0.
func (w *World) starts(t *testing.T) (starts []time.Time) {
	t.Helper()
	number := journal.PartitionOf(nodeName(0))
	p, _, err := journal.Decode(number, w.server.objects[number].Data)
	if err != nil {
		t.Fatal(err)
	}
	for _, states := range p.Records[nodeName(0)].Taints {
		starts = append(starts, states[0].Start)
	}
	return starts
}

// The leader writes heartbeats, but its watch of nodes delivers nothing. Meanwhile the taint is lifted and set again.
func TestALeaderThatHeartbeatsWithoutItsNodeWatchAndDies(t *testing.T) {
	waited := 0
	for seed := range uint64(20) {
		w := aWorld(seed, 1, 1, policy.Config{},
			action{at: 2 * time.Second, kind: setTaint, taint: gpu()},
			action{at: 4 * time.Second, kind: stallWatch, lasts: time.Hour},
			action{at: 10 * time.Second, kind: flap, taint: gpu(), lasts: 10 * time.Second},
			action{at: 50 * time.Second, kind: kill, lasts: time.Second},
		).runTo(t, 40*time.Second)
		state, err := journal.DecodeState(w.server.objects[journal.StateObject].Data)
		if err != nil || state.Written.Before(epoch().Add(preface+20*time.Second)) || state.Watched.After(epoch().Add(preface+5*time.Second)) {
			t.Fatalf("seed %d: the state is of %v, and was watched until %v (%v)", seed, state.Written, state.Watched, err)
		}
		w.runTo(t, 100*time.Second)
		waited += w.oracle.Seen["Renewed"]
	}
	if waited == 0 {
		t.Error("managedFields have made no start later")
	}
}

// The breaker has tripped, and was not reset by hand, although few enough nodes are affected again.
func TestAReadThatFailsForLongerThanTenSecondsWithABreakerTrippedByHand(t *testing.T) {
	b := policy.Breaker{
		Name: "outage", Taints: []policy.TaintKey{{Key: "gpu"}}, MaxNodes: intstr.FromInt32(1), MinNodes: new(int32(1)),
		Reset: policy.Manual, Settle: &metav1.Duration{},
	}
	w := aWorld(1, 3, 1, policy.Config{Method: policy.Delete, Guards: policy.Guards{Breakers: []policy.Breaker{b}}},
		action{at: 2 * time.Second, kind: setTaint, taint: gpu()},
		action{at: 2 * time.Second, kind: setTaint, node: 1, taint: gpu()},
		action{at: 20 * time.Second, kind: liftTaint, node: 1, taint: gpu()},
		action{at: 40 * time.Second, kind: journalBroken, lasts: time.Minute},
		action{at: 40 * time.Second, kind: kill, lasts: time.Second},
	).runTo(t, 95*time.Second)
	if w.counts["Trips"] == 0 || w.processes[0].keeper.began == false {
		t.Fatalf("the breaker has tripped %d times; the new leader has begun: %t", w.counts["Trips"], w.processes[0].keeper.began)
	}
	if w.runTo(t, 3*time.Minute); w.counts["Evicted"] > 0 {
		t.Errorf("%d pods were evicted while the breaker was tripped", w.counts["Evicted"])
	}
}

func TestAConfigurationThatCantBePublishedIsInNobodysWay(t *testing.T) {
	w := aWorld(1, 1, 1, policy.Config{}, action{at: 2 * time.Second, kind: setTaint, taint: gpu()})
	w.server.forbids = func(object int) bool { return object == journal.StateObject }
	if w.runTo(t, 2*time.Minute); w.counts["Evicted"] != 1 {
		t.Errorf("%d pods were evicted", w.counts["Evicted"])
	}
}

// Each term finds the taint in a list, and takes its start from the record.
func TestTwoAPIServersWhoseClocksDifferBy30Seconds(t *testing.T) {
	for _, apart := range []time.Duration{30 * time.Second, -30 * time.Second} {
		spans := 0
		for seed := range uint64(20) {
			w := aWorld(seed, 1, 1, policy.Config{},
				action{at: 2 * time.Second, kind: setTaint, taint: gpu()},
				action{at: 20 * time.Second, kind: kill, lasts: time.Second},
				action{at: 40 * time.Second, kind: kill, lasts: time.Second},
			)
			w.plan.apart, w.oracle.Apart = apart, apart.Abs()
			before := w.runTo(t, 15*time.Second).starts(t)
			after := w.runTo(t, 60*time.Second).starts(t)
			if len(before) != 1 || len(after) != 1 || !before[0].Equal(after[0]) {
				t.Errorf("%v apart, seed %d: recorded was %v, and then %v", apart, seed, before, after)
			}
			if least, most := w.processes[0].skew.Ahead(w.processes[0].Now()); most-least > 20*time.Second {
				spans++
			}
			if w.runTo(t, 4*time.Minute); w.counts["Evicted"] != 1 {
				t.Errorf("%v apart, seed %d: %d pods were evicted", apart, seed, w.counts["Evicted"])
			}
		}
		if spans == 0 {
			t.Errorf("%v apart: no process has seen both clocks", apart)
		}
	}
}

// One of the two has seen the taint appear, and the other one has found it.
func TestTenTermsInARowMoveNoStart(t *testing.T) {
	actions := []action{
		{at: 1500 * time.Millisecond, kind: kill, replica: 1, lasts: 4 * time.Second},
		{at: 2 * time.Second, kind: setTaint, taint: gpu()},
	}
	for term := range 20 {
		for replica := range 2 {
			actions = append(actions, action{at: time.Duration(10+2*term) * time.Second, kind: handOver, replica: replica})
			if term%4 == 0 { // the next leader finds the taint in a list
				actions = append(actions, action{at: time.Duration(11+2*term) * time.Second, kind: forgetWatch, replica: replica, lasts: time.Millisecond})
			}
		}
	}
	for seed := range uint64(10) {
		w := aWorld(seed, 1, 2, policy.Config{}, actions...).runTo(t, 8*time.Second)
		before := w.starts(t)
		after := w.runTo(t, 60*time.Second).starts(t)
		if len(before) != 1 || len(after) != 1 || !before[0].Equal(after[0]) {
			t.Errorf("seed %d: recorded was %v, and then %v", seed, before, after)
		}
		if w.runTo(t, 2*time.Minute); w.counts["Evicted"] != 1 {
			t.Errorf("seed %d: %d pods were evicted", seed, w.counts["Evicted"])
		}
	}
}
