package policy_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// hour returns a policy that does not change how long pods may stay, and that deletes them an hour after that.
func hour(match policy.Match) policy.Policy {
	return policy.Policy{Method: policy.Evict, Match: match, DeleteAfter: secs(3600)}
}

// staying returns a policy that bounds how long pods may stay.
func staying(t policy.Tolerations) policy.Policy {
	return policy.Policy{Method: policy.Delete, Match: taints(policy.Taint{Key: "a", Effects: []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule}}), Tolerations: &t}
}

func only(method policy.Method, key string, values ...string) policy.Policy {
	return policy.Policy{Method: method, Match: taints(policy.Taint{Key: key, Values: values})}
}

// TestDecide lists the times of the eviction request and of the deletion, in seconds.
func TestDecide(t *testing.T) {
	daemon := aPod(tolerating("a", -1))
	ownedBy("DaemonSet")(daemon)
	criticalPod := aPod(tolerating("a", -1))
	criticalPod.Priority = 2e9
	named := staying(policy.Tolerations{Unlimited: secs(30), Absent: secs(0)})
	named.Match.OwnerKinds = []string{"DaemonSet"}
	namedPriority := staying(policy.Tolerations{Unlimited: secs(30), Absent: secs(0)})
	namedPriority.Match.Priority = &policy.PriorityRange{Max: number(2e9)}
	openPriority := staying(policy.Tolerations{Unlimited: secs(30), Absent: secs(0)})
	openPriority.Match.Priority = &policy.PriorityRange{Min: number(0)}
	asItStands := v1.Toleration{Key: "a", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}
	both := []v1.Toleration{asItStands, {Key: "a", Operator: v1.TolerationOpExists, TolerationSeconds: new(int64(7))}}
	reversed := []v1.Toleration{both[1], both[0]}

	for _, c := range []struct {
		name          string
		policies      []policy.Policy
		pod           *taint.Pod
		node          *taint.Node
		evict, delete int64
	}{
		{"Delete goes at the deadline", []policy.Policy{only(policy.Delete, "a")}, aPod(tolerating("a", 5)), nodeWith(on(10, "a", "")), never, 15},
		{"Evict is asked at the deadline", []policy.Policy{only(policy.Evict, "a")}, aPod(tolerating("a", 5)), nodeWith(on(10, "a", "")), 15, never},
		{"and deleted after deleteAfter", []policy.Policy{hour(policy.Match{})}, aPod(tolerating("a", 5)), nodeWith(on(10, "a", "")), 15, 3615},
		{"Hold gives no time", []policy.Policy{only(policy.Hold, "a")}, aPod(), nodeWith(on(10, "a", "")), never, never},
		{"Ignore is as if the taint were not there", []policy.Policy{only(policy.Ignore, "a")}, aPod(), nodeWith(on(10, "a", "")), never, never},
		{"a pod that is held leaves a node that dies", []policy.Policy{only(policy.Hold, "a")}, aPod(), nodeWith(on(10, "a", ""), on(20, v1.TaintNodeUnreachable, "")), never, 20},
		{"a pod whose drain is blocked leaves a node that dies", []policy.Policy{hour(taints(policy.Taint{Key: "a"}))}, aPod(), nodeWith(on(10, "a", ""), on(20, v1.TaintNodeUnreachable, "")), 10, 20},
		{"the earliest of all pairs counts", []policy.Policy{hour(policy.Match{})}, aPod(tolerating("a", 50), tolerating("b", 5)), nodeWith(on(10, "a", ""), on(20, "b", "")), 25, 3625},

		{"absent: pods that do not tolerate the taint", []policy.Policy{staying(policy.Tolerations{Absent: secs(60)})}, aPod(), nodeWith(on(10, "a", "")), never, 70},
		{"absent says nothing of others", []policy.Policy{staying(policy.Tolerations{Absent: secs(60)})}, aPod(tolerating("a", 5)), nodeWith(on(10, "a", "")), never, 15},
		{"min", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Min: secs(30)})}, aPod(tolerating("a", 5)), nodeWith(on(10, "a", "")), never, 40},
		{"min, of a pod that tolerates it for no time", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Min: secs(30)})}, aPod(tolerating("a", 0)), nodeWith(on(10, "a", "")), never, 40},
		{"max", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Max: secs(30)})}, aPod(tolerating("a", 500)), nodeWith(on(10, "a", "")), never, 40},
		{"max, of a pod that tolerates it until the year 584542048090", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Max: secs(30)})}, aPod(tolerating("a", 1<<62)), nodeWith(on(10, "a", "")), never, 40},
		{"between min and max", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Min: secs(3), Max: secs(30)})}, aPod(tolerating("a", 9)), nodeWith(on(10, "a", "")), never, 19},
		{"unlimited left out: they stay", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Max: secs(30)})}, aPod(tolerating("a", -1)), nodeWith(on(10, "a", "")), never, never},
		{"unlimited", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Unlimited: secs(30)})}, aPod(tolerating("a", -1)), nodeWith(on(10, "a", "")), never, 40},
		{"unlimited, of a pod that tolerates it until the year 584542048090", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Unlimited: secs(30)})}, aPod(tolerating("a", 1<<62)), nodeWith(on(10, "a", "")), never, 40},
		{"unlimited leaves DaemonSets' pods alone", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Unlimited: secs(30)})}, daemon, nodeWith(on(10, "a", "")), never, never},
		{"unless ownerKinds names them", []policy.Policy{named}, daemon, nodeWith(on(10, "a", "")), never, 40},
		{"unlimited leaves critical pods alone", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Unlimited: secs(30)})}, criticalPod, nodeWith(on(10, "a", "")), never, never},
		{"unless priority names them", []policy.Policy{namedPriority}, criticalPod, nodeWith(on(10, "a", "")), never, 40},
		{"a range that is open does not name them", []policy.Policy{openPriority}, criticalPod, nodeWith(on(10, "a", "")), never, never},

		{"NoSchedule: a toleration counts as if for NoExecute", []policy.Policy{staying(policy.Tolerations{Absent: secs(1)})}, aPod(tolerating("a", 9)), draining(10, "a", ""), never, 19},
		{"NoSchedule: one that matches as it stands, without a limit", []policy.Policy{staying(policy.Tolerations{Absent: secs(1)})}, aPod(asItStands), draining(10, "a", ""), never, never},
		{"which unlimited bounds", []policy.Policy{staying(policy.Tolerations{Absent: secs(1), Unlimited: secs(8)})}, aPod(asItStands), draining(10, "a", ""), never, 18},
		{"NoSchedule: first as if for NoExecute", []policy.Policy{staying(policy.Tolerations{Absent: secs(1)})}, aPod(both...), draining(10, "a", ""), never, 17},
		{"NoSchedule: in the other order, too", []policy.Policy{staying(policy.Tolerations{Absent: secs(1)})}, aPod(reversed...), draining(10, "a", ""), never, 17},
		{"NoSchedule: a toleration for NoSchedule tolerates no NoExecute taint", []policy.Policy{staying(policy.Tolerations{Absent: secs(1)})}, aPod(asItStands), nodeWith(on(10, "a", "")), never, 11},
		{"NoSchedule: no policy, no trigger", []policy.Policy{only(policy.Delete, "a")}, aPod(), draining(10, "a", ""), never, never},

		{"a value that is ignored ends the exposure", []policy.Policy{only(policy.Ignore, "a", "x")}, aPod(tolerating("a", 60)), nodeWith(then(then(on(10, "a", "1"), 20, "x"), 30, "2")), never, 90},
		{"a value that is held does not", []policy.Policy{only(policy.Hold, "a", "x")}, aPod(tolerating("a", 60)), nodeWith(then(then(on(10, "a", "1"), 20, "x"), 30, "2")), never, 70},
		{"a value tolerated for ever does not, where unlimited bounds it", []policy.Policy{staying(policy.Tolerations{Absent: secs(5), Unlimited: secs(50)})}, aPod(v1.Toleration{Key: "a", Value: "x"}, tolerating("a", 20)), nodeWith(then(on(10, "a", "x"), 20, "2")), never, 30},
		{"a release by value: asked at once, deleted deleteAfter later", []policy.Policy{{Method: policy.Evict, Match: taints(policy.Taint{Key: "a", Values: []string{"go"}}), DeleteAfter: secs(3600)}, only(policy.Hold, "a")}, aPod(), nodeWith(then(on(10, "a", ""), 5000, "go")), 10, 8600},
		{"a hold that ended before the deadline postpones nothing", []policy.Policy{{Method: policy.Evict, Match: taints(policy.Taint{Key: "a", Values: []string{"go"}}), DeleteAfter: secs(3600)}, only(policy.Hold, "a")}, aPod(tolerating("a", 9000)), nodeWith(then(on(10, "a", ""), 5000, "go")), 9010, 12610},
	} {
		v := compiled(t, policies(c.policies...)).Decide(c.pod, c.node, nil)
		if got := [2]int64{seconds(v.Request), seconds(v.Delete)}; got != [2]int64{c.evict, c.delete} {
			t.Errorf("%s: got %v, want %v: %+v", c.name, got, [2]int64{c.evict, c.delete}, v)
		}
	}
}

