package evict

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// judged is what a call is confirmed by: pod "web" on node "n1", whose GET was sent a minute after all of its taints
// were set.
type judged struct {
	config policy.Config
	facts  policy.Facts

	sent         policy.Sent
	refusedSince time.Time
	pod          *taint.Pod
	node         *taint.Node
	live         LiveNode
}

func TestALiveNodeHasTheLabelsAndWhetherItIsUnschedulable(t *testing.T) {
	sent := time.Now()
	node := &v1.Node{
		ObjectMeta: metav1.ObjectMeta{UID: "u", ResourceVersion: "7", Labels: map[string]string{"zone": "a"}},
		Spec:       v1.NodeSpec{Unschedulable: true, Taints: []v1.Taint{{Key: "k"}}},
	}
	got := NewLiveNode(node, sent)
	if got.Labels["zone"] != "a" || !got.Unschedulable || got.UID != "u" || got.ResourceVersion != "7" || !got.Sent.Equal(sent) || len(got.Taints) != 1 {
		t.Errorf("got %+v", got)
	}
}

var tainted = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// newJudged has these taints in the cache and at the API server.
func newJudged(taints ...v1.Taint) *judged {
	j := &judged{
		pod:  &taint.Pod{UID: "web", Name: "web", Node: "n1"},
		node: &taint.Node{Name: "n1", UID: "u"},
		live: LiveNode{Sent: tainted.Add(time.Minute), UID: "u", Taints: taints},
		sent: policy.Sent{TaintKey: taints[0].Key},
	}
	for _, on := range taints {
		history := taint.History{{Taint: on, Since: tainted}}
		if on.Effect == v1.TaintEffectNoSchedule {
			j.node.Triggers = append(j.node.Triggers, history)
		} else {
			j.node.Taints = append(j.node.Taints, history)
		}
	}
	return j
}

func (j *judged) why(t *testing.T) string {
	t.Helper()
	set, problems := policy.Compile(j.config)
	if len(problems) > 0 {
		t.Fatal(problems)
	}
	return WhyUnconfirmed(policy.Judge{Set: set, Facts: &j.facts}, &eviction.Request{
		Method: j.sent.Method, Policy: j.sent.Policy, GracePeriodSeconds: j.sent.GracePeriodSeconds, RefusedSince: j.refusedSince,
		Verdict: taint.Verdict{Taint: &v1.Taint{Key: j.sent.TaintKey}},
	}, j.pod, j.node, j.live, "")
}

func noExecute(key string) v1.Taint { return v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute} }

func onKey(name, key string, m policy.Method) policy.Policy {
	return policy.Policy{Name: name, Method: m, Match: policy.Match{Taints: []policy.Taint{{Key: key}}}}
}

func after(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// drained asks pods to leave nodes with the taint, and deletes them after that time.
func drained(deleteAfter time.Duration) []policy.Policy {
	p := onKey("drain", "key", policy.Evict)
	p.DeleteAfter = after(deleteAfter)
	return []policy.Policy{p}
}

func TestACallIsConfirmedIfItsActionIsDue(t *testing.T) {
	const held, later = "is held by", "to be evicted from node n1 at"
	bothTaints := func() *judged {
		j := newJudged(noExecute("key"), noExecute("dead"))
		j.config.Policies = []policy.Policy{onKey("drain", "key", policy.Evict)}
		return j
	}
	with := func(method policy.Method, change func(j *judged)) *judged {
		j := newJudged(noExecute("key"))
		j.sent.Method = method
		change(j)
		return j
	}
	for name, c := range map[string]struct {
		j    *judged
		want string // part of the reason; empty: confirmed
	}{
		"without policies":                        {with("", func(*judged) {}), ""},
		"a DELETE without policies":               {with(policy.Delete, func(*judged) {}), ""},
		"an eviction by the default method":       {with(policy.Evict, func(j *judged) { j.config.Method = policy.Evict }), ""},
		"a DELETE, where only an eviction is due": {with(policy.Delete, func(j *judged) { j.config.Method = policy.Evict }), later},
		"an eviction before deleteAfter":          {with(policy.Evict, func(j *judged) { j.config.Policies, j.sent.Policy = drained(time.Hour), "drain" }), ""},
		"a DELETE before deleteAfter":             {with(policy.Delete, func(j *judged) { j.config.Policies, j.sent.Policy = drained(time.Hour), "drain" }), "at 2026-01-01T01:00:00"},
		"a DELETE after deleteAfter": {with(policy.Delete, func(j *judged) {
			j.config.Policies, j.sent.Policy, j.refusedSince = drained(time.Minute), "drain", tainted
		}), ""},
		"a DELETE after deleteAfter, whose refusal is too recent for the policies of now": {with(policy.Delete, func(j *judged) {
			j.config.Policies, j.sent.Policy, j.refusedSince = drained(time.Minute), "drain", tainted.Add(time.Second)
		}), "verdict has changed"},
		"a DELETE after deleteAfter, without a refused eviction": {with(policy.Delete, func(j *judged) { j.config.Policies, j.sent.Policy = drained(time.Minute), "drain" }), "verdict has changed"},
		"a DELETE because of another taint, without a refused eviction": {func() *judged {
			j := bothTaints()
			j.config.Policies = drained(time.Minute)
			j.sent = policy.Sent{Method: policy.Delete, TaintKey: "dead"}
			return j
		}(), ""},
		"a DELETE because of another taint that is gone from the node, without a refused eviction": {func() *judged {
			j := bothTaints()
			j.config.Policies = drained(time.Minute)
			j.sent, j.live.Taints = policy.Sent{Method: policy.Delete, TaintKey: "dead"}, j.live.Taints[:1]
			return j
		}(), "does not have the taint dead"},
		"an eviction, where the method is Delete by now": {with(policy.Evict, func(*judged) {}), "verdict has changed"},
		"the eviction of one that is to be deleted":      {with(policy.Evict, func(j *judged) { j.config.Policies, j.sent.Policy = drained(time.Minute), "drain" }), ""},
		"a policy holds it by now": {with(policy.Evict, func(j *judged) {
			j.config.Policies = []policy.Policy{onKey("quarantine", "key", policy.Hold)}
		}), held + " policy quarantine"},
		"a policy ignores the taint by now": {with(policy.Delete, func(j *judged) {
			j.config.Policies = []policy.Policy{onKey("harmless", "key", policy.Ignore)}
		}), "stays on node n1"},
		"the breaker tripped": {with(policy.Delete, func(j *judged) {
			j.config.Guards.Breakers = []policy.Breaker{zones()}
			j.facts.Tripped = map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}
			j.node.Labels = map[string]string{"zone": "a"}
			j.live.Labels = j.node.Labels
		}), held + " breaker zones (a)"},
		"evictions are paused": {with(policy.Delete, func(j *judged) { j.facts.Paused = true }), "all evictions are paused"},
		"an eviction, whose taint is gone from the node, where a DELETE is due by another taint": {func() *judged {
			j := bothTaints()
			j.sent, j.live.Taints = policy.Sent{Method: policy.Evict, Policy: "drain", TaintKey: "key"}, j.live.Taints[1:]
			return j
		}(), "verdict has changed"},
		"an eviction, where the taint of the DELETE is gone from the node": {func() *judged {
			j := bothTaints()
			j.sent, j.live.Taints = policy.Sent{Method: policy.Evict, Policy: "drain", TaintKey: "key"}, j.live.Taints[:1]
			return j
		}(), "verdict has changed"},
		"a DELETE whose taint is gone from the node, where an eviction is due by another taint": {func() *judged {
			j := bothTaints()
			j.sent, j.live.Taints = policy.Sent{Method: policy.Delete, TaintKey: "dead"}, j.live.Taints[:1]
			return j
		}(), "does not have the taint dead"},
		"a pod that was edited after the GET": {with(policy.Delete, func(j *judged) { j.pod.Seen = j.live.Sent.Add(1) }), "the pod has changed since the GET of node n1"},
		"a node of another UID":               {with(policy.Delete, func(j *judged) { j.live.UID = "v" }), "was replaced"},
	} {
		wantReason(t, name, c.j, c.want)
	}
}

