package taint_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/taint"
)

// threeTaintsSixTolerations returns a typical pod on a node with problems.
func threeTaintsSixTolerations() (*taint.Pod, *taint.Node) {
	p := pod(
		exists(v1.TaintNodeDiskPressure, nil), equal("dedicated", "web", nil), equal("dedicated", "gpu", seconds(60)),
		compare(v1.TolerationOpLt, "90", seconds(30)),
		exists(v1.TaintNodeNotReady, seconds(300)), exists(v1.TaintNodeUnreachable, seconds(300)),
	)
	n := node(
		on(0, "dedicated", "gpu"), on(1, "load", "80"),
		states(past(2, v1.TaintNodeNotReady, ""), state(3, v1.TaintNodeUnreachable, "")),
	)
	return p, n
}

func BenchmarkDecideThreeTaintsSixTolerations(b *testing.B) {
	p, n := threeTaintsSixTolerations()
	b.ReportAllocs()
	for b.Loop() {
		if v := taint.Decide(p, n, taint.Rules{}); !v.Evict {
			b.Fatal(v)
		}
	}
}

func TestDecideAllocatesNothing(t *testing.T) {
	p, n := threeTaintsSixTolerations()
	if got := testing.AllocsPerRun(100, func() { taint.Decide(p, n, taint.Rules{}) }); got != 0 {
		t.Errorf("got %v allocations, want none", got)
	}
}
