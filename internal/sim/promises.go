package sim

import (
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
	"github.com/taint-manager/taint-manager/policy"
)

// The promises of policies and guards.
const (
	RateExceeded = "no more calls start than a rate permits"
	HeldGoes     = "a held pair never goes"
	TrippedGoes  = "a tripped breaker lets nothing of its group go"
	Unasked      = "no DELETE by deleteAfter before an eviction was refused"
	ByPolicy     = "the first policy that matches decides"
	Crowded      = "no more calls than slots and slow places, and one of a namespace of which nothing is known"
	Lost         = "at a quiet end all that is due by the last file is gone"
)

func broken(rule, format string, args ...any) error {
	return &oracle.Violation{Rule: rule, Text: fmt.Sprintf(format, args...)}
}

// decided judges a request that writes by a plain reading of the file that the process has in force: one of the taints
// of the key for which the rates count it must permit it, as the process was shown them last.
func (f *flight) decided() error {
	g, e := &f.p.governance, &f.e
	if g.config.Paused {
		return broken(HeldGoes, "%s goes on with pod %s while it is paused", f.p.name, e.Pod.UID)
	}
	err := broken(oracle.Stays, "%s goes on with pod %s, whose node has no taint %s", f.p.name, e.Pod.UID,
		e.Verdict.Taint.Key)
	for t, s := range g.shown[e.Pod.Node] {
		if t.Value = s.value; t.Key != e.Verdict.Taint.Key {
			continue
		}
		if err = f.decidedBy(&t); err == nil {
			return nil
		}
	}
	return err
}

// decidedBy judges a request that writes because of this taint.
func (f *flight) decidedBy(t *v1.Taint) error {
	g, e := &f.p.governance, &f.e
	if b := g.breakerOf(t, e.Pod.Node); b != nil {
		return broken(TrippedGoes, "%s goes on with pod %s because of %s, and too many nodes are affected", f.p.name,
			e.Pod.UID, t.ToString())
	}
	decides := g.decides(t, f.p.w.server.grace[e.Pod.UID].app)
	switch method := g.methodOf(decides, t); {
	case method == policy.Hold:
		return broken(HeldGoes, "%s goes on with pod %s because of %s, which policy %s holds", f.p.name, e.Pod.UID,
			t.ToString(), decides.Name)
	case method == policy.Ignore || method == "":
		return broken(ByPolicy, "%s goes on with pod %s because of %s, which is to be ignored", f.p.name, e.Pod.UID,
			t.ToString())
	case e.Method == policy.Evict && method != policy.Evict:
		return broken(ByPolicy, "%s evicts pod %s, which is to be deleted", f.p.name, e.Pod.UID)
	case e.Method == policy.Delete && method == policy.Evict:
		return f.deletesAfter(decides, t)
	}
	return nil
}

// deletesAfter judges a DELETE by deleteAfter because of this taint.
func (f *flight) deletesAfter(by *policy.Policy, t *v1.Taint) error {
	p, uid := f.p, f.e.Pod.UID
	if by == nil || by.DeleteAfter == nil {
		return broken(ByPolicy, "%s deletes pod %s, which is only to be evicted", p.name, uid)
	}
	if f.ask.deletes {
		p.w.counts.DeletedAfter++
	}
	after, now := by.DeleteAfter.Duration, p.w.now()
	refused, was := p.governance.refused[uid]
	if least := min(after, time.Minute); least > 0 && (!was || now-refused < least-slip) {
		return broken(Unasked, "%s deletes pod %s, whose eviction it has seen refused: %v, at %v", p.name, uid, was,
			refused)
	}
	if end := p.governance.lastEnd(t, f.e.Pod.Node); now-end < after-slip {
		return broken(oracle.Early, "%s deletes pod %s %v after a hold of its taint ended; policy %s waits for %v",
			p.name, uid, now-end, by.Name, after)
	}
	if since := p.w.shownSince(f.e.Pod.Node, t); t.Effect == v1.TaintEffectNoSchedule && now-since < after-slip {
		return broken(oracle.Early, "%s deletes pod %s %v after its taint was seen; policy %s waits for %v", p.name,
			uid, now-since, by.Name, after)
	}
	return nil
}

// endedHold is a hold that has ended at that time.
type endedHold struct {
	policy.HoldRecord
	at time.Duration
}

// noteEnds notes which holds of the process have ended, while it leads without a break: another leader may not have
// read the end that this one could not write.
func (g *governance) noteEnds() {
	if !g.p.leading() || !g.p.started {
		g.holding, g.ended = nil, nil
		return
	}
	present := g.config.Holds(g.core.Judge().Facts.Tripped, g.config.Paused)
	for _, was := range g.holding {
		if !slices.ContainsFunc(present, func(is policy.HoldRecord) bool {
			return is.Same(&was) && is.Rules == was.Rules
		}) {
			g.ended = append(g.ended, endedHold{was, g.p.w.now()})
		}
	}
	g.holding = present
}

// lastEnd returns when the last hold ended that counts for pods on the node with this taint; a time long ago if none
// has.
func (g *governance) lastEnd(t *v1.Taint, node string) time.Duration {
	last := -time.Hour
	for _, h := range g.ended {
		names := h.Taints == nil || slices.Contains(h.Taints, policy.KeyPattern{Key: t.Key}) // no policy has a prefix
		of := g.nodes[node]
		inGroup := h.TopologyKey == "" || of != nil && policy.GroupOf(h.TopologyKey, of.Labels) == h.Group
		if names && inGroup {
			last = max(last, h.at)
		}
	}
	return last
}

