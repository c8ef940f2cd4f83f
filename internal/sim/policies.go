package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// file is a configuration file, which is mounted from a moment on.
type file struct {
	at     time.Duration
	config guard.Config
}

// zoneLabel groups the nodes of worlds with policies.
const zoneLabel = "zone"

// zoneOf returns the labels of a node. One of four nodes has no zone.
func zoneOf(i int) map[string]string {
	if i == 3 {
		return nil
	}
	return map[string]string{zoneLabel: []string{"a", "b"}[i%2]}
}

// govern adds policies and guards to the plan: a file at the start, and changes of it.
func (p *plan) govern() {
	r := rand.New(rand.NewPCG(p.seed, 9))
	d := policyDrawer{r: r, method: p.method()}
	rates := d.rates()
	at := time.Duration(0)
	for i := range 1 + r.IntN(4) {
		if i > 0 {
			at = preface + span(r, 0, p.turmoil)
			if r.IntN(3) == 0 {
				rates = d.rates()
			}
		}
		p.files = append(p.files, file{at, d.config(rates)})
	}
	slices.SortFunc(p.files, func(a, b file) int { return int(a.at - b.at) })
	p.files[len(p.files)-1].config.Paused = false // so that the world has a quiet end
	for range r.IntN(3) {
		p.actions = append(p.actions, action{
			at: preface + span(r, 0, p.turmoil), kind: budget,
			lasts: span(r, 5*time.Second, time.Minute),
		})
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
	for i := range p.actions {
		if a := &p.actions[i]; a.taint.Key != "" && r.IntN(3) == 0 {
			a.taint.Effect = v1.TaintEffectNoSchedule
		}
	}
}

// compiled returns a configuration, which must be valid.
func compiled(c policy.Config, paused bool) guard.Config {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		panic(fmt.Sprintf("the drawn configuration is refused: %+v", problems))
	}
	return guard.Config{Config: c, Set: set, Paused: paused}
}

// policyDrawer draws configurations.
type policyDrawer struct {
	r      *rand.Rand
	method policy.Method // of pairs that no policy decides
	made   int           // number of policies so far
}

func (pd *policyDrawer) config(rates []policy.Rate) guard.Config {
	c := policy.Config{Method: pd.method, Guards: policy.Guards{Rates: rates}}
	for range pd.r.IntN(4) {
		c.Policies = append(c.Policies, pd.policy())
	}
	if pd.r.IntN(3) == 0 {
		c.Guards.Breakers = []policy.Breaker{pd.breaker()}
	}
	return compiled(c, pd.r.IntN(8) == 0)
}

func (pd *policyDrawer) policy() policy.Policy {
	pd.made++
	p := policy.Policy{
		Name:   fmt.Sprintf("policy-%d", pd.made),
		Method: pick(pd.r, policy.Delete, policy.Evict, policy.Evict, policy.Evict, policy.Hold, policy.Ignore),
	}
	if pd.r.IntN(6) == 0 {
		p.Mode = policy.Audit
	}
	t := policy.Taint{Key: pick(pd.r, "gpu", "gpu", "disk", "load", v1.TaintNodeNotReady, v1.TaintNodeUnreachable)}
	if t.Key == "load" && pd.r.IntN(2) == 0 {
		t.Values = []string{"1", "2", "3"}
	}
	t.Effects = pick(pd.r, nil, []v1.TaintEffect{v1.TaintEffectNoSchedule}, []v1.TaintEffect{
		v1.TaintEffectNoSchedule,
		v1.TaintEffectNoExecute,
	})
	p.Match.Taints = []policy.Taint{t}
	if t.Effects != nil {
		p.Match.OwnerKinds = []string{"None"} // no pod has a controller
	}
	if pd.r.IntN(3) == 0 {
		p.Match.PodSelector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": pick(pd.r, "web", heldApp)}}
	}
	pd.times(&p)
	return p
}

// times draws the times of a policy.
func (pd *policyDrawer) times(p *policy.Policy) {
	if p.Method == policy.Evict && pd.r.IntN(3) > 0 {
		p.DeleteAfter = pd.duration(time.Second, 20*time.Second)
	}
	if p.Method == policy.Ignore || p.Method == policy.Hold {
		return
	}
	p.Tolerations = &policy.Tolerations{Absent: pd.duration(0, 10*time.Second)}
	if pd.r.IntN(2) == 0 {
		p.Tolerations.Max = pd.duration(5*time.Second, 15*time.Second)
		p.Tolerations.Unlimited = pd.duration(0, 20*time.Second)
	}
	if pd.r.IntN(3) == 0 {
		p.Tolerations.Min = pd.duration(0, 5*time.Second)
	}
}

func (pd *policyDrawer) duration(least, most time.Duration) *metav1.Duration {
	return &metav1.Duration{Duration: span(pd.r, least, most).Round(time.Millisecond)}
}

// rates draws rates.
func (pd *policyDrawer) rates() (list []policy.Rate) {
	if pd.r.IntN(2) == 0 {
		list = append(list, policy.Rate{Name: "cluster", EvictionsPerSecond: pick(pd.r, 0.3, 1, 5), Burst: 1 +
			pd.r.IntN(3)})
	}
	if pd.r.IntN(3) == 0 {
		list = append(list, policy.Rate{
			Name: "zones", TopologyKey: zoneLabel, Taints: []policy.TaintKey{
				{Key: "gpu"},
				{Key: v1.TaintNodeUnreachable},
			},
			EvictionsPerSecond: pick(pd.r, 0.3, 1), Burst: 1 + pd.r.IntN(2),
		})
	}
	return list
}

func (pd *policyDrawer) breaker() policy.Breaker {
	b := policy.Breaker{
		Name: "outage", Taints: []policy.TaintKey{
			{Key: pick(pd.r, "gpu", "disk")},
			{Key: v1.TaintNodeUnreachable},
			{Key: v1.TaintNodeNotReady},
		},
		MaxNodes: pick(pd.r, intstr.FromString("50%"), intstr.FromInt32(1)), MinNodes: new(int32(1)),
		Settle: pd.duration(time.Second, 3*time.Second), ResetAfter: pd.duration(2*time.Second, 10*time.Second),
	}
	if pd.r.IntN(2) == 0 {
		b.TopologyKey = zoneLabel
	}
	return b
}
