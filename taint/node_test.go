package taint_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/taint"
)

func TestATimeAddedOfZeroIsNone(t *testing.T) {
	zero, added := &metav1.Time{}, &metav1.Time{Time: time.Unix(1e9, 0)}
	given := []v1.Taint{{Key: "none"}, {Key: "zero", TimeAdded: zero}, {Key: "added", TimeAdded: added}}
	want := []v1.Taint{{Key: "none"}, {Key: "zero"}, {Key: "added", TimeAdded: added}}
	if diff := cmp.Diff(want, taint.Normalize(given)); diff != "" {
		t.Error(diff)
	}
	if given[1].TimeAdded != zero {
		t.Error("the taints given were changed: a caller may share them")
	}
}

func TestTaintsWithoutATimeAddedOfZeroAreNotCopied(t *testing.T) {
	given := []v1.Taint{{Key: "none"}, {Key: "added", TimeAdded: &metav1.Time{Time: time.Unix(1e9, 0)}}}
	if n := testing.AllocsPerRun(10, func() { taint.Normalize(given) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}

func TestANodeWithoutATaintKeepsTheExposuresToOthers(t *testing.T) {
	state := func(key string, second int64) taint.State {
		return taint.State{Taint: v1.Taint{Key: key}, Since: time.Unix(second, 0)}
	}
	ended := func(s taint.State) taint.State { s.Ended = true; return s }
	unreachable, notReady := state("unreachable", 1), state("not-ready", 2)
	given := func() *taint.Node {
		return &taint.Node{Name: "n", Taints: []taint.History{{unreachable, notReady}, {state("gpu", 3)}}, Triggers: []taint.History{{state("gpu", 4)}, {state("disk", 5)}}}
	}
	for key, want := range map[string]taint.Node{
		"unreachable": {Taints: []taint.History{{ended(unreachable), notReady}, {state("gpu", 3)}}, Triggers: given().Triggers},
		"gpu":         {Taints: []taint.History{{unreachable, notReady}, {ended(state("gpu", 3))}}, Triggers: []taint.History{{ended(state("gpu", 4))}, {state("disk", 5)}}},
		"others":      *given(),
	} {
		want.Name = "n"
		node := given()
		if diff := cmp.Diff(&want, node.Without(key)); diff != "" {
			t.Errorf("without %s: %s", key, diff)
		}
		if diff := cmp.Diff(given(), node); diff != "" {
			t.Errorf("the node given was changed: %s", diff)
		}
	}
}
