package policy_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// someTwins is the number of worlds that each check of a property draws; many, because most have few effects.
const someTwins = 30

// checkTwins checks the property in many worlds.
func checkTwins(t *testing.T, property func(*rapid.T, *twin)) {
	rapid.Check(t, func(rt *rapid.T) {
		for range someTwins {
			property(rt, drawTwin(rt))
		}
	})
}

func drawTwin(t *rapid.T) *twin {
	w := &twin{tripped: map[policy.Trip]bool{}, pod: drawPod(t), node: drawNode(t), paused: rapid.IntRange(0, 4).Draw(t, "paused") == 0}
	w.unread, w.began = rapid.IntRange(0, 9).Draw(t, "unread") == 0, map[string]int64{}
	w.config.Method = rapid.SampledFrom([]policy.Method{policy.Delete, policy.Evict, policy.Ignore}).Draw(t, "method")
	for i := range rapid.IntRange(0, 6).Draw(t, "policies") {
		p := drawPolicy(t, fmt.Sprintf("p%d", i))
		w.config.Policies = append(w.config.Policies, p)
		if p.Mode != policy.Audit && rapid.Bool().Draw(t, "began is known") {
			w.began[p.Name] = rapid.Int64Range(0, 100).Draw(t, "began")
		}
	}
	for i := range rapid.IntRange(0, 2).Draw(t, "breakers") {
		b := drawBreaker(t, fmt.Sprintf("b%d", i))
		w.config.Guards.Breakers = append(w.config.Guards.Breakers, b)
		if rapid.Bool().Draw(t, "tripped") {
			w.tripped[policy.Trip{Breaker: b.Name, Group: rapid.SampledFrom([]string{"", "<none>", "a", "b"}).Draw(t, "group")}] = true
		}
	}
	for range rapid.IntRange(0, 2).Draw(t, "ended holds") {
		w.ended = append(w.ended, drawEnded(t))
	}
	return w
}

func drawEnded(t *rapid.T) endedHold {
	e := endedHold{at: rapid.Int64Range(0, 200).Draw(t, "ended")}
	e.Holds = rapid.Bool().Draw(t, "in force again")
	for range rapid.IntRange(0, 2).Draw(t, "keys") {
		e.Taints = append(e.Taints, rapid.SampledFrom([]policy.KeyPattern{{}, {Prefix: "a"}, {Prefix: "node.kubernetes.io/"}, {Key: "a"}, {Key: v1.TaintNodeOutOfService}}).Draw(t, "of"))
	}
	if rapid.Bool().Draw(t, "of a breaker") {
		e.TopologyKey, e.Group = "zone", rapid.SampledFrom([]string{"<none>", "a", "b"}).Draw(t, "group")
	}
	return e
}

func maybe[T any](t *rapid.T, label string, draw func() T) (none T) {
	if rapid.IntRange(0, 9).Draw(t, label) == 0 {
		return draw()
	}
	return none
}

func often[T any](t *rapid.T, label string, draw func() T) (none T) {
	if rapid.Bool().Draw(t, label) {
		return draw()
	}
	return none
}

func drawPolicy(t *rapid.T, name string) policy.Policy {
	p := policy.Policy{
		Name: name, Mode: rapid.SampledFrom([]policy.Mode{"", policy.Enforce, policy.Enforce, policy.Audit}).Draw(t, "mode"),
		Method: rapid.SampledFrom([]policy.Method{policy.Delete, policy.Evict, policy.Evict, policy.Hold, policy.Ignore}).Draw(t, "method"),
	}
	calls := p.Method == policy.Delete || p.Method == policy.Evict
	p.Match = drawMatch(t, true)
	if p.Method == policy.Evict && rapid.Bool().Draw(t, "deletes") {
		p.DeleteAfter = secs(rapid.Int64Range(1, 60).Draw(t, "delete after"))
	}
	if calls {
		p.Tolerations = drawTolerations(t)
	}
	return p
}