func wantReason(t *testing.T, name string, j *judged, want string) {
	t.Helper()
	if got := j.why(t); (got == "") != (want == "") || !contains(got, want) {
		t.Errorf("%s: got %q, want %q", name, got, want)
	}
}

// zones is a breaker over the values of the label zone.
func zones() policy.Breaker {
	return policy.Breaker{Name: "zones", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "key"}}, MaxNodes: intstr.FromString("50%")}
}

// The cache may show labels that are older or later than those of the GET: both must permit the call.
func TestACallIsConfirmedByTheLabelsOfTheCacheAndOfTheLiveNode(t *testing.T) {
	onPool := onKey("pool", "key", policy.Hold)
	onPool.Match.NodeSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "held"}}
	tripped := map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}
	held, free := map[string]string{"pool": "held", "zone": "a"}, map[string]string{"pool": "free", "zone": "b"}
	for name, c := range map[string]struct {
		cached, live map[string]string
		want         string
	}{
		"both free":            {free, free, ""},
		"both held":            {held, held, "is held by"},
		"the cache holds it":   {held, free, "is held by"},
		"the live node does":   {free, held, "by the labels that node n1 has now: the verdict has changed: the pod is held by"},
		"the cache has none":   {nil, held, "by the labels that node n1 has now"},
		"the node has lost it": {held, nil, "is held by"},
	} {
		by := newJudged(noExecute("key"))
		by.node.Labels, by.live.Labels = c.cached, c.live
		by.config.Policies = []policy.Policy{onPool}
		wantReason(t, name+", by a policy", by, c.want)
		by.config = policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{zones()}}}
		by.facts.Tripped = tripped
		wantReason(t, name+", by a breaker", by, c.want)
		if by.node.Labels["zone"] != c.cached["zone"] {
			t.Errorf("%s: the cache's node was changed", name)
		}
	}
}

func TestANoScheduleTriggerMustBeOnTheLiveNode(t *testing.T) {
	trigger := func(key string) *judged {
		on := v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule}
		j := newJudged(on)
		p := onKey("drain", key, policy.Evict)
		p.Match.Taints[0].Effects = []v1.TaintEffect{v1.TaintEffectNoSchedule}
		p.Match.OwnerKinds = []string{"None"}
		p.Tolerations = &policy.Tolerations{Absent: after(0)}
		j.config.Policies = []policy.Policy{p}
		j.sent.Method, j.sent.Policy = policy.Evict, "drain"
		return j
	}
	wantReason(t, "it is there", trigger("key"), "")
	gone := trigger("key")
	gone.live.Taints = nil
	wantReason(t, "it is gone", gone, "does not have the taint key:NoSchedule")
	execute := trigger("key")
	execute.live.Taints = []v1.Taint{noExecute("key")}
	wantReason(t, "it has another effect", execute, "does not have the taint key:NoSchedule")

	wantReason(t, "uncordoned", trigger(v1.TaintNodeUnschedulable), "node n1 is schedulable again")
	cordoned := trigger(v1.TaintNodeUnschedulable)
	cordoned.live.Unschedulable = true
	wantReason(t, "cordoned", cordoned, "")
	own := newJudged(noExecute(v1.TaintNodeUnschedulable))
	wantReason(t, "a NoExecute taint of that key is somebody's own", own, "")
}
