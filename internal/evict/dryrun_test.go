package evict

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestADryRunLogsTheDecisionIfThePodIsStillToGoByTheCache(t *testing.T) {
	twenty, soon := int64(20), []v1.Toleration{{Operator: v1.TolerationOpExists, TolerationSeconds: new(int64(60))}}
	drain := onKey("drain", "maintenance", policy.Delete)
	drain.GracePeriod = &policy.GracePeriod{Max: *after(20 * time.Second)}
	for name, c := range map[string]struct {
		change func(c *cached, p *policy.Policy, f *policy.Facts)
		want   string // part of the reason; empty: it is logged
	}{
		"the pod is to go":                    {func(*cached, *policy.Policy, *policy.Facts) {}, ""},
		"the taint was lifted":                {func(c *cached, _ *policy.Policy, _ *policy.Facts) { c.node.Taints = nil }, "the verdict has changed"},
		"the pod tolerates it for a minute":   {func(c *cached, _ *policy.Policy, _ *policy.Facts) { c.pods[uid].Tolerations = soon }, "the verdict has changed"},
		"the pod is gone":                     {func(c *cached, _ *policy.Policy, _ *policy.Facts) { delete(c.pods, uid) }, "is gone"},
		"the node is gone":                    {func(c *cached, _ *policy.Policy, _ *policy.Facts) { c.node = nil }, "is gone"},
		"all evictions are paused":            {func(_ *cached, _ *policy.Policy, f *policy.Facts) { f.Paused = true }, "paused"},
		"the policy holds it by now":          {func(_ *cached, p *policy.Policy, _ *policy.Facts) { p.Method, p.GracePeriod = policy.Hold, nil }, "is held by"},
		"the policy has another grace period": {func(_ *cached, p *policy.Policy, _ *policy.Facts) { p.GracePeriod.Max = *after(time.Second) }, "in another way"},
		"the policy has no grace period":      {func(_ *cached, p *policy.Policy, _ *policy.Facts) { p.GracePeriod = nil }, "in another way"},
		"another policy decides":              {func(_ *cached, p *policy.Policy, _ *policy.Facts) { p.Name = "other" }, "in another way"},
	} {
		synctest.Test(t, func(t *testing.T) {
			e, p := someRequest(), drain
			p.GracePeriod = &policy.GracePeriod{Max: drain.GracePeriod.Max}
			e.Method, e.Policy, e.GracePeriodSeconds = policy.Delete, "drain", &twenty
			cache := &cached{pods: map[types.UID]*taint.Pod{uid: e.Pod}}
			cache.node = &taint.Node{Name: "n1", Taints: []taint.History{{{Taint: *e.Verdict.Taint, Since: time.Now()}}}}
			facts := &policy.Facts{}
			c.change(cache, &p, facts)
			set, problems := policy.Compile(policy.Config{Policies: []policy.Policy{p}})
			if len(problems) > 0 {
				t.Fatal(problems)
			}
			var line string
			log := funcr.New(func(_, args string) { line += args }, funcr.Options{})
			d := DryRunEvictor{Reader: cache, Judge: func() policy.Judge { return policy.Judge{Set: set, Facts: facts} }}
			o := d.Evict(klog.NewContext(t.Context(), log), e)
			if c.want != "" {
				if o.Kind != eviction.Unconfirmed || o.MayHaveDeleted() || !contains(o.Message, c.want) || line != "" {
					t.Errorf("%s: got %+v and log %q, want unconfirmed, as %q", name, o, line, c.want)
				}
				return
			}
			for _, part := range []string{"would evict", `"name"="web-0"`, `"namespace"="shop"`, uid, "maintenance:NoExecute", "deadline"} {
				if o.Kind != eviction.DryRun || !contains(line, part) {
					t.Errorf("%s: got %+v and log %s, want %q in it", name, o, line, part)
				}
			}
		})
	}
}
