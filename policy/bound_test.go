package policy_test

import (
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// bounds are the lines of the golden file, each with a change to a policy that has a bound.
var bounds = []struct {
	name   string
	change func(p *policy.Policy, g *policy.Guards)
}{
	{"Evict", func(*policy.Policy, *policy.Guards) {}},
	{"Delete", func(p *policy.Policy, _ *policy.Guards) { p.Method, p.DeleteAfter = policy.Delete, nil }},
	{"it audits", func(p *policy.Policy, _ *policy.Guards) { p.Mode = policy.Audit }},
	{"Hold", func(p *policy.Policy, _ *policy.Guards) { p.Method = policy.Hold }},
	{"Ignore", func(p *policy.Policy, _ *policy.Guards) { p.Method = policy.Ignore }},
	{"no deleteAfter", func(p *policy.Policy, _ *policy.Guards) { p.DeleteAfter = nil }},
	{"no tolerations", func(p *policy.Policy, _ *policy.Guards) { p.Tolerations = nil }},
	{"no unlimited", func(p *policy.Policy, _ *policy.Guards) { p.Tolerations.Unlimited = nil }},
	{"no max", func(p *policy.Policy, _ *policy.Guards) { p.Tolerations.Max = nil }},
	{"absent is the longest", func(p *policy.Policy, _ *policy.Guards) { p.Tolerations.Absent = after(time.Hour) }},
	{"at once", func(p *policy.Policy, _ *policy.Guards) {
		p.Tolerations = &policy.Tolerations{Max: after(0), Unlimited: after(0)}
	}},
	{"no gracePeriod", func(p *policy.Policy, _ *policy.Guards) { p.GracePeriod = nil }},
	{"odd times", func(p *policy.Policy, _ *policy.Guards) {
		p.DeleteAfter, p.GracePeriod.Max = after(90*time.Second), *after(10 * time.Second)
	}},
	{"deleteAfter is as long as a webhook may fail", func(p *policy.Policy, _ *policy.Guards) { p.DeleteAfter = after(7 * time.Minute) }},
	{"deleteAfter is shorter", func(p *policy.Policy, _ *policy.Guards) { p.DeleteAfter = after(6 * time.Minute) }},
	{"a node that does not respond", func(p *policy.Policy, _ *policy.Guards) { p.Match.Taints[0].Key = v1.TaintNodeUnreachable }},
	{"a breaker that settles", func(_ *policy.Policy, g *policy.Guards) {
		g.Breakers = []policy.Breaker{{Name: "b", Taints: []policy.TaintKey{{Key: "example.com/maintenance"}}, Settle: after(time.Hour)}}
	}},
	{"a breaker of another taint", func(_ *policy.Policy, g *policy.Guards) {
		g.Breakers = []policy.Breaker{{Name: "b", Taints: []policy.TaintKey{{Key: "other"}}, Settle: after(time.Hour)}}
	}},
	{"any taint", func(p *policy.Policy, _ *policy.Guards) { p.Match.Taints = nil }},
	{"a prefix", func(p *policy.Policy, _ *policy.Guards) {
		p.Match.Taints = []policy.Taint{{KeyPrefix: "node.kubernetes.io/"}}
	}},
	{"any owner and NoSchedule", func(p *policy.Policy, _ *policy.Guards) { p.Match.OwnerKinds = nil }},
	{"any owner and NoExecute", func(p *policy.Policy, _ *policy.Guards) {
		p.Match.OwnerKinds, p.Match.Taints[0].Effects = nil, nil
	}},
	{"any priority", func(p *policy.Policy, _ *policy.Guards) { p.Match.Priority = nil }},
	{"critical priorities", func(p *policy.Policy, _ *policy.Guards) { p.Match.Priority = &policy.PriorityRange{Min: number(2e9)} }},
	{"an open range of priorities, and any owner", func(p *policy.Policy, _ *policy.Guards) {
		p.Match.Priority, p.Match.OwnerKinds, p.Match.Taints = &policy.PriorityRange{Min: number(0)}, nil, nil
	}},
}

// maintenance returns the policy of the examples.
func maintenance() policy.Policy {
	return policy.Policy{
		Name: "maintenance", Method: policy.Evict, DeleteAfter: after(90 * time.Minute),
		Match: policy.Match{
			Taints:     []policy.Taint{{Key: "example.com/maintenance", Effects: noSchedule}},
			OwnerKinds: []string{"StatefulSet"}, Priority: &policy.PriorityRange{Min: number(0), Max: number(1e9)},
		},
		Tolerations: &policy.Tolerations{Absent: after(time.Minute), Min: after(30 * time.Second), Max: after(20 * time.Minute), Unlimited: after(20 * time.Minute)},
		GracePeriod: &policy.GracePeriod{Max: *after(8 * time.Minute)},
	}
}

func TestTheBoundOfAPolicyReadsAsTheGoldenFileHasIt(t *testing.T) {
	var got strings.Builder
	for _, b := range bounds {
		p, g := maintenance(), policy.Guards{}
		b.change(&p, &g)
		fmt.Fprintf(&got, "%s:\n\t%s\n", b.name, p.Bound(g))
	}
	path := filepath.Join("testdata", "bounds.golden")
	if *update {
		if err := os.WriteFile(path, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(string(want), got.String()); diff != "" {
		t.Errorf("%s is not current, run go test ./policy -update (-want +got):\n%s", path, diff)
	}
}

// No pod that the policy decides is evicted later than its bound, whatever the pod tolerates.
func TestTheBoundHoldsForEveryPod(t *testing.T) {
	p := maintenance()
	p.Match.Taints, p.Match.OwnerKinds, p.Match.Priority = taints(policy.Taint{Key: "a", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule, v1.TaintEffectNoExecute}}).Taints, []string{"DaemonSet", "StatefulSet", "Job", "None"}, &policy.PriorityRange{Max: number(2147483647)}
	if got := p.Bound(policy.Guards{}); !strings.HasPrefix(got, "eviction is requested within 20m of the taint; if it is refused, the pod is deleted within 1h50m of the taint and gone within 1h58m of it; pauses") {
		t.Fatal(got)
	}
	set := compiled(t, policies(p))
	rapid.Check(t, func(rt *rapid.T) {
		pod, node := drawPod(rt), nodeWith(on(100, "a", ""))
		if rapid.Bool().Draw(rt, "drain") {
			node = draining(100, "a", "")
		}
		if taint.NeverEvicted(pod) != 0 {
			return
		}
		v := set.Decide(pod, node, nil)
		start := max(100, pod.Bound.Unix()-zero.Unix())
		if !v.Request.Evict || v.Request.At.After(at(start).Add(20*time.Minute)) || !v.Delete.Evict || v.Delete.At.After(at(start).Add(110*time.Minute)) {
			rt.Fatalf("got %+v", v)
		}
	})
}
