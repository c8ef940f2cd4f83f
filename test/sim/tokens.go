package sim

import (
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
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
	group := policy.GroupOf(t.rate.TopologyKey, zoneOf(f.e.Pod.Node))
	return t.rate.Counts(f.e.Verdict.Taint.Key) && group == t.group
}

// slack is by how many tokens a clock may be wrong.
func (w *World) slack(t *tokens) float64 {
	if w.plan.clocks.drifting {
		return t.rate.EvictionsPerSecond * slip.Seconds()
	}
	return 1e-6
}

// setRates replaces the rates. A rate that keeps its name and its groups keeps its tokens; any other begins with none.
func (g *governance) setRates(rates []policy.Rate) {
	before := g.tokens
	g.tokens = nil
	for _, r := range rates {
		for _, group := range []string{policy.GroupOf(r.TopologyKey, nil), "a", "b"} {
			next := &tokens{rate: r, group: group, at: g.p.w.now()}
			for _, t := range before {
				if t.rate.Name == r.Name && t.group == group {
					t.fill(next.at)
					next.left = min(t.left, float64(r.Burst))
				}
			}
			g.tokens = append(g.tokens, next)
		}
	}
}

// countTokens adds tokens for a call, or takes some: then they must be there.
func (f *flight) countTokens(n float64) error {
	for _, t := range f.p.governance.tokens {
		if !t.counts(f) {
			continue
		}
		t.fill(f.p.w.now())
		if t.left = min(t.left+n, float64(t.rate.Burst)); n < 0 && t.left < -f.p.w.slack(t) {
			return oracle.Broken(RateExceeded, "%s calls for pod %s, and rate %s lacks %.3f tokens", f.p.name,
				f.e.Pod.UID, t.rate.Name, -t.left)
		}
	}
	return nil
}

// giveBack gives tokens back if the call has deleted nothing by its outcome.
func (f *flight) giveBack(o *eviction.Outcome) error {
	if f.returned = !o.MayHaveDeleted(); f.returned {
		_ = f.countTokens(1) // never fails
	}
	return f.keepTokens()
}

// keepTokens requires that a call whose deletion the server has accepted has not given its tokens back.
func (f *flight) keepTokens() error {
	if f.returned && f.deleted {
		return oracle.Broken(RateExceeded, "the call of %s for pod %s has deleted it, and gives its tokens back", f.p.name,
			f.e.Pod.UID)
	}
	return nil
}
