package sim

import (
	"math"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// tokens are those of one group of a rate, by a plain reading of what rates promise: there are none when a term begins,
// a call takes one when it starts, and gives it back when it has ended and has deleted nothing.
type tokens struct {
	rate  policy.Rate
	group string
	left  float64
	at    time.Duration
}

// fill adds what has come since the last time.
func (t *tokens) fill(now time.Duration) {
	t.left = min(t.left+t.rate.EvictionsPerSecond*(now-t.at).Seconds(), float64(t.rate.Burst))
	t.at = now
}

// counts reports whether the rate counts the call, in this group.
func (t *tokens) counts(f *flight) bool {
	if policy.GroupOf(t.rate.TopologyKey, f.p.w.server.labels[f.e.Pod.Node]) != t.group {
		return false
	}
	return len(t.rate.Taints) == 0 || slices.Contains(t.rate.Taints, policy.TaintKey{Key: f.e.Verdict.Taint.Key})
}

// slack is by how many tokens a clock may be wrong.
func (w *World) slack(t *tokens) float64 {
	if w.plan.clocks.drifting {
		return t.rate.EvictionsPerSecond * slip.Seconds()
	}
	return 1e-6
}

// setRates replaces the rates. A rate that keeps its name and its groups keeps its whole tokens; any other begins with
// none, less the calls under way.
func (g *governance) setRates(rates []policy.Rate) {
	before := g.tokens
	g.tokens = nil
	for _, r := range rates {
		var groups []string
		for i := range g.p.w.plan.nodes {
			group := policy.GroupOf(r.TopologyKey, zoneOf(i))
			if !slices.Contains(groups, group) {
				groups = append(groups, group)
				g.tokens = append(g.tokens, g.tokensOf(r, group, before))
			}
		}
	}
}

// tokensOf returns the tokens of a group of a rate.
func (g *governance) tokensOf(r policy.Rate, group string, before []*tokens) *tokens {
	now := &tokens{rate: r, group: group, at: g.p.w.now()}
	i := slices.IndexFunc(before, func(t *tokens) bool {
		return t.rate.Name == r.Name && t.rate.TopologyKey == r.TopologyKey && t.group == group
	})
	if i < 0 {
		for _, f := range g.p.flights {
			// the labels of nodes may not have been known when the call was offered
			if now.counts(f) && r.TopologyKey == "" {
				now.left--
			}
		}
		return now
	}
	was := before[i]
	was.fill(now.at)
	now.left = was.left
	if was.rate.EvictionsPerSecond != r.EvictionsPerSecond || was.rate.Burst != r.Burst {
		now.left = min(math.Floor(was.left+g.p.w.slack(was)), float64(r.Burst))
	}
	return now
}

// countTokens adds tokens for a call, or takes some: then they must be there.
func (f *flight) countTokens(n float64) error {
	for _, t := range f.p.governance.tokens {
		if !t.counts(f) {
			continue
		}
		t.fill(f.p.w.now())
		if t.left = min(t.left+n, float64(t.rate.Burst)); n < 0 && t.left < -f.p.w.slack(t) {
			return broken(RateExceeded, "%s calls for pod %s, and rate %s lacks %.3f tokens", f.p.name, f.e.Pod.UID,
				t.rate.Name, -t.left)
		}
	}
	return nil
}

// giveBack gives tokens back if the call has deleted nothing by its outcome.
func (f *flight) giveBack(o *eviction.Outcome) error {
	if f.gave = !o.MayHaveDeleted(); f.gave {
		_ = f.countTokens(1) // never fails
	}
	return f.keepTokens()
}

// keepTokens requires that a call whose deletion the server has accepted has not given its tokens back.
func (f *flight) keepTokens() error {
	if f.gave && f.deleted {
		return broken(RateExceeded, "the call of %s for pod %s has deleted it, and gives its tokens back", f.p.name,
			f.e.Pod.UID)
	}
	return nil
}