// Times after the year 9999 have no JSON form.
func TestADeadlineAfterTheYear9999NeverComes(t *testing.T) {
	node := nodeWith(on(0, "a", ""))
	node.Taints[0][0].Since = time.Date(9999, 12, 31, 23, 59, 0, 0, time.UTC)
	for name, c := range map[string]struct {
		tolerations policy.Tolerations
		pod         *taint.Pod
		goes        bool
	}{
		"absent: 90s":              {policy.Tolerations{Absent: secs(90)}, aPod(), false},
		"absent: 30s":              {policy.Tolerations{Absent: secs(30)}, aPod(), true},
		"unlimited: 90s":           {policy.Tolerations{Absent: secs(0), Unlimited: secs(90)}, aPod(tolerating("a", -1)), false},
		"min: 90s":                 {policy.Tolerations{Absent: secs(0), Min: secs(90)}, aPod(tolerating("a", 1)), false},
		"max: 30s, of a long time": {policy.Tolerations{Absent: secs(0), Max: secs(30)}, aPod(tolerating("a", 1<<62)), true},
	} {
		v := compiled(t, policies(staying(c.tolerations))).Decide(c.pod, node, nil)
		if v.Evicts() != c.goes || v.Evicts() == (v.Stay == taint.Tolerated) {
			t.Errorf("%s: got %+v", name, v)
		}
	}
}