func drawTolerations(t *rapid.T) *policy.Tolerations {
	duration := func(label string, least, most int64) func() *metav1.Duration {
		return func() *metav1.Duration { return secs(rapid.Int64Range(least, most).Draw(t, label)) }
	}
	return &policy.Tolerations{
		Absent: secs(rapid.Int64Range(0, 20).Draw(t, "absent")), Min: often(t, "has min", duration("min", 0, 10)),
		Max: often(t, "has max", duration("max", 10, 20)), Unlimited: often(t, "has unlimited", duration("unlimited", 0, 30)),
	}
}

func drawMatch(t *rapid.T, triggers bool) policy.Match {
	selector := func() *metav1.LabelSelector { return drawSelector(t) }
	m := policy.Match{
		NodeSelector: maybe(t, "nodes", selector), PodSelector: maybe(t, "pods", selector),
		Namespaces: maybe(t, "namespaces", func() []string {
			return rapid.SampledFrom([][]string{{"shop"}, {"new", "team-a"}, {"*"}, {"team-*", "new"}, {"s*o*"}, {"*-a"}}).Draw(t, "names")
		}),
		NamespaceSelector: maybe(t, "spaces", func() *metav1.LabelSelector {
			return labelled("tier", rapid.SampledFrom([]string{"prod", "test"}).Draw(t, "tier"))
		}),
		OwnerKinds: maybe(t, "owners", func() []string {
			return rapid.SampledFrom([][]string{{"StatefulSet"}, {"DaemonSet"}, {"None", "Job"}, {"DaemonSet", "None"}, {"Job.batch"}, {"Job.apps"}, {"Job", "CronJob"}, {"StatefulSets"}}).Draw(t, "kinds")
		}),
		Priority: maybe(t, "priority", func() *policy.PriorityRange {
			return rapid.SampledFrom([]*policy.PriorityRange{{Min: number(0)}, {Max: number(5)}, {Min: number(5), Max: number(2e9)}, {Min: number(2e9)}}).Draw(t, "range")
		}),
	}
	for range rapid.IntRange(0, 2).Draw(t, "taints") {
		m.Taints = append(m.Taints, drawTaint(t, triggers))
	}
	return m
}

func drawTaint(t *rapid.T, triggers bool) policy.Taint {
	var m policy.Taint
	if rapid.Bool().Draw(t, "exact") {
		m.Key = rapid.SampledFrom(append([]string{v1.TaintNodeUnschedulable}, someKeys...)).Draw(t, "key")
	} else {
		m.KeyPrefix = rapid.SampledFrom([]string{"a", "node.kubernetes.io/", "x"}).Draw(t, "prefix")
	}
	m.Values = maybe(t, "values", func() []string {
		return rapid.SampledFrom([][]string{{""}, {"1"}, {"", "2"}}).Draw(t, "any of")
	})
	if triggers && m.Key != "" {
		m.Effects = rapid.SampledFrom([][]v1.TaintEffect{nil, {v1.TaintEffectNoExecute}, noSchedule, {v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule}}).Draw(t, "effects")
	}
	return m
}

func drawSelector(t *rapid.T) *metav1.LabelSelector {
	key := rapid.SampledFrom([]string{"app", "zone"}).Draw(t, "label")
	value := rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "of value")
	switch rapid.IntRange(0, 4).Draw(t, "operator") {
	case 0:
		return expression(key, "In", value, "c")
	case 1:
		return expression(key, "NotIn", value)
	case 2:
		return expression(key, "Exists")
	case 3:
		return expression(key, "DoesNotExist")
	}
	return labelled(key, value)
}

func drawBreaker(t *rapid.T, name string) policy.Breaker {
	return policy.Breaker{
		Name: name, TopologyKey: rapid.SampledFrom([]string{"", "zone"}).Draw(t, "topology"), MaxNodes: intstr.FromInt32(1),
		NodeSelector: maybe(t, "counts", func() *metav1.LabelSelector { return drawSelector(t) }),
		Taints:       []policy.TaintKey{{Key: rapid.SampledFrom(someKeys).Draw(t, "key")}, {Key: "other"}},
		Settle:       secs(rapid.Int64Range(0, 20).Draw(t, "settle")),
	}
}

