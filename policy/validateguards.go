package policy

import (
	"regexp"
	"slices"

	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/apimachinery/pkg/util/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"
)

// maxBurst is the largest burst of a rate.
const maxBurst = 1_000_000

func (g *Guards) validate(at problems) {
	names := map[string]bool{}
	for i := range g.Rates {
		rate := at.at("rates").item(i)
		rate.uniqueName(g.Rates[i].Name, names)
		g.Rates[i].validate(rate)
	}
	names = map[string]bool{}
	for i := range g.Breakers {
		breaker := at.at("breakers").item(i)
		breaker.uniqueName(g.Breakers[i].Name, names)
		g.Breakers[i].validate(breaker)
	}
}

func (r *Rate) validate(at problems) {
	at.topologyKey(r.TopologyKey)
	at.taintKeys(r.Taints)
	at.at("evictionsPerSecond").refuseIf(!(r.EvictionsPerSecond >= 0.001 && r.EvictionsPerSecond <= 1e6),
		r.EvictionsPerSecond, "must be between 0.001 and 1000000, inclusive; omit the rate for no limit")
	at.at("burst").refuseIf(r.Burst < 1 || r.Burst > maxBurst, r.Burst, validation.InclusiveRangeError(1, maxBurst))
}

func (b *Breaker) validate(at problems) {
	at.topologyKey(b.TopologyKey)
	at.at("nodeSelector").selector(b.NodeSelector)
	if len(b.Taints) == 0 {
		at.add(field.Required(at.path.Child("taints"),
			"at least one taint of an outage, such as key: node.kubernetes.io/unreachable"))
	}
	at.taintKeys(b.Taints)
	if b.Reset != "" {
		oneOf(at.at("reset"), b.Reset, Automatic, Manual)
	}
	at.at("maxNodes").refuseIf(!isShare(b.MaxNodes), b.MaxNodes.String(),
		"must be a number of nodes, or a percentage from 0% to 99%")
	if b.MinNodes != nil {
		at.at("minNodes").refuseIf(*b.MinNodes < 1, *b.MinNodes, "must be at least 1")
	}
	at.at("settle").notNegative(b.Settle)
	if b.ResetAfter != nil {
		at.at("resetAfter").refuseIf(b.ResetAfter.Duration <= 0, b.ResetAfter.Duration.String(), "must be more than 0s")
	}
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
	if key != "" {
		p.at("topologyKey").refuseAll(key, qualifiedName(key))
	}
}

func (p problems) taintKeys(taints []TaintKey) {
	for i, t := range taints {
		key := p.at("taints").item(i).at("key")
		key.refuseAll(t.Key, qualifiedName(t.Key))
		if slices.Contains(taints[:i], t) {
			key.add(field.Duplicate(key.path, t.Key))
		}
	}
}