func TestAPodThatGoesHasNoReasonToStay(t *testing.T) {
	pod, node := aPod(tolerating("a", -1)), nodeWith(on(10, "a", ""), on(10, "b", ""))
	for name, p := range map[string]policy.Policy{"is evicted": only(policy.Evict, "b"), "is held": only(policy.Hold, "b")} {
		if v := compiled(t, policies(p)).Decide(pod, node, nil); v.Stay != 0 {
			t.Errorf("%s: got %v", name, v.Stay)
		}
	}
}

// deleteAfter counts from the end of what holds a pod, but not from when data came that it waited for.
func TestAVerdictHasEachHoldOnceAndNoWaitForData(t *testing.T) {
	hold := only(policy.Hold, "a")
	hold.Match.Taints = append(hold.Match.Taints, policy.Taint{Key: "b"})
	selects := policy.Policy{Method: policy.Delete, Match: policy.Match{NamespaceSelector: labelled("tier", "prod")}}
	c := policies(hold, selects)
	c.Guards.Breakers = []policy.Breaker{zoneBreaker()}
	group := policy.Trip{Breaker: "zones", Group: "a"}
	node := nodeWith(on(10, "a", ""), on(10, "b", ""), on(10, v1.TaintNodeUnreachable, ""))
	for name, test := range map[string]struct {
		facts policy.Facts
		want  []policy.Holder
	}{
		"a policy": {policy.Facts{Namespaces: prod}, []policy.Holder{{By: policy.HeldByPolicy, Name: "a"}}},
		"a policy and a breaker": {
			policy.Facts{Namespaces: prod, Tripped: map[policy.Trip]bool{group: true}},
			[]policy.Holder{{By: policy.HeldByPolicy, Name: "a"}, {By: policy.HeldByBreaker, Name: "zones", Group: "a"}},
		},
		"the namespace is not known": {policy.Facts{}, []policy.Holder{{By: policy.HeldByPolicy, Name: "a"}}},
		"the trips are not known":    {policy.Facts{Namespaces: prod, Unread: true}, []policy.Holder{{By: policy.HeldByPolicy, Name: "a"}}},
	} {
		if v := compiled(t, c).Decide(aPod(), node, &test.facts); !slices.Equal(v.Holds, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, v.Holds, test.want)
		}
	}
}

