package sim

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// The promises of policies, guards and places.
const (
	HeldGoes     = "nothing that is held goes"
	Crowded      = "no more than three calls in flight for each worker"
	RateExceeded = "a call that has deleted its pod spends its tokens"
)

// slip is more than clocks drift in the time of a world.
const slip = 100 * time.Millisecond

// permitted judges the start of a call.
func (f *flight) permitted() error {
	p, uid := f.p, f.e.Pod.UID
	switch {
	case p.governance.config.Paused:
		return oracle.Broken(HeldGoes, "%s calls for pod %s while it is paused", p.name, uid)
	case p.dispatcher.InFlight() > 3*p.w.plan.workers:
		return oracle.Broken(Crowded, "%s calls for pod %s as number %d", p.name, uid, p.dispatcher.InFlight())
	}
	return nil
}

// decided judges a request that writes, by the file that is in force in the process, and by what the process was shown.
func (f *flight) decided() error {
	p, uid, key, node := f.p, f.e.Pod.UID, f.e.Verdict.Taint.Key, f.e.Pod.Node
	switch by := p.governance.heldBy(key, node); {
	case by != "":
		return oracle.Broken(HeldGoes, "%s goes on with pod %s because of %s, which %s holds", p.name, uid, key, by)
	case p.w.now()-p.w.oracle.ShownSince(node, key) < p.governance.settle(key)-slip:
		return oracle.Broken(oracle.Early, "%s goes on with pod %s because of %s, which has not settled", p.name, uid,
			key)
	}
	return nil
}

// spendsTokens requires that a call whose deletion the server has accepted does not give its tokens back.
func (f *flight) spendsTokens() error {
	if f.deleted && f.spared {
		return oracle.Broken(RateExceeded, "the call of %s for pod %s has deleted it, and says that it has not",
			f.p.name, f.e.Pod.UID)
	}
	return nil
}

// heldBy returns what holds the pods of a node with this taint, or "".
func (g *governance) heldBy(key, node string) string {
	if g.config.Paused {
		return "the pause"
	}
	matches := func(p policy.Policy) bool { return p.Match.Taints[0].Key == key }
	if i := slices.IndexFunc(g.config.Policies, matches); i >= 0 && g.config.Policies[i].Method == policy.Hold {
		return g.config.Policies[i].Name
	}
	for i := range g.config.Guards.Breakers {
		b := &g.config.Guards.Breakers[i]
		if b.Counts(key) && g.tooMany(b, policy.GroupOf(b.TopologyKey, zoneOf(node))) {
			return "breaker " + b.Name
		}
	}
	return ""
}

// tooMany reports whether more nodes of the group are affected than the breaker permits, by the nodes that the process
// was shown before this moment.
func (g *governance) tooMany(b *policy.Breaker, group string) bool {
	all, affected := 0, 0
	for _, n := range g.p.observer.Nodes() {
		if policy.GroupOf(b.TopologyKey, n.Labels) != group {
			continue
		}
		all++
		if slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return b.Counts(t.Key) }) {
			affected++
		}
	}
	limit, percent := b.Limit()
	if percent {
		affected, limit = affected*100, limit*all
	}
	return g.p.started && g.changed != g.p.w.now() && affected > limit
}

// settle returns how long a taint of this key must have been shown before it may evict.
func (g *governance) settle(key string) (least time.Duration) {
	for i := range g.config.Guards.Breakers {
		if b := &g.config.Guards.Breakers[i]; b.Counts(key) {
			least = max(least, b.SettleTime())
		}
	}
	return least
}

// holds reports whether a taint of the pod's node is held.
func (g *governance) holds(pod *v1.Pod) bool {
	return slices.ContainsFunc(g.p.observer.Nodes(), func(n *v1.Node) bool {
		return n.Name == pod.Spec.NodeName && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool {
			return t.Effect == v1.TaintEffectNoExecute && g.heldBy(t.Key, n.Name) != ""
		})
	})
}
