package policy

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/utils/ptr"
)

// Defaults of breakers.
const (
	defaultSettle     = 10 * time.Second
	defaultResetAfter = 5 * time.Minute

	// safeGroup is the default of minNodes for a breaker with a topologyKey. A kubelet may write most labels of its
	// node, so one or two nodes can make a group of their own. A smaller default would let the breaker hold the pods of
	// such a group forever.
	safeGroup = 3
)

// SettleTime returns the minimum time between the first sight of a taint and an eviction because of it.
func (b *Breaker) SettleTime() time.Duration {
	return ptr.Deref(b.Settle, metav1.Duration{Duration: defaultSettle}).Duration
}

// ResetTime returns how long the affected nodes must have been within the limit before a reset. A deleted node that was
// affected still counts for the same time.
func (b *Breaker) ResetTime() time.Duration {
	return ptr.Deref(b.ResetAfter, metav1.Duration{Duration: defaultResetAfter}).Duration
}

// Counts reports whether the rate counts evictions because of a taint with this key. A rate without taints counts all
// keys except out-of-service.
func (r *Rate) Counts(key string) bool {
	if len(r.Taints) == 0 {
		return key != v1.TaintNodeOutOfService
	}
	return slices.Contains(r.Taints, TaintKey{key})
}

// Counts reports whether a node with a taint of this key is affected.
func (b *Breaker) Counts(key string) bool { return slices.Contains(b.Taints, TaintKey{key}) }

// concerns reports whether the breaker counts the taint of the pair, and selects the node.
func (b *breaker) concerns(p *pair) bool {
	return b.Counts(p.taint.Key) && b.nodes.Matches(labels.Set(p.node.Labels))
}

// settled returns the latest end of the settle times of the breakers that count the pair's taint; zero if none does.
func (p *pair) settled() (latest time.Time) {
	for i := range p.set.breakers {
		if b := &p.set.breakers[i]; b.SettleTime() > 0 && b.concerns(p) {
			latest = later(latest, b.firstSeen(p).Add(b.SettleTime()))
		}
	}
	return latest
}

// firstSeen returns the start of the latest unbroken run of states whose keys the breaker counts. If a list after a
// watch gap showed that start, the time of the list counts, because no breaker saw the taint before.
func (b *breaker) firstSeen(p *pair) time.Time {
	first := len(p.states) - 1
	for first > 0 && b.Counts(p.states[first-1].Taint.Key) {
		first--
	}
	return later(p.states[first].Since, p.states[first].Relisted)
}

// Limit returns how many nodes may be affected, or which percentage of them. The breaker must be valid.
func (b *Breaker) Limit() (limit int, percent bool) {
	if b.MaxNodes.Type == intstr.Int {
		return int(b.MaxNodes.IntVal), false
	}
	limit, _ = strconv.Atoi(strings.TrimSuffix(b.MaxNodes.StrVal, "%"))
	return limit, true
}

// LeastNodes returns how many nodes must be affected for a trip, whatever the limit.
func (b *Breaker) LeastNodes() int {
	switch {
	case b.MinNodes != nil:
		return int(*b.MinNodes)
	case b.TopologyKey != "":
		return safeGroup
	}
	return 1
}

// LeastAffected returns how many nodes of a group must be affected for a trip, whatever the size of the group.
func (b *Breaker) LeastAffected() int {
	if limit, percent := b.Limit(); !percent {
		return max(b.LeastNodes(), limit+1)
	}
	return b.LeastNodes()
}

// ResetOf returns how the breaker with this name and topologyKey is reset; "" if there is no such breaker.
func (g *Guards) ResetOf(breaker, topologyKey string) Reset {
	for i := range g.Breakers {
		if b := &g.Breakers[i]; b.Name == breaker && b.TopologyKey == topologyKey {
			return cmp.Or(b.Reset, Automatic)
		}
	}
	return ""
}