func TestAHoldIsNamed(t *testing.T) {
	for want, h := range map[string]policy.Held{
		"policy a":         {By: policy.HeldByPolicy, Name: "a"},
		"breaker a":        {By: policy.HeldByBreaker, Name: "a"},
		"breaker a (zone)": {By: policy.HeldByBreaker, Name: "a", Group: "zone"},
	} {
		if got := h.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestASetAuditsIfAnyOfItsPoliciesDoes(t *testing.T) {
	enforces, audits := only(policy.Hold, "a"), only(policy.Hold, "a")
	audits.Mode = policy.Audit
	for _, c := range []struct {
		policies []policy.Policy
		want     bool
	}{{nil, false}, {[]policy.Policy{enforces}, false}, {[]policy.Policy{audits, enforces}, true}} {
		list := slices.Clone(c.policies)
		for i := range list {
			list[i].Name = fmt.Sprint("p", i)
		}
		if got := (policy.Judge{Set: compiled(t, policies(list...)).Set}).Audits(); got != c.want {
			t.Errorf("%+v: got %v", c.policies, got)
		}
	}
}

func TestCallsPauseOnlyIfTheFactsSayIt(t *testing.T) {
	for _, c := range []struct {
		facts *policy.Facts
		want  bool
	}{{nil, false}, {&policy.Facts{}, false}, {&policy.Facts{Paused: true}, true}} {
		if got := (policy.Judge{Facts: c.facts}).Paused(); got != c.want {
			t.Errorf("%+v: got %v", c.facts, got)
		}
	}
}

// The starts of taints that only a policy in mode Audit names are known, too, and shown with what that policy would do.
func TestATaintThatNoPolicyMatchesIsNoPair(t *testing.T) {
	audits := staying(policy.Tolerations{Absent: secs(5)})
	audits.Mode, audits.Match.Namespaces = policy.Audit, []string{"shop"}
	set, node, elsewhere := compiled(t, policies(audits)), nodeWith(), aPod()
	node.Audited = draining(10, "a", "").Triggers
	elsewhere.Namespace = "other"
	if got := set.Pairs(aPod(), node, nil); len(got) != 1 || got[0].Method != "" || len(got[0].Audits) != 1 {
		t.Errorf("a pod that the policy matches: got %+v", got)
	}
	if got := set.Pairs(elsewhere, node, nil); len(got) > 0 {
		t.Errorf("a pod that it does not match: got %+v", got)
	}
}

func TestAVerdictNamesThePairThatCounts(t *testing.T) {
	grace := hour(taints(policy.Taint{Key: "a"}))
	grace.Name, grace.GracePeriod = "grace", &policy.GracePeriod{Max: *secs(8)}
	set := compiled(t, policies(grace, only(policy.Ignore, "c")))
	v := set.Decide(aPod(), nodeWith(on(10, "a", ""), on(2000, "b", ""), on(5, "c", "")), nil)
	if v.Request.Policy != "grace" || v.Request.GracePeriod != 8*time.Second || v.Request.Taint.Key != "a" || !v.Request.Start.Equal(at(10)) {
		t.Errorf("asked: %+v", v.Request)
	}
	if v.Delete.Policy != "" || v.Delete.GracePeriod != 0 || v.Delete.Taint.Key != "b" {
		t.Errorf("deleted: %+v", v.Delete)
	}
	for second, want := range map[int64]policy.Method{9: "", 10: policy.Evict, 1999: policy.Evict, 2000: policy.Delete} {
		if got, _ := v.Due(at(second)); got != want {
			t.Errorf("second %d: got %q, want %q", second, got, want)
		}
	}
	if v.First() != v.Request.Verdict || v.Stay != 0 || v.IgnoredBy != "b" {
		t.Errorf("got %+v", v)
	}
}

// No pod is deleted against a budget that this process has not asked.
func TestADeletionByDeleteAfterNeedsARefusalBefore(t *testing.T) {
	short := hour(policy.Match{})
	short.DeleteAfter = secs(20)
	for name, c := range map[string]struct {
		policy policy.Policy
		want   time.Duration
	}{
		"deleteAfter: 1h": {hour(policy.Match{}), time.Minute}, "deleteAfter: 20s": {short, 20 * time.Second}, "Delete": {only(policy.Delete, "a"), 0},
	} {
		v := compiled(t, policies(c.policy)).Decide(aPod(), nodeWith(on(10, "a", "")), nil)
		if !v.Delete.Evict || v.Delete.RefusedFor != c.want || v.Request.RefusedFor != 0 {
			t.Errorf("%s: got %+v", name, v)
		}
	}
}

func TestWhyAPodStays(t *testing.T) {
	set := compiled(t, policies(only(policy.Ignore, "a")))
	finished := aPod()
	finished.Phase = v1.PodSucceeded
	for want, got := range map[taint.Stay]policy.Verdict{
		taint.NotTainted:  set.Decide(aPod(), nodeWith(on(1, "a", "")), nil),
		taint.Tolerated:   set.Decide(aPod(tolerating("b", -1)), nodeWith(on(1, "b", ""), on(1, "a", "")), nil),
		taint.NodeUnknown: set.Decide(aPod(), nil, nil),
		taint.Finished:    set.Decide(finished, nodeWith(on(1, "b", "")), nil),
	} {
		if got.Stay != want || got.Evicts() || got.First().Stay != want {
			t.Errorf("got %+v, want %v", got, want)
		}
	}
}

func TestWhyAPodStaysIsSaidInTheWordsOfTheRuleThatDecides(t *testing.T) {
	drain := staying(policy.Tolerations{Absent: secs(0)})
	drain.Name, drain.Match = "drain", taints(policy.Taint{Key: "a", Effects: noSchedule})
	narrow := drain
	narrow.Match.Namespaces = []string{"other"}
	audits := drain
	audits.Mode = policy.Audit
	named, unlimited := drain, drain
	named.Name, named.Match.OwnerKinds = "named", []string{"DaemonSet"}
	unlimited.Tolerations = &policy.Tolerations{Absent: secs(0), Unlimited: secs(0)}
	ignores, drains := policies(only(policy.Ignore, "a")), policies(drain)
	byDefault := policy.Config{Method: policy.Ignore, Policies: policies(only(policy.Delete, "c")).Policies}
	of := func(kind string, tolerations ...v1.Toleration) *taint.Pod {
		p := aPod(tolerations...)
		ownedBy(kind)(p)
		return p
	}
	for _, test := range []struct {
		config policy.Config
		pod    *taint.Pod
		node   *taint.Node
		want   string
	}{
		{ignores, aPod(), nodeWith(on(1, "a", "")), "policy a ignores a taint of the node, and no other one evicts the pod"},
		{ignores, aPod(tolerating("b", -1)), nodeWith(on(1, "b", ""), on(1, "a", "")), "every NoExecute taint of the node is tolerated forever; policy a ignores a taint of the node"},
		{byDefault, aPod(), nodeWith(on(1, "a", "")), "the method Ignore ignores a taint of the node, and no other one evicts the pod"},
		{ignores, aPod(), nodeWith(), "the node has no NoExecute taint"},
		{ignores, aPod(), nil, "the node is not known"},
		{drains, aPod(), nodeWith(), "the node has no taint that evicts the pod"},
		{drains, aPod(), nil, "the node is not known"},
		{drains, aPod(tolerating("a", -1)), draining(1, "a", ""), "every taint that evicts is tolerated forever"},
		{drains, of(""), draining(1, "a", ""), "policy drain does not drain pods without a controller"},
		{drains, of("DaemonSet"), draining(1, "a", ""), "policy drain does not drain pods of DaemonSets"},
		{drains, of("DaemonSet", tolerating("b", -1)), with(draining(1, "a", ""), on(1, "b", "")), "policy drain does not drain pods of DaemonSets"},
		{drains, of("", tolerating("b", -1)), with(draining(1, "a", ""), on(1, "b", "")), "policy drain does not drain pods without a controller"},
		{drains, of("DaemonSet", tolerating("", -1)), with(draining(1, "a", ""), on(1, "b", "")), "every taint that evicts is tolerated forever"},
		{drains, aPod(tolerating("", -1)), with(draining(1, "a", ""), on(1, "b", "")), "every taint that evicts is tolerated forever"},
		{policies(narrow), of("DaemonSet"), draining(1, "a", ""), "the node has no taint that evicts the pod"},
		{policies(audits), of("DaemonSet"), draining(1, "a", ""), "the node has no NoExecute taint"},
		{policies(named, unlimited), of("DaemonSet", tolerating("a", -1)), draining(1, "a", ""), "every taint that evicts is tolerated forever"},
	} {
		j := policy.Judge{Set: compiled(t, test.config).Set}
		v := j.Decide(test.pod, test.node)
		if why := j.WhyStays(test.pod, test.node, &v); why != test.want {
			t.Errorf("got %q, want %q", why, test.want)
		}
	}
}

func TestATaintThatAPolicyNamesWithNoExecuteOnlyIsWhyAPodStays(t *testing.T) {
	noSchedule := func(key string) v1.Taint { return v1.Taint{Key: key, Effect: v1.TaintEffectNoSchedule} }
	set := compiled(t, policies(only(policy.Delete, "a"))).Set
	for _, test := range []struct {
		set  *policy.Set
		node *taint.Node
		want string
	}{
		{set, nodeWith(), "policy a names this taint with NoExecute only (a:NoSchedule)"},
		{set, nodeWith(on(1, "x", "")), "every NoExecute taint of the node is tolerated forever"},
		{nil, nodeWith(), "the node has no NoExecute taint"},
	} {
		j, pod := policy.Judge{Set: test.set}, aPod(tolerating("x", -1))
		v := j.Decide(pod, test.node)
		if why := j.WhyStays(pod, test.node, &v, noSchedule("b"), noSchedule("a")); why != test.want {
			t.Errorf("got %q, want %q", why, test.want)
		}
	}
}

func with(n *taint.Node, taints ...taint.History) *taint.Node {
	n.Taints = append(n.Taints, taints...)
	return n
}

func TestAPolicyThatNamesATaintWithNoExecuteOnlyIsNamed(t *testing.T) {
	both := only(policy.Hold, "a")
	both.Match.Taints[0].Effects = []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule}
	prefix, all := only(policy.Hold, ""), only(policy.Hold, "")
	prefix.Name, prefix.Match.Taints[0].KeyPrefix = "prefix", "a"
	all.Name, all.Match.Taints = "all", nil
	for _, test := range []struct {
		of     policy.Policy
		effect v1.TaintEffect
		want   string
	}{
		{only(policy.Hold, "a"), v1.TaintEffectNoSchedule, "policy a names this taint with NoExecute only"},
		{only(policy.Hold, "a"), v1.TaintEffectNoExecute, ""},
		{only(policy.Hold, "b"), v1.TaintEffectNoSchedule, ""},
		{both, v1.TaintEffectNoSchedule, ""},
		{prefix, v1.TaintEffectNoSchedule, "policy prefix names this taint with NoExecute only"},
		{only(policy.Hold, "a", "x"), v1.TaintEffectNoSchedule, ""},
		{all, v1.TaintEffectNoSchedule, ""},
	} {
		got := compiled(t, policies(test.of)).NamesOnlyNoExecute(&v1.Taint{Key: "a", Effect: test.effect})
		if got != test.want {
			t.Errorf("got %q, want %q", got, test.want)
		}
	}
}

// Breakers hold the pairs of their taints in their group, and no others.
func TestATrippedBreakerHoldsThePairsOfItsTaints(t *testing.T) {
	c := policies(hour(policy.Match{}))
	c.Guards.Breakers = []policy.Breaker{zoneBreaker()}
	set := compiled(t, c)
	tripped := &policy.Facts{Tripped: map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}}
	unreachable := on(10, v1.TaintNodeUnreachable, "")
	elsewhere, unlabelled := nodeWith(unreachable), nodeWith(unreachable)
	elsewhere.Labels, unlabelled.Labels = map[string]string{"zone": "b"}, nil
	for _, test := range []struct {
		name  string
		node  *taint.Node
		facts *policy.Facts
		evict int64
		held  bool
	}{
		{"in the group", nodeWith(unreachable), tripped, never, true},
		{"not tripped: it settles", nodeWith(unreachable), nil, 20, false},
		{"another group", elsewhere, tripped, 20, false},
		{"no group", unlabelled, tripped, 20, false},
		{"tripped for nodes without the label", unlabelled, &policy.Facts{Tripped: map[policy.Trip]bool{{Breaker: "zones", Group: policy.NoGroup}: true}}, never, true},
		{"another taint as well", nodeWith(unreachable, on(15, "b", "")), tripped, 15, true},
		{"another taint alone", nodeWith(on(15, "b", "")), tripped, 15, false},
	} {
		v := set.Decide(aPod(), test.node, test.facts)
		if got := seconds(v.Request); got != test.evict || (v.Held.By == policy.HeldByBreaker) != test.held {
			t.Errorf("%s: got %+v", test.name, v)
		}
	}
}

