package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// The promises of policies and guards.
const (
	RateExceeded = "no more calls start than a rate permits"
	HeldGoes     = "nothing that is held goes"
	Unasked      = "no DELETE by deleteAfter before an eviction was refused"
	ByPolicy     = "the first policy that matches decides"
	Crowded      = "no more calls than slots and slow places"
)

// slip is more than clocks drift in the time of a world.
const slip = 100 * time.Millisecond

// decided judges a request that writes by a plain reading of the file that the process has in force, and by what the
// process was shown.
func (f *flight) decided() error {
	p, e := f.p, &f.e
	g, key, node := &p.governance, e.Verdict.Taint.Key, e.Pod.Node
	method, of := g.config.Method, g.decides(key)
	if of != nil {
		method = of.Method
	}
	by := g.heldBy(key, node, g.tooMany)
	switch {
	case by != "":
		return oracle.Broken(HeldGoes, "%s goes on with pod %s because of %s, which %s holds", p.name, e.Pod.UID,
			key, by)
	case p.w.now()-p.w.shownSince(node, key) < g.settle(key)-slip:
		return oracle.Broken(oracle.Early, "%s goes on with pod %s because of %s, which has not settled", p.name,
			e.Pod.UID, key)
	case cmp.Or(e.Method, g.config.Method) == method:
		return nil
	case method == policy.Delete || of == nil:
		return oracle.Broken(ByPolicy, "%s goes on with pod %s by method %s instead of %s", p.name, e.Pod.UID, e.Method,
			method)
	}
	return f.deletesAfter(of.DeleteAfter.Duration)
}

// deletesAfter judges a DELETE by deleteAfter.
func (f *flight) deletesAfter(after time.Duration) error {
	p, uid, now := f.p, f.e.Pod.UID, f.p.w.now()
	if f.ask.deletes {
		p.w.counts["DeletedAfter"]++
	}
	refused, was := p.governance.refused[uid]
	if !was || now-refused < min(after, time.Minute)-slip {
		return oracle.Broken(Unasked, "%s deletes pod %s, whose eviction it has seen refused: %v, at %v", p.name, uid, was,
			refused)
	}
	held, was := p.governance.held[onNode{f.e.Pod.Node, f.e.Verdict.Taint.Key}]
	if was && now-held < after-slip {
		return oracle.Broken(oracle.Early, "%s deletes pod %s %v after a hold of its taint, instead of %v", p.name, uid,
			now-held, after)
	}
	return nil
}

// decides returns the first policy that matches taints of this key; nil if none does.
func (g *governance) decides(key string) *policy.Policy {
	i := slices.IndexFunc(g.config.Policies, func(p policy.Policy) bool { return p.Match.Taints[0].Key == key })
	if i < 0 {
		return nil
	}
	return &g.config.Policies[i]
}

// heldBy returns what holds the pods of a node with this taint, or "". trips reports whether a breaker is tripped for
// the group.
func (g *governance) heldBy(key, node string, trips func(b *policy.Breaker, group string) bool) string {
	if g.config.Paused {
		return "the pause"
	}
	if p := g.decides(key); p != nil && p.Method == policy.Hold {
		return p.Name
	}
	for i := range g.config.Guards.Breakers {
		b := &g.config.Guards.Breakers[i]
		if of := g.nodes[node]; of != nil && b.Counts(key) && trips(b, policy.GroupOf(b.TopologyKey, of.Labels)) {
			return "breaker " + b.Name
		}
	}
	return ""
}

// tooMany reports whether more nodes of the group are affected than the breaker permits, by the nodes that the process
// was shown.
func (g *governance) tooMany(b *policy.Breaker, group string) bool {
	all, affected := 0, 0
	for _, n := range g.nodes {
		if policy.GroupOf(b.TopologyKey, n.Labels) != group {
			continue
		}
		all++
		if slices.ContainsFunc(n.Taints, func(t v1.Taint) bool { return b.Counts(t.Key) }) {
			affected++
		}
	}
	limit, percent := b.Limit()
	if percent {
		affected, limit = affected*100, limit*all
	}
	return g.synced && g.p.started && affected > limit
}

