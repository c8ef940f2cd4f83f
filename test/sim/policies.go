package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// file is a configuration file, which is mounted from a moment on.
type file struct {
	at     time.Duration
	config breaker.Config
}

const zoneLabel = "zone"

// zoneOf returns the labels of a node. One of four nodes has no zone.
func zoneOf(node string) map[string]string {
	zones := map[string]string{nodeName(0): "a", nodeName(1): "b", nodeName(2): "a"}
	if zone, ok := zones[node]; ok {
		return map[string]string{zoneLabel: zone}
	}
	return nil
}

// govern adds policies and guards to the plan: a file at the start, changes of the file, and budgets that block.
func (p *plan) govern() {
	d := policyDrawer{rand.New(rand.NewPCG(p.seed, 9))}
	at, rates := time.Duration(0), d.rates()
	for i := range 1 + d.IntN(4) {
		if i > 0 {
			at = preface + span(d.Rand, 0, p.turmoil)
		}
		if d.IntN(3) == 0 {
			rates = d.rates()
		}
		c := policy.Config{Method: p.method, Guards: policy.Guards{Rates: rates}}
		for n := range d.IntN(3) {
			c.Policies = append(c.Policies, d.policy(n))
		}
		if d.IntN(3) == 0 {
			c.Guards.Breakers = []policy.Breaker{d.breaker()}
		}
		p.files = append(p.files, file{at, compiled(c, d.IntN(8) == 0)})
	}
	slices.SortFunc(p.files, func(a, b file) int { return int(a.at - b.at) })
	p.files[len(p.files)-1].config.Paused = false // so that the world has a quiet end
	for range d.IntN(3) {
		p.actions = append(p.actions, action{
			at: preface + span(d.Rand, 0, p.turmoil), kind: budget, lasts: span(d.Rand, 5*time.Second, time.Minute),
		})
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
}

// compiled returns a configuration, which must be valid.
func compiled(c policy.Config, paused bool) breaker.Config {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		panic(fmt.Sprintf("the drawn configuration is refused: %+v", problems))
	}
	return breaker.Config{Config: c, Set: set, Paused: paused}
}

// policyDrawer draws what a configuration consists of. No policy changes a deadline, so the oracle knows the deadlines.
type policyDrawer struct{ *rand.Rand }

// policy draws a policy for one key of NoExecute taints.
func (pd policyDrawer) policy(number int) policy.Policy {
	p := policy.Policy{
		Name:   fmt.Sprintf("policy-%d", number),
		Method: pick(pd.Rand, policy.Delete, policy.Evict, policy.Evict, policy.Evict, policy.Hold),
	}
	p.Match.Taints = []policy.Taint{{
		Key: pick(pd.Rand, "gpu", "gpu", "disk", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable),
	}}
	if p.Method == policy.Evict {
		p.DeleteAfter = pd.duration(time.Second, 20*time.Second)
	}
	return p
}

func (pd policyDrawer) duration(least, most time.Duration) *metav1.Duration {
	return &metav1.Duration{Duration: span(pd.Rand, least, most).Round(time.Millisecond)}
}

func (pd policyDrawer) rates() (list []policy.Rate) {
	if pd.IntN(2) == 0 {
		list = append(list, policy.Rate{
			Name: "cluster", EvictionsPerSecond: pick(pd.Rand, 0.3, 1, 5), Burst: 1 + pd.IntN(3),
		})
	}
	if pd.IntN(3) == 0 {
		list = append(list, policy.Rate{
			Name: "zones", TopologyKey: zoneLabel,
			Taints:             []policy.TaintKey{{Key: "gpu"}, {Key: v1.TaintNodeUnreachable}},
			EvictionsPerSecond: pick(pd.Rand, 0.3, 1), Burst: 1 + pd.IntN(2),
		})
	}
	return list
}

func (pd policyDrawer) breaker() policy.Breaker {
	return policy.Breaker{
		Name: "outage", TopologyKey: pick(pd.Rand, "", zoneLabel),
		Taints: []policy.TaintKey{
			{Key: pick(pd.Rand, "gpu", "disk")}, {Key: v1.TaintNodeUnreachable}, {Key: v1.TaintNodeNotReady},
		},
		MaxNodes: pick(pd.Rand, intstr.FromString("50%"), intstr.FromInt32(1)), MinNodes: new(int32(1)),
		Settle: pd.duration(time.Second, 15*time.Second), ResetAfter: pd.duration(2*time.Second, 10*time.Second),
	}
}
