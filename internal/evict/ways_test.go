package evict

import (
	"fmt"
	"testing"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// drawOffered returns a judge, a pod on a node with one to three taints, and what earlier calls for the pod have met.
func drawOffered(t *rapid.T) (policy.Judge, *judged, policy.Calls) {
	seconds := func(label string, least, most int) time.Duration {
		return time.Duration(rapid.IntRange(least, most).Draw(t, label)) * time.Second
	}
	keys := []string{"a", "b", "c"}[:rapid.IntRange(1, 3).Draw(t, "taints")]
	j := newJudged(noExecute("a"))
	j.node.Taints, j.live.Taints = nil, nil
	j.live.Sent = tainted.Add(seconds("looks at", 0, 300))
	for _, key := range keys {
		since := tainted.Add(seconds("since", 0, 60))
		j.node.Taints = append(j.node.Taints, taint.History{{Taint: noExecute(key), Since: since}})
		j.live.Taints = append(j.live.Taints, noExecute(key))
	}
	j.config.Method = rapid.SampledFrom([]policy.Method{policy.Delete, policy.Evict, policy.Ignore}).Draw(t, "method")
	for _, key := range keys {
		if !rapid.Bool().Draw(t, "has a policy") {
			continue
		}
		methods := []policy.Method{policy.Delete, policy.Evict, policy.Evict, policy.Hold, policy.Ignore}
		p := onKey(fmt.Sprint("policy-", key), key, rapid.SampledFrom(methods).Draw(t, "method of "+key))
		if p.Method == policy.Evict && rapid.Bool().Draw(t, "deletes") {
			p.DeleteAfter = after(seconds("deleteAfter", 1, 100))
		}
		if p.Method == policy.Delete || p.Method == policy.Evict {
			p.GracePeriod = &policy.GracePeriod{Max: metav1.Duration{Duration: seconds("grace", 1, 60)}}
			p.Tolerations = &policy.Tolerations{Absent: after(seconds("absent", 0, 100))}
		}
		j.config.Policies = append(j.config.Policies, p)
	}
	if rapid.IntRange(0, 3).Draw(t, "rates") > 0 {
		rate := policy.Rate{Name: "few", EvictionsPerSecond: 1, Burst: 1}
		j.config.Guards.Rates = []policy.Rate{rate}
	}
	set, problems := policy.Compile(j.config)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	var calls policy.Calls
	if rapid.Bool().Draw(t, "refused") {
		calls.RefusedSince = tainted.Add(seconds("refused since", 0, 300))
	}
	if rapid.Bool().Draw(t, "waits") { // a deletion never waits longer than a request
		calls.RequestNotBefore = tainted.Add(seconds("waits", 0, 300))
		if rapid.Bool().Draw(t, "deletion waits") {
			calls.DeleteNotBefore = calls.RequestNotBefore
		}
	}
	return policy.Judge{Set: set, Facts: &policy.Facts{}}, j, calls
}

func TestEachWayThatIsOfferedIsConfirmedIfNothingChanges(t *testing.T) {
	others := 0 // ways by another method than the first
	rapid.Check(t, func(t *rapid.T) {
		for range 30 {
			judge, j, calls := drawOffered(t)
			permits, _ := judge.Permits(j.pod, j.node, calls, j.live.Sent)
			for i := range permits {
				w := &permits[i]
				e := eviction.Request{
					Pod: j.pod, Verdict: w.Action.Verdict, Method: w.Method, Policy: w.Action.Policy,
					RefusedSince:       calls.RefusedSince,
					GracePeriodSeconds: policy.GracePeriodSeconds(nil, w.Action.GracePeriod),
				}
				if w.Method != permits[0].Method {
					others++
				}
				if why := WhyUnconfirmed(judge, &e, j.pod, j.node, j.live, ""); why != "" {
					t.Fatalf("way %d of %d, %s, is not confirmed: %s", i, len(permits), w, why)
				}
			}
		}
	})
	if others == 0 {
		t.Error("no pod had ways by two methods")
	}
}