// tripped reports whether the program says that the breaker is tripped for the group.
func (g *governance) tripped(b *policy.Breaker, group string) bool {
	return g.core.Judge().Facts.Tripped[policy.Trip{Breaker: b.Name, Group: group}]
}

// settle returns how long a taint of this key must have been shown.
func (g *governance) settle(key string) (least time.Duration) {
	for i := range g.config.Guards.Breakers {
		if b := &g.config.Guards.Breakers[i]; b.Counts(key) {
			least = max(least, b.SettleTime())
		}
	}
	return least
}

// onNode names the taints of one key on one node.
type onNode struct{ node, key string }

// noteHolds notes until when the present taints were held, while the process leads without a break: the process may
// not have read the end of a hold that another leader has recorded.
func (g *governance) noteHolds() {
	if !g.p.leading() || !g.p.started {
		g.held, g.holding = map[onNode]time.Duration{}, map[onNode]bool{}
		return
	}
	note := func(t onNode) {
		is := g.heldBy(t.key, t.node, g.tripped) != ""
		if g.holding[t] && !is {
			g.held[t] = g.p.w.now()
		}
		g.holding[t] = is
	}
	for t := range g.shown {
		note(t)
	}
	for t := range g.holding {
		note(t) // a hold may end while the node does not have the taint
	}
}

// showsAll notes that the process is shown all nodes.
func (g *governance) showsAll(nodes []*v1.Node, since time.Duration) {
	for t := range g.shown {
		if !slices.ContainsFunc(nodes, func(n *v1.Node) bool { return n.Name == t.node }) {
			delete(g.shown, t)
			delete(g.held, t)
		}
	}
	for _, n := range nodes {
		g.shows(n, false, since)
	}
}

// shows notes that the process is shown a node, and takes taints that are new for present since that moment.
func (g *governance) shows(n *v1.Node, gone bool, since time.Duration) {
	now := map[onNode]time.Duration{}
	for _, t := range n.Spec.Taints {
		if !gone && t.Effect == v1.TaintEffectNoExecute {
			now[onNode{n.Name, t.Key}] = min(since, g.exposedSince(n.Name, t.Key))
		}
	}
	ended := func(t onNode, _ time.Duration) bool { _, is := now[t]; return t.node == n.Name && !is }
	maps.DeleteFunc(g.shown, ended)
	maps.DeleteFunc(g.held, ended)
	maps.Copy(g.shown, now)
	g.noteHolds()
}

// exposedSince returns since when the process was shown the node with this taint, or with one that counts as the same;
// never if it was not.
func (g *governance) exposedSince(node, key string) time.Duration {
	since := never
	for t, at := range g.shown {
		if t.node == node && oracle.Group(t.key) == oracle.Group(key) {
			since = min(since, at)
		}
	}
	return since
}

// holds reports whether a taint of the pod's node is held.
func (g *governance) holds(pod *v1.Pod) bool {
	for t := range g.shown {
		if t.node == pod.Spec.NodeName && g.heldBy(t.key, t.node, g.tripped) != "" {
			return true
		}
	}
	return false
}

// shownSince returns since when any process has been shown the node with the taint, without a break.
func (w *World) shownSince(node, key string) time.Duration {
	since := never
	for _, g := range w.everGoverned {
		if s, ok := g.shown[onNode{node, key}]; ok {
			since = min(since, s)
		}
	}
	return since
}

// permitted judges the start of a call by the pause, by places and by rates.
func (f *flight) permitted() error {
	p, of := f.p, f.e.Pod
	switch {
	case p.governance.config.Paused:
		return oracle.Broken(HeldGoes, "%s calls for pod %s while it is paused", p.name, of.UID)
	case len(p.flights) >= p.w.plan.workers+p.w.plan.places:
		return oracle.Broken(Crowded, "%s calls for pod %s, and %d calls are under way", p.name, of.UID, len(p.flights))
	}
	return f.countTokens(-1)
}