// The settle time of a taint counts from when it was first seen with a key of the breaker.
func TestSettleCountsFromWhenTheTaintWasFirstSeen(t *testing.T) {
	c := policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{zoneBreaker()}}}
	swapped := taint.History{state(10, v1.TaintNodeNotReady, "", v1.TaintEffectNoExecute), state(30, v1.TaintNodeUnreachable, "", v1.TaintEffectNoExecute)}
	swapped[0].Ended = true
	relisted := func(h taint.History) taint.History {
		h[0].Relisted = at(60)
		return h
	}
	for name, test := range map[string]struct {
		pod  *taint.Pod
		node *taint.Node
		want int64
	}{
		"a pod that goes at once":              {aPod(), nodeWith(on(10, v1.TaintNodeUnreachable, "")), 20},
		"a pod that stays longer than that":    {aPod(tolerating("", 60)), nodeWith(on(10, v1.TaintNodeUnreachable, "")), 70},
		"another value of the taint":           {aPod(), nodeWith(then(on(10, v1.TaintNodeUnreachable, ""), 15, "x")), 20},
		"a key that the breaker does not know": {aPod(), nodeWith(swapped), 40},
		"found in a list after a gap":          {aPod(), nodeWith(relisted(on(10, v1.TaintNodeUnreachable, ""))), 70},
		"another value since the list":         {aPod(), nodeWith(then(relisted(on(10, v1.TaintNodeUnreachable, "")), 65, "x")), 70},
	} {
		if got := seconds(compiled(t, c).Decide(test.pod, test.node, nil).Delete); got != test.want {
			t.Errorf("%s: got %d, want %d", name, got, test.want)
		}
	}
	c.Guards.Breakers[0].Settle = secs(0)
	node := nodeWith(relisted(on(10, v1.TaintNodeUnreachable, "")))
	if got := seconds(compiled(t, c).Decide(aPod(), node, nil).Delete); got != 10 {
		t.Errorf("a breaker that does not settle: got %d, want 10", got)
	}
}

