package status

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAWorkloadThatComesBackToItsNodeForTheThirdTimeIsSaid(t *testing.T) {
	zero := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	bound := func(second int, change ...func(*taint.Pod)) *taint.Pod {
		p := &taint.Pod{Namespace: "ns", Name: "a", Node: "n", Bound: zero.Add(time.Duration(second) * time.Second), Controller: &taint.Owner{Kind: "DaemonSet", Name: "agent"}}
		for _, c := range change {
			c(p)
		}
		return p
	}
	verdict := func(key string) taint.Verdict {
		return taint.Verdict{Evict: true, Node: "n", Taint: &v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}}
	}
	gone := func(p *taint.Pod, after int) PastEviction {
		return PastEviction{Pod: p, Verdict: verdict("gpu"), At: p.Bound.Add(time.Duration(after) * time.Second)}
	}
	other := func(p *taint.Pod) { p.Controller = &taint.Owner{Kind: "ReplicaSet", Name: "b"} }
	nobody := func(p *taint.Pod) { p.Controller = nil }
	for _, test := range []struct {
		name string
		past []PastEviction
		pod  *taint.Pod
		key  string
		want int
	}{
		{"the third time", []PastEviction{gone(bound(0), 5), gone(bound(6), 5)}, bound(12), "gpu", 2},
		{"the fourth time", []PastEviction{gone(bound(0), 5), gone(bound(6), 5), gone(bound(12), 5)}, bound(18), "gpu", 3},
		{"the second time", []PastEviction{gone(bound(0), 5)}, bound(6), "gpu", 0},
		{"three that were there together", []PastEviction{gone(bound(0), 5), gone(bound(0), 6)}, bound(0), "gpu", 0},
		{"one round of two, and another", []PastEviction{gone(bound(0), 5), gone(bound(0), 6), gone(bound(7), 5)}, bound(13), "gpu", 2},
		{"one that has been there since the second", []PastEviction{gone(bound(0), 5), gone(bound(6), 5)}, bound(6), "gpu", 0},
		{"another taint", []PastEviction{gone(bound(0), 5), gone(bound(6), 5)}, bound(12), "disk", 0},
		{"another workload", []PastEviction{gone(bound(0), 5), gone(bound(6), 5)}, bound(12, other), "gpu", 0},
		{"pods without a controller", []PastEviction{gone(bound(0, nobody), 5), gone(bound(6, nobody), 5)}, bound(12, nobody), "gpu", 0},
	} {
		v := &eviction.View{Pod: test.pod, Verdict: verdict(test.key)}
		markReturned([]*eviction.View{v}, test.past)
		if v.Returned != test.want {
			t.Errorf("%s: %d, want %d", test.name, v.Returned, test.want)
		}
	}
	v := &eviction.View{Pod: bound(12), Verdict: verdict("gpu"), Returned: 2}
	const want = "taint gpu:NoExecute (countdown started at 0001-01-01T00:00:00Z) is not tolerated; a pod of agent comes back to this node again and again: 2 evictions within the last hour"
	if got := v.Because(); got != want {
		t.Errorf("got %s", got)
	}
}