var someKeys = []string{"a", "a", "a", "ab", v1.TaintNodeOutOfService, v1.TaintNodeNotReady, v1.TaintNodeUnreachable}

func drawLabels(t *rapid.T, who string) map[string]string {
	labels := map[string]string{}
	for _, key := range []string{"app", "zone"} {
		if rapid.Bool().Draw(t, who+" has "+key) {
			labels[key] = rapid.SampledFrom([]string{"a", "b", ""}).Draw(t, "value")
		}
	}
	return labels
}

func drawPod(t *rapid.T) *taint.Pod {
	p := aPod(rapid.SliceOfN(rapid.Custom(drawToleration), 0, 4).Draw(t, "tolerations")...)
	p.Namespace = rapid.SampledFrom([]string{"shop", "new", "team-a", "team-b"}).Draw(t, "namespace")
	p.Labels, p.Bound = drawLabels(t, "pod"), at(rapid.Int64Range(0, 60).Draw(t, "bound"))
	p.Priority = rapid.SampledFrom([]int32{-1, 0, 5, 2e9, 2e9 + 1000}).Draw(t, "priority")
	ownedBy(rapid.SampledFrom([]string{"", "StatefulSet", "DaemonSet", "Job"}).Draw(t, "owner"))(p)
	if p.Controller != nil && p.Controller.Kind == "Job" {
		p.Controller.Group = rapid.SampledFrom([]string{"batch", "batch.volcano.sh"}).Draw(t, "group")
	}
	if rapid.IntRange(0, 9).Draw(t, "finished") == 0 {
		p.Phase = v1.PodFailed
	}
	return p
}

func drawNode(t *rapid.T) *taint.Node {
	n := &taint.Node{Name: "n", UID: "node-uid", Labels: drawLabels(t, "node")}
	n.Taints = drawHistories(t, v1.TaintEffectNoExecute)
	n.Triggers = drawHistories(t, v1.TaintEffectNoSchedule)
	return n
}

func drawHistories(t *rapid.T, effect v1.TaintEffect) (all []taint.History) {
	for range rapid.IntRange(0, 2).Draw(t, "histories") {
		all = append(all, drawHistory(t, effect))
	}
	return all
}

func drawHistory(t *rapid.T, effect v1.TaintEffect) (h taint.History) {
	keys := someKeys[:5]
	if effect == v1.TaintEffectNoSchedule { // with which alone Kubernetes sets this taint
		keys = append([]string{v1.TaintNodeUnschedulable}, keys...)
	}
	key, since := rapid.SampledFrom(keys).Draw(t, "key"), int64(0)
	swaps := rapid.IntRange(0, 3).Draw(t, "swaps") == 0
	for range rapid.IntRange(1, 4).Draw(t, "states") {
		if swaps {
			key = rapid.SampledFrom(someKeys[5:]).Draw(t, "key")
		}
		since += rapid.Int64Range(0, 20).Draw(t, "lasts")
		s := state(since, key, rapid.SampledFrom([]string{"", "1", "2"}).Draw(t, "value"), effect)
		s.Ended = rapid.IntRange(0, 4).Draw(t, "ended") > 0
		s.Relisted = maybe(t, "relisted", func() time.Time { return at(since + rapid.Int64Range(0, 20).Draw(t, "later")) })
		h = append(h, s)
	}
	h[len(h)-1].Ended = false
	return h
}

func drawToleration(t *rapid.T) v1.Toleration {
	toleration := v1.Toleration{
		Key:      rapid.SampledFrom(append([]string{""}, someKeys...)).Draw(t, "key"),
		Operator: rapid.SampledFrom([]v1.TolerationOperator{"Exists", "Exists", "Equal", ""}).Draw(t, "operator"),
		Value:    rapid.SampledFrom([]string{"", "1"}).Draw(t, "value"),
		Effect:   rapid.SampledFrom([]v1.TaintEffect{"", "NoExecute", "NoSchedule"}).Draw(t, "effect"),
	}
	if rapid.Bool().Draw(t, "limited") {
		s := rapid.Int64Range(-2, 30).Draw(t, "seconds")
		toleration.TolerationSeconds = &s
	}
	return toleration
}