// slip is more than what clocks drift in the time of a world.
const slip = 100 * time.Millisecond

// shownTaint is the value of a taint, and since when it was shown with any value, without a break.
type shownTaint struct {
	value string
	since time.Duration
}

// shows notes that the process was shown a node, or that it is gone.
func (g *governance) shows(n *v1.Node, gone bool) {
	before, now := g.shown[n.Name], map[v1.Taint]shownTaint{}
	for _, t := range n.Spec.Taints {
		key := v1.Taint{Key: t.Key, Effect: t.Effect}
		s, was := before[key]
		if s.value = t.Value; !was {
			s.since = g.p.w.now()
		}
		now[key] = s
	}
	if gone {
		now = nil
	}
	g.shown[n.Name] = now
}

// showsAll notes that the process was shown all nodes.
func (g *governance) showsAll(nodes []*v1.Node) {
	before := g.shown
	g.shown = map[string]map[v1.Taint]shownTaint{}
	for _, n := range nodes {
		g.shown[n.Name] = before[n.Name]
		g.shows(n, false)
	}
}

// shownSince returns since when any process has been shown the node with the taint, with any value, without a break.
func (w *World) shownSince(node string, t *v1.Taint) (since time.Duration) {
	since = never
	for _, g := range w.everGoverned {
		if s, ok := g.shown[node][v1.Taint{Key: t.Key, Effect: t.Effect}]; ok {
			since = min(since, s.since)
		}
	}
	return since
}

// decides returns the first policy that matches a pod with this label app and the taint; nil if none does.
func (g *governance) decides(t *v1.Taint, app string) *policy.Policy {
	for i := range g.config.Policies {
		p := &g.config.Policies[i]
		m := &p.Match.Taints[0]
		effects := m.Effects
		if effects == nil {
			effects = []v1.TaintEffect{v1.TaintEffectNoExecute}
		}
		switch {
		case p.Mode == policy.Audit, m.Key != t.Key, !slices.Contains(effects, t.Effect):
		case m.Values != nil && !slices.Contains(m.Values, t.Value):
		case p.Match.PodSelector != nil && p.Match.PodSelector.MatchLabels["app"] != app:
		default:
			return p
		}
	}
	return nil
}

// methodOf returns the method of the policy, or that of pairs without one.
func (g *governance) methodOf(p *policy.Policy, t *v1.Taint) policy.Method {
	switch {
	case p != nil:
		return p.Method
	case t.Effect == v1.TaintEffectNoExecute:
		return g.config.Method
	}
	return ""
}

// breakerOf returns the breaker that must be tripped for the group of a node, by the nodes that the process was shown.
func (g *governance) breakerOf(t *v1.Taint, node string) *policy.Breaker {
	of := g.nodes[node]
	if of == nil || !g.synced || !g.p.started {
		return nil
	}
	for i := range g.config.Guards.Breakers {
		b := &g.config.Guards.Breakers[i]
		named := func(key string) bool { return slices.Contains(b.Taints, policy.TaintKey{Key: key}) }
		if named(t.Key) && g.tooMany(b, of, named) {
			return b
		}
	}
	return nil
}

// tooMany counts the affected nodes among those of the node's group.
func (g *governance) tooMany(b *policy.Breaker, of *guard.Node, named func(string) bool) bool {
	all, affected := 0, 0
	for _, n := range g.nodes {
		if policy.GroupOf(b.TopologyKey, n.Labels) != policy.GroupOf(b.TopologyKey, of.Labels) {
			continue
		}
		all++
		if slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return named(t.Key) }) {
			affected++
		}
	}
	limit, percent := b.Limit()
	if percent {
		return affected*100 > limit*all && affected >= b.LeastNodes()
	}
	return affected > limit && affected >= b.LeastNodes()
}

// permitted judges the start of a call by the pause, by places and by rates.
func (f *flight) permitted() error {
	p, of := f.p, f.e.Pod
	switch {
	case p.governance.config.Paused:
		return broken(HeldGoes, "%s calls for pod %s while it is paused", p.name, of.UID)
	case len(p.flights) >= p.w.plan.workers+p.w.plan.places:
		return broken(Crowded, "%s calls for pod %s, and %d calls are under way", p.name, of.UID, len(p.flights))
	case !p.waits.isSlow(of.Namespace) && !p.waits.isQuick(of.Namespace, slip) && p.waits.calls(of.Namespace, 0) > 0:
		return broken(Crowded, "%s calls for pod %s, and another call of its namespace is under way", p.name, of.UID)
	}
	return f.countTokens(-1)
}

// longestBehind is how long before the quiet end a pod that is still there may have become due: deleteAfter waits for a
// refusal of a minute, and rates for their tokens.
const longestBehind = 100 * time.Second

// nothingLost judges the end of a world by the leader's judge: what has been due for long is gone.
func (p *process) nothingLost() error {
	for _, pod := range p.w.server.pods {
		known, node := p.feed.Pod(pod.UID)
		if pod.DeletionTimestamp != nil || pod.Spec.NodeName == "" || !watched(pod) {
			continue
		}
		if known == nil {
			return broken(Lost, "%s does not know pod %s", p.name, pod.UID)
		}
		verdict := p.governance.judge.Decide(known, node)
		if method, action := verdict.Due(p.now().Add(-longestBehind)); action != nil {
			return broken(Lost, "pod %s is still there, and was due at %v by method %s: %s", pod.UID,
				p.clock.moment(action.At)-preface, method, action.Because())
		}
	}
	return nil
}
