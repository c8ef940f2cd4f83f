package policy_test

import (
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// The twin implements the promises of policies as plainly as possible, policy by policy and in whole seconds,
// without the code under test.
type twin struct {
	config  policy.Config
	pod     *taint.Pod
	node    *taint.Node
	tripped map[policy.Trip]bool
	paused  bool
	ended   []endedHold
	unread  bool             // what is tripped
	began   map[string]int64 // when policies began
}

// endedHold is a hold that ended at the second at.
type endedHold struct {
	policy.HoldRecord
	at int64
}

const (
	never   = int64(-1)
	forever = int64(-1)
)

// outcome is the outcome for the pod in seconds; never if the action does not happen.
type outcome struct {
	evict, delete, unconditional int64

	held bool
}

func (tw *twin) decide() outcome {
	all := outcome{never, never, never, false}
	if tw.pod.Phase != v1.PodRunning {
		return all
	}
	for _, h := range slices.Concat(tw.node.Taints, tw.node.Triggers) {
		for i := range h {
			if h[i].Ended {
				continue
			}
			one := tw.pair(h[:i+1])
			all.evict, all.delete = earliest(all.evict, one.evict), earliest(all.delete, one.delete)
			all.unconditional = earliest(all.unconditional, one.unconditional)
			all.held = all.held || one.held
		}
	}
	return all
}

func earliest(a, b int64) int64 {
	if a == never || b != never && b < a {
		return b
	}
	return a
}

func (tw *twin) pair(h taint.History) outcome {
	last := h[len(h)-1]
	p, method := tw.first(last.Taint)
	granted := tw.granted(p, method, last.Taint)
	if granted == forever {
		return outcome{never, never, never, false}
	}
	start := last
	for i := len(h) - 1; i >= 0; i-- {
		q, m := tw.first(h[i].Taint)
		if tw.granted(q, m, h[i].Taint) == forever {
			break
		}
		start = h[i]
	}
	exposed := max(start.Since.Unix()-zero.Unix(), tw.pod.Bound.Unix()-zero.Unix())
	if p != nil && last.Taint.Effect == v1.TaintEffectNoSchedule {
		exposed = max(exposed, tw.began[p.Name])
	}
	deadline := exposed + granted
	tripped := false
	for _, b := range tw.config.Guards.Breakers {
		deadline = max(deadline, tw.settled(b, h))
		tripped = tripped || tw.guards(b, last.Taint) && (tw.unread || tw.tripped[policy.Trip{Breaker: b.Name, Group: tw.zone(b.TopologyKey)}])
	}
	switch {
	case tripped || method == policy.Hold:
		return outcome{never, never, never, true}
	case method == policy.Delete:
		return outcome{never, deadline, deadline, false}
	case p == nil || p.DeleteAfter == nil || tw.paused:
		return outcome{deadline, never, never, false}
	}
	return outcome{deadline, max(deadline, tw.holdEnd(h)) + int64(p.DeleteAfter.Seconds()), never, false}
}

// holdEnd returns when the last hold of the pair ended.
func (tw *twin) holdEnd(h taint.History) int64 {
	end := int64(0)
	for i := range len(h) - 1 {
		if _, m := tw.first(h[i].Taint); m == policy.Hold && h[i].Ended {
			end = max(end, h[i+1].Since.Unix()-zero.Unix())
		}
	}
	for _, e := range tw.ended {
		inGroup := e.TopologyKey == "" || tw.zone(e.TopologyKey) == e.Group
		if inGroup && (e.Taints == nil || slices.ContainsFunc(e.Taints, func(k policy.KeyPattern) bool {
			key := h[len(h)-1].Taint.Key
			return k.Key == key || k.Key == "" && strings.HasPrefix(key, k.Prefix) && key != v1.TaintNodeOutOfService
		})) {
			end = max(end, e.at)
		}
	}
	return end
}

func (tw *twin) settled(b policy.Breaker, h taint.History) (second int64) {
	if b.Settle.Duration == 0 {
		return 0
	}
	for i := len(h) - 1; i >= 0 && tw.guards(b, h[i].Taint); i-- {
		seen := h[i].Since
		if h[i].Relisted.After(seen) {
			seen = h[i].Relisted
		}
		second = seen.Unix() - zero.Unix() + int64(b.Settle.Seconds())
	}
	return second
}

func (tw *twin) guards(b policy.Breaker, t v1.Taint) bool {
	return slices.Contains(b.Taints, policy.TaintKey{Key: t.Key}) && selected(b.NodeSelector, tw.node.Labels)
}

func (tw *twin) zone(key string) string {
	if key == "" {
		return ""
	}
	if zone, ok := tw.node.Labels[key]; ok {
		return zone
	}
	return "<none>"
}

// first returns the policy that decides, or nil if none matches, and its method: empty for a NoSchedule taint that
// is not a trigger.
func (tw *twin) first(t v1.Taint) (*policy.Policy, policy.Method) {
	for i := range tw.config.Policies {
		p := &tw.config.Policies[i]
		matches := tw.matches(p.Match, t)
		switch {
		case p.Mode == policy.Audit || matches == "no":
		case matches == "perhaps":
			return p, policy.Hold
		default:
			return p, p.Method
		}
	}
	if t.Effect == v1.TaintEffectNoSchedule {
		return nil, policy.Ignore
	}
	return nil, tw.config.Method
}

func (tw *twin) matches(m policy.Match, t v1.Taint) string {
	kind, group := "None", ""
	if tw.pod.Controller != nil {
		kind, group = tw.pod.Controller.Kind, tw.pod.Controller.Group
	}
	returns := t.Effect == v1.TaintEffectNoSchedule && (kind == "DaemonSet" || kind == "None")
	yes := namesTaint(m.Taints, t) && selected(m.NodeSelector, tw.node.Labels) && selected(m.PodSelector, tw.pod.Labels) &&
		(len(m.OwnerKinds) == 0 && !returns || slices.Contains(m.OwnerKinds, kind) || slices.Contains(m.OwnerKinds, kind+"."+group)) &&
		(m.Priority == nil || (m.Priority.Min == nil || tw.pod.Priority >= *m.Priority.Min) && (m.Priority.Max == nil || tw.pod.Priority <= *m.Priority.Max)) &&
		(len(m.Namespaces) == 0 || slices.ContainsFunc(m.Namespaces, func(pattern string) bool {
			return regexp.MustCompile("^" + strings.ReplaceAll(pattern, "*", ".*") + "$").MatchString(tw.pod.Namespace)
		}))
	space, known := prod(tw.pod.Namespace)
	switch {
	case !yes, known && !selected(m.NamespaceSelector, space):
		return "no"
	case m.NamespaceSelector != nil && !known:
		return "perhaps"
	}
	return "yes"
}

func namesTaint(list []policy.Taint, t v1.Taint) bool {
	if len(list) == 0 {
		return t.Effect == v1.TaintEffectNoExecute && t.Key != v1.TaintNodeOutOfService
	}
	return slices.ContainsFunc(list, func(m policy.Taint) bool {
		effects := m.Effects
		if effects == nil {
			effects = []v1.TaintEffect{v1.TaintEffectNoExecute}
		}
		key := m.Key == t.Key || m.KeyPrefix != "" && strings.HasPrefix(t.Key, m.KeyPrefix) && t.Key != v1.TaintNodeOutOfService
		return key && (m.Values == nil || slices.Contains(m.Values, t.Value)) && slices.Contains(effects, t.Effect)
	})
}

func selected(s *metav1.LabelSelector, labels map[string]string) bool {
	if s == nil {
		return true
	}
	for k, v := range s.MatchLabels {
		if got, ok := labels[k]; !ok || got != v {
			return false
		}
	}
	for _, e := range s.MatchExpressions {
		got, ok := labels[e.Key]
		in := ok && slices.Contains(e.Values, got)
		if !map[metav1.LabelSelectorOperator]bool{"In": in, "NotIn": !in, "Exists": ok, "DoesNotExist": !ok}[e.Operator] {
			return false
		}
	}
	return true
}

// granted returns how long the pod may stay with the taint, in seconds, or forever.
func (tw *twin) granted(p *policy.Policy, method policy.Method, t v1.Taint) int64 {
	if method == policy.Ignore {
		return forever
	}
	own, found := tolerates(tw.pod.Tolerations, t.Key, t.Value, t.Effect)
	if p == nil || p.Tolerations == nil {
		return own
	}
	tolerations := *p.Tolerations
	switch {
	case !found && tolerations.Absent != nil:
		return int64(tolerations.Absent.Seconds())
	case !found:
		return 0
	case own != forever:
		if tolerations.Min != nil {
			own = max(own, int64(tolerations.Min.Seconds()))
		}
		if tolerations.Max != nil {
			own = min(own, int64(tolerations.Max.Seconds()))
		}
		return own
	case tolerations.Unlimited == nil:
		return forever
	}
	daemon := tw.pod.Controller != nil && tw.pod.Controller.Kind == "DaemonSet" && !slices.Contains(p.Match.OwnerKinds, "DaemonSet")
	r := p.Match.Priority
	named := r != nil && (r.Min != nil && *r.Min >= 2e9 || r.Max != nil && *r.Max >= 2e9)
	if daemon || tw.pod.Priority >= 2e9 && !named {
		return forever
	}
	return int64(tolerations.Unlimited.Seconds())
}

// tolerates returns how long a pod tolerates a taint: by tolerations that count as if the effect were NoExecute;
// otherwise forever, by a toleration for NoSchedule.
func tolerates(tolerations []v1.Toleration, key, value string, effect v1.TaintEffect) (int64, bool) {
	for _, as := range []v1.TaintEffect{v1.TaintEffectNoExecute, effect} {
		for _, t := range tolerations {
			if t.Key != "" && t.Key != key || t.Effect != "" && t.Effect != as || t.Operator != "Exists" && t.Value != value {
				continue
			}
			if t.TolerationSeconds == nil || as == v1.TaintEffectNoSchedule {
				return forever, true
			}
			return max(0, *t.TolerationSeconds), true
		}
	}
	return 0, false
}

func TestDecideAgreesWithItsTwin(t *testing.T) {
	checkTwins(t, func(rt *rapid.T, w *twin) {
		set := compiled(t, w.config)
		v := set.Decide(w.pod, w.node, w.facts())
		got := outcome{seconds(v.Request), seconds(v.Delete), seconds(v.Unconditional), v.Held.By != 0}
		if v.Delete.RefusedFor == 0 {
			got.unconditional = got.delete // Unconditional does not count then
		}
		if want := w.decide(); got != want {
			rt.Fatalf("got %+v, want %+v\n%+v", got, want, v)
		}
		if stays := !v.Evicts() && v.Held.By == 0; stays != (v.Stay != 0) {
			rt.Fatalf("it has a reason to stay and goes, or is held, or has none: %+v", v)
		}
	})
}

func TestEachPairNamesThePolicyThatTheTwinFinds(t *testing.T) {
	checkTwins(t, func(rt *rapid.T, w *twin) {
		for _, p := range compiled(t, w.config).Pairs(w.pod, w.node, w.facts()) {
			want, method := w.first(*p.Taint)
			if want == nil && p.Policy != "" || want != nil && want.Name != p.Policy || p.Method != method && p.Method != "" {
				rt.Fatalf("%v: got %s %s, want %+v %s", p.Taint, p.Policy, p.Method, want, method)
			}
			waits := want != nil && w.matches(want.Match, *p.Taint) == "perhaps"
			if p.Held.By != 0 && (p.Held.By == policy.HeldByNamespace) != waits || waits && p.Held.By != 0 && p.Held.Name != want.Name {
				rt.Fatalf("%v: held by %+v, and the namespace is awaited: %v", p.Taint, p.Held, waits)
			}
		}
	})
}

// A policy in mode Audit reports what it would decide in mode Enforce.
func TestAnAuditSaysWhatEnforcingWouldDecide(t *testing.T) {
	checkTwins(t, func(rt *rapid.T, w *twin) {
		for _, p := range compiled(t, w.config).Pairs(w.pod, w.node, w.facts()) {
			for _, audit := range p.Audits {
				enforcing := w.config
				enforcing.Policies = slices.Clone(enforcing.Policies)
				i := slices.IndexFunc(enforcing.Policies, func(p policy.Policy) bool { return p.Name == audit.Policy })
				enforcing.Policies[i].Mode = policy.Enforce
				for _, q := range compiled(t, enforcing).Pairs(w.pod, w.node, w.facts()) {
					q.Audits = nil
					if q.Taint == p.Taint && !reflect.DeepEqual(q, audit) {
						rt.Fatalf("got %+v\nwant %+v", audit, q)
					}
				}
			}
		}
	})
}

// Without policies and breakers a verdict is exactly that of taint.Decide, including its pointers.
func TestWithoutPoliciesTheVerdictIsThatOfDecide(t *testing.T) {
	checkTwins(t, func(rt *rapid.T, w *twin) {
		rules := taint.Rules{NoComparison: rapid.Bool().Draw(rt, "no comparison")}
		want := taint.Decide(w.pod, w.node, rules)
		unrelated := policy.Policy{Name: "x", Match: taints(policy.Taint{Key: "not-there"}), Method: policy.Ignore}
		breaker := policy.Breaker{Name: "x", Taints: []policy.TaintKey{{Key: "not-there"}}}
		for name, c := range map[string]policy.Config{
			"none":                            {},
			"the method Evict":                {Method: policy.Evict},
			"a policy that matches nothing":   {Policies: []policy.Policy{unrelated}},
			"a breaker that guards nothing":   {Guards: policy.Guards{Breakers: []policy.Breaker{breaker}}},
			"and the method Evict for others": {Policies: []policy.Policy{unrelated}, Method: policy.Evict},
		} {
			c.Rules = rules
			v := compiled(t, c).Decide(w.pod, w.node, w.facts())
			if got := v.First(); got != want || v.Held.By != 0 || v.Request.Evict && v.Delete.Evict {
				rt.Fatalf("%s: got %+v, want %+v", name, v, want)
			}
			if v.Request.Evict && c.Method != policy.Evict || v.Delete.Evict && c.Method == policy.Evict {
				rt.Fatalf("%s: another method: %+v", name, v)
			}
		}
		var nobody policy.Judge
		if v := nobody.Decide(w.pod, w.node); rules == (taint.Rules{}) && v.First() != want {
			rt.Fatalf("no set: got %+v, want %+v", v, want)
		}
	})
}

func (tw *twin) facts() *policy.Facts {
	f := &policy.Facts{Namespaces: prod, Tripped: tw.tripped, Paused: tw.paused, Unread: tw.unread, Began: map[string]time.Time{}}
	for name, second := range tw.began {
		f.Began[name] = at(second)
	}
	for _, e := range tw.ended {
		e.Ended = at(e.at)
		f.Holds = append(f.Holds, e.HoldRecord)
	}
	return f
}

func seconds(a policy.Action) int64 {
	if !a.Evict {
		return never
	}
	return a.At.Unix() - zero.Unix()
}