// deleteAfter counts from the end of the last hold.
func TestDeleteAfterCountsFromTheEndOfTheLastHold(t *testing.T) {
	set := compiled(t, policies(hour(policy.Match{})))
	ended := func(second int64, h policy.HoldRecord) policy.HoldRecord {
		h.Ended = at(second)
		return h
	}
	ofZone, otherZone := policy.HoldRecord{TopologyKey: "zone", Group: "a"}, policy.HoldRecord{TopologyKey: "zone", Group: "b"}
	ofKeys := func(keys ...policy.KeyPattern) policy.HoldRecord { return policy.HoldRecord{Taints: keys} }
	again := ended(100, policy.HoldRecord{Holds: true})
	for name, c := range map[string]struct {
		facts *policy.Facts
		want  int64
	}{
		"none":                          {nil, 3610},
		"a pause":                       {recorded(ended(100, policy.HoldRecord{})), 3700},
		"one that is in force again":    {recorded(again), 3700},
		"one that has never ended":      {recorded(policy.HoldRecord{Holds: true}), 3610},
		"the last of two":               {recorded(ended(100, policy.HoldRecord{}), ended(90, ofZone)), 3700},
		"the last of two, turned round": {recorded(ended(90, ofZone), ended(100, policy.HoldRecord{})), 3700},
		"a breaker of the group":        {recorded(ended(100, ofZone)), 3700},
		"a breaker of another group":    {recorded(ended(100, otherZone)), 3610},
		"one of the taint":              {recorded(ended(100, ofKeys(policy.KeyPattern{Key: "b"}, policy.KeyPattern{Key: "a"}))), 3700},
		"one of another taint":          {recorded(ended(100, ofKeys(policy.KeyPattern{Key: "b"}))), 3610},
		"one of taints with a prefix":   {recorded(ended(100, ofKeys(policy.KeyPattern{Prefix: "a"}))), 3700},
		"one with another prefix":       {recorded(ended(100, ofKeys(policy.KeyPattern{Prefix: "b"}))), 3610},
		"one that ended long ago":       {recorded(ended(5, policy.HoldRecord{})), 3610},
		"a pause that goes on":          {&policy.Facts{Paused: true}, never},
	} {
		v := set.Decide(aPod(), nodeWith(on(10, "a", "")), c.facts)
		if got := seconds(v.Delete); got != c.want || seconds(v.Request) != 10 {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

func recorded(holds ...policy.HoldRecord) *policy.Facts { return &policy.Facts{Holds: holds} }

// A policy without taints holds all taints but out-of-service. A pause holds all taints.
func TestOnlyAHoldOfAllTaintsCountsForOutOfService(t *testing.T) {
	set := compiled(t, policies(hour(policy.Match{Taints: []policy.Taint{{Key: v1.TaintNodeOutOfService}}})))
	for name, c := range map[string]struct {
		keys []policy.KeyPattern
		want int64
	}{
		"all taints":         {nil, 3700},
		"its key":            {[]policy.KeyPattern{{Key: v1.TaintNodeOutOfService}}, 3700},
		"a policy of no key": {[]policy.KeyPattern{{}}, 3610},
		"a prefix":           {[]policy.KeyPattern{{Prefix: "node.kubernetes.io/"}}, 3610},
	} {
		v := set.Decide(aPod(), nodeWith(on(10, v1.TaintNodeOutOfService, "")), recorded(policy.HoldRecord{Taints: c.keys, Ended: at(100)}))
		if got := seconds(v.Delete); got != c.want {
			t.Errorf("%s: got %d, want %d", name, got, c.want)
		}
	}
}

// The hold of a policy of the same name by other taints, and the trip of another group, are other holds.
func TestAHoldIsKnownByItsNameItsTaintsAndItsGroup(t *testing.T) {
	hold := policy.Policy{Name: "quarantine", Method: policy.Hold, Match: taints(policy.Taint{Key: "a", Values: []string{"1"}})}
	narrowed, elsewhere := hold, hold
	narrowed.Match.Namespaces = []string{"shop"}
	elsewhere.Match = taints(policy.Taint{Key: "b"})
	breaker := policy.Breaker{Name: "zones", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "a"}}}
	of := func(group string, list ...policy.Policy) policy.HoldRecord {
		c := policy.Config{Policies: list, Guards: policy.Guards{Breakers: []policy.Breaker{breaker}}}
		return c.Holds(map[string]int{"quarantine": 1}, map[policy.Trip]bool{{Breaker: "zones", Group: group}: true}, false)[0]
	}
	renamed, regrouped := of("a"), of("a")
	renamed.By, regrouped.TopologyKey = "breaker racks", "rack"
	for name, c := range map[string]struct {
		is, was policy.HoldRecord
		same    bool
	}{
		"fewer pods":                   {of("a", hold), of("a", narrowed), true},
		"another taint":                {of("a", hold), of("a", elsewhere), false},
		"the same breaker":             {of("a"), of("a"), true},
		"another group":                {of("a"), of("b"), false},
		"another breaker":              {of("a"), renamed, false},
		"groups of another label":      {of("a"), regrouped, false},
		"a breaker is not that policy": {of("a"), of("a", hold), false},
	} {
		if c.is.Same(&c.was) != c.same {
			t.Errorf("%s: got %+v and %+v", name, c.is, c.was)
		}
	}
}

// The numbers of pods that policies hold are those of the configuration before until the pods are judged again.
func TestWhatIsHeldFollowsTheConfigurationAtOnce(t *testing.T) {
	hold, audits, deletes := only(policy.Hold, "a"), only(policy.Hold, "a"), only(policy.Delete, "a")
	audits.Mode = policy.Audit
	breaker := policy.Breaker{Name: "zones", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "a"}}}
	for name, c := range map[string]struct {
		policy policy.Policy
		pods   int // that the policy of this name holds
		trips  map[policy.Trip]bool
		want   []string
	}{
		"a policy that holds pods":         {hold, 1, nil, []string{"policy a"}},
		"one that holds none":              {hold, 0, nil, nil},
		"one that now only audits":         {audits, 1, nil, nil},
		"one that now deletes":             {deletes, 1, nil, nil},
		"a breaker that is tripped":        {deletes, 0, map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: true}, []string{"breaker zones"}},
		"one that is not tripped any more": {deletes, 0, map[policy.Trip]bool{{Breaker: "zones", Group: "a"}: false}, nil},
		"a breaker that is removed":        {deletes, 0, map[policy.Trip]bool{{Breaker: "racks", Group: "a"}: true}, nil},
	} {
		config := policies(c.policy)
		config.Guards.Breakers = []policy.Breaker{breaker}
		var got []string
		for _, h := range config.Holds(map[string]int{"a": c.pods}, c.trips, false) {
			got = append(got, h.By)
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

func TestAGracePeriodIsOnlyShortened(t *testing.T) {
	for _, c := range []struct {
		own  *int64
		most time.Duration
		want int64 // never: the pod's own
	}{
		{nil, 10 * time.Second, 10},
		{nil, 30 * time.Second, never},
		{new(int64(3600)), 8 * time.Minute, 480},
		{new(int64(5)), 8 * time.Minute, never},
		{new(int64(0)), time.Second, never},
		{new(int64(5)), 0, never},
	} {
		got := policy.GracePeriodSeconds(c.own, c.most)
		if (got == nil) != (c.want == never) || got != nil && *got != c.want {
			t.Errorf("%v, at most %v: got %v, want %d", c.own, c.most, got, c.want)
		}
	}
}

func TestHowABreakerIsResetIsKnownByItsNameAndItsGroups(t *testing.T) {
	zones := zoneBreaker()
	zones.Reset = policy.Manual
	g := policy.Guards{Breakers: []policy.Breaker{zones, {Name: "cluster"}}}
	for of, want := range map[[2]string]policy.Reset{
		{"zones", "zone"}: policy.Manual, {"cluster", ""}: policy.Automatic,
		{"zones", ""}: "", {"cluster", "zone"}: "", {"gone", "zone"}: "",
	} {
		if got := g.ResetOf(of[0], of[1]); got != want {
			t.Errorf("%v: got %q, want %q", of, got, want)
		}
	}
}

// A breaker with zero settings settles, and does not flap, as in the examples.
func TestABreakerSettlesUnlessItSaysNot(t *testing.T) {
	b := policy.Breaker{MaxNodes: intstr.FromInt32(1)}
	if b.SettleTime() != 10*time.Second || b.ResetTime() != 5*time.Minute {
		t.Errorf("got %v and %v", b.SettleTime(), b.ResetTime())
	}
	b.Settle, b.ResetAfter = secs(0), secs(1)
	if b.SettleTime() != 0 || b.ResetTime() != time.Second {
		t.Errorf("got %v and %v", b.SettleTime(), b.ResetTime())
	}
}
