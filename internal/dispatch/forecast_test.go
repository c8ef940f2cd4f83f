package dispatch

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/policy"
)

func TestForeseeSaysWhenTheLastDelayedEvictionStarts(t *testing.T) {
	began := time.Date(2026, 5, 1, 10, 0, 0, 0, time.UTC)
	at := func(seconds float64) time.Time { return began.Add(time.Duration(seconds * float64(time.Second))) }
	turn := func(seconds float64, zone string, keys ...string) Turn {
		return Turn{At: at(seconds), TaintKeys: keys, NodeLabels: map[string]string{"zone": zone}}
	}
	slow := policy.Rate{Name: "slow", Taints: []policy.TaintKey{{Key: "m"}}, EvictionsPerSecond: 0.001, Burst: 1}
	quick := policy.Rate{Name: "quick", Taints: []policy.TaintKey{{Key: "m"}}, EvictionsPerSecond: 0.1, Burst: 1}
	second := policy.Rate{Name: "second", EvictionsPerSecond: 1, Burst: 1}
	zones := policy.Rate{Name: "zones", TopologyKey: "zone", EvictionsPerSecond: 0.1, Burst: 2}
	for name, c := range map[string]struct {
		turns []Turn
		rates []policy.Rate
		calls float64
		want  *Forecast
	}{
		"nothing goes":              {nil, []policy.Rate{slow}, 1, nil},
		"there is no limit":         {[]Turn{turn(0, "a", "m"), turn(0, "a", "m")}, nil, 0, nil},
		"one is in the burst":       {[]Turn{turn(0, "a", "m")}, []policy.Rate{slow}, 0, nil},
		"the second waits":          {[]Turn{turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{slow}, 0, &Forecast{"slow", 0.001, 1, at(1000), 2}},
		"the second is due late":    {[]Turn{turn(0, "a", "m"), turn(1000, "b", "m")}, []policy.Rate{slow}, 0, nil},
		"the third is not delayed":  {[]Turn{turn(0, "a", "m"), turn(0, "b", "m"), turn(5000, "b", "m")}, []policy.Rate{slow}, 0, &Forecast{"slow", 0.001, 1, at(1000), 2}},
		"in any order, one overdue": {[]Turn{turn(10, "b", "m"), turn(-2000, "a", "m")}, []policy.Rate{slow}, 0, &Forecast{"slow", 0.001, 1, at(1000), 2}},
		"another taint":             {[]Turn{turn(0, "a", "k"), turn(0, "b", "k")}, []policy.Rate{slow}, 0, nil},
		"another taint, too":        {[]Turn{turn(0, "a", "m", "k"), turn(0, "b", "m", "k")}, []policy.Rate{slow}, 0, nil},
		"each zone has its bucket":  {[]Turn{turn(0, "a", "m"), turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{zones}, 0, nil},
		"a zone has used its burst": {[]Turn{turn(0, "a", "m"), turn(0, "a", "m"), turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{zones}, 0, &Forecast{"zones", 0.1, 1, at(10), 3}},
		"all calls":                 {[]Turn{turn(0, "a", "m"), turn(0, "b", "k")}, nil, 0.001, &Forecast{"", 0.001, 1, at(1000), 2}},
		"the slower one counts":     {[]Turn{turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{slow}, 0.5, &Forecast{"slow", 0.001, 1, at(1000), 2}},
		"or the limit of all calls": {[]Turn{turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{quick}, 0.001, &Forecast{"", 0.001, 1, at(1000), 2}},
		"a second of delay":         {[]Turn{turn(0, "a", "m"), turn(0, "b", "m")}, []policy.Rate{second}, 0, &Forecast{"second", 1, 1, at(1), 2}},
		"less than a second":        {[]Turn{turn(0, "a", "m"), turn(0, "b", "k")}, nil, 10, nil},
	} {
		if diff := cmp.Diff(c.want, Foresee(began, c.turns, c.rates, c.calls)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}
