package shard_test

import (
	"maps"
	"testing"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
)

// The pod a tolerates gpu for 4 s.
func TestACallNamesWhatExplainsThatItIsLate(t *testing.T) {
	rates := []policy.Rate{{Name: "cluster", EvictionsPerSecond: 0.1, Burst: 1}}
	hold := func(p *ratePlay, second float64) {
		p.step(second, shard.Reconfigured{Judge: judgeOf(p.t, of("gpu", policy.Hold))})
		p.nodeChanged(second)
	}
	free := func(p *ratePlay, second float64) {
		p.step(second, shard.Reconfigured{Judge: judgeOf(p.t)})
		p.nodeChanged(second)
	}
	for name, c := range map[string]struct {
		rates []policy.Rate
		play  func(p *ratePlay)
		want  eviction.LateBy
	}{
		"nothing":                             {nil, func(*ratePlay) {}, ""},
		"a busy shard":                        {nil, func(p *ratePlay) { p.nodeChanged(29) }, ""},
		"a rate":                              {rates, func(p *ratePlay) { p.permit(5) }, eviction.LateByRate},
		"a rate that has a token":             {rates, func(*ratePlay) {}, ""},
		"a rate, and an edit meanwhile":       {rates, func(p *ratePlay) { p.permit(5); p.nodeChanged(6) }, eviction.LateByRate},
		"a hold that ends after the deadline": {nil, func(p *ratePlay) { hold(p, 2); free(p, 20) }, eviction.LateByHold},
		"a hold that ends before it":          {nil, func(p *ratePlay) { hold(p, 2); free(p, 3) }, ""},
		"a hold, then a rate":                 {rates, func(p *ratePlay) { hold(p, 2); free(p, 5); p.permit(6) }, eviction.LateByRate},
		"a rate, before the taint was set anew": {rates, func(p *ratePlay) {
			p.permit(5)
			p.lift("gpu")
			p.nodeChanged(6)
			p.taint("gpu", 7)
			p.nodeChanged(7)
		}, ""},
	} {
		p := newRatePlay(t, c.rates...)
		p.add("a", bears("gpu", 4))
		p.taint("gpu", 0)
		p.nodeChanged(0)
		c.play(p)
		start := p.step(30, shard.Permitted{Take: p.take(30)})
		if start == nil || start.LateBy != c.want {
			t.Errorf("%s: got %+v, want %q", name, start, c.want)
		}
	}
}

func TestWhatWaitsIsCountedByItsTightestRate(t *testing.T) {
	p := newRatePlay(t,
		policy.Rate{Name: "cluster", EvictionsPerSecond: 1, Burst: 2}, policy.Rate{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 0.1, Burst: 1})
	want := func(second float64, numbers map[string]int) {
		t.Helper()
		if got := p.core.WaitingByRate(); !maps.Equal(got, numbers) {
			t.Errorf("second %v: got %v, want %v", second, got, numbers)
		}
	}
	want(0, nil)
	p.zoned("n", "a", 3)
	p.zoned("m", "b", 2)
	p.permit(0)
	want(0, map[string]int{"zones": 5})
	for range 2 {
		if p.permit(10) == "" {
			t.Fatal("no call starts")
		}
	}
	p.permit(10) // the cluster's two tokens are reserved, and so are those of both zones
	want(10, map[string]int{"cluster": 3})
	p.remove("n-2")
	p.podChanged(11, "n-2")
	want(11, map[string]int{"cluster": 2})
}
