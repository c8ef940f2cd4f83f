package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// A list after a gap has shown unreachable. Then not-ready replaces unreachable, and continues its exposure.
func TestTheMomentOfAListStaysWhileAStateHasTheKeyOfItsTaint(t *testing.T) {
	list := time.Unix(1000, 0)
	state := func(key string, ended bool) taint.State {
		return taint.State{Taint: v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}, Ended: ended}
	}
	found := &taint.Node{
		UID: "n", Taints: []taint.History{{state(v1.TaintNodeUnreachable, false)}},
		Found: map[string]time.Time{v1.TaintNodeUnreachable: list},
	}
	swapped := &taint.Node{UID: "n", Taints: []taint.History{{state(v1.TaintNodeUnreachable, true), state(v1.TaintNodeNotReady, false)}}}
	lifted := &taint.Node{UID: "n", Taints: []taint.History{{state("other", false)}}}
	replaced := &taint.Node{UID: "another", Taints: swapped.Taints}
	for _, row := range []struct {
		name string
		now  *taint.Node
		want time.Time
	}{
		{"the same taint", found, list},
		{"another taint of the same exposure", swapped, list},
		{"no state of the taint", lifted, time.Time{}},
		{"another node of the name", replaced, time.Time{}},
	} {
		t.Run(row.name, func(t *testing.T) {
			got := foundKeys(found, row.now, gap{}, time.Now)
			if at := got[v1.TaintNodeUnreachable]; !at.Equal(row.want) {
				t.Errorf("found at %v, want %v", at, row.want)
			}
		})
	}
}
