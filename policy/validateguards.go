package policy

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
)

// maxBurst is the largest burst of a rate.
const maxBurst = 1_000_000

func (g *Guards) validate(at problems) {
	names := map[string]bool{}
	for i := range g.Rates {
		rate := at.at(".rates[%d]", i)
		rate.at(".name").uniqueName(g.Rates[i].Name, names)
		g.Rates[i].validate(rate)
	}
	names = map[string]bool{}
	for i := range g.Breakers {
		breaker := at.at(".breakers[%d]", i)
		breaker.at(".name").uniqueName(g.Breakers[i].Name, names)
		g.Breakers[i].validate(breaker)
	}
}

func (r *Rate) validate(at problems) {
	at.at(".topologyKey").topologyKey(r.TopologyKey)
	at.taintKeys(r.Taints)
	at.at(".evictionsPerSecond").refuseIf(!(r.EvictionsPerSecond >= 0.001 && r.EvictionsPerSecond <= 1e6),
		"it takes 0.001 to 1000000", "leave the rate out for no limit")
	at.at(".burst").refuseIf(r.Burst < 1 || r.Burst > maxBurst, "it takes 1 to 1000000", "write 1 for no burst")
}

func (b *Breaker) validate(at problems) {
	at.at(".topologyKey").topologyKey(b.TopologyKey)
	at.at(".nodeSelector").selector(b.NodeSelector)
	at.at(".taints").refuseIf(len(b.Taints) == 0, "it takes keys of taints, which say that a node is affected",
		"write those of an outage, such as node.kubernetes.io/unreachable")
	at.taintKeys(b.Taints)
	at.at(".reset").oneOf(string(b.Reset), "", string(Automatic), string(Manual))
	at.at(".maxNodes").refuseIf(!isShare(b.MaxNodes), "it takes a number of nodes, or a percentage from 0% to 99%",
		"write it as 10 or 50%; more than all nodes are never affected")
	at.at(".minNodes").refuseIf(b.MinNodes != nil && *b.MinNodes < 1, "it takes 1 or more",
		"leave it out for 3 with a topologyKey, and for 1 without one")
	at.at(".settle").notNegative(b.Settle)
	at.at(".resetAfter").refuseIf(b.ResetAfter != nil && b.ResetAfter.Duration <= 0, "it takes more than 0s",
		"write it as 5m")
}

// PercentagePattern is the regular expression of the percentages that Breaker.MaxNodes allows.
const PercentagePattern = `^(0|[1-9][0-9]?)%$`

var percentage = regexp.MustCompile(PercentagePattern)

// isShare reports whether the value is a number or a percentage of nodes. 100 percent is not allowed, because more than
// all nodes are never affected.
func isShare(v intstr.IntOrString) bool {
	if v.Type == intstr.Int {
		return v.IntVal >= 0
	}
	return percentage.MatchString(v.StrVal)
}

func (p problems) topologyKey(key string) {
	p.refuseIf(key != "" && len(validation.IsQualifiedName(key)) > 0, "it takes the key of a node label",
		"write it as topology.kubernetes.io/zone, or leave it out for the whole cluster")
}

func (p problems) taintKeys(taints []TaintKey) {
	for i, t := range taints {
		key := p.at(".taints[%d].key", i)
		key.refuseIf(len(validation.IsQualifiedName(t.Key)) > 0,
			"it takes the key of a taint, such as node.kubernetes.io/unreachable",
			"write it as 'kubectl describe node' shows it")
		key.refuseIf(slices.Contains(taints[:i], t), "it is there twice", "leave one out")
	}
}
