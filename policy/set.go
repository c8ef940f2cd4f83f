package policy

import (
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/taint"
)

// Config is the input of [Compile]. The zero value stands for a program without a configuration file.
type Config struct {
	Policies []Policy
	Guards   Guards

	// Method applies to pairs with a NoExecute taint that no policy matches: Delete, Evict or Ignore. Empty means
	// Delete.
	Method Method

	// Rules define which tolerations count.
	Rules taint.Rules
}

// Set is the compiled form of policies and guards. It is immutable, and may be used by any number of goroutines.
type Set struct {
	rules     taint.Rules
	method    Method
	policies  []compiled
	breakers  []breaker
	rated     bool     // whether there are rates
	grouped   bool     // a rate has groups of nodes
	auditing  bool     // whether any policy is in mode Audit
	conflicts []string // as ConflictsWithBuiltin returns them
}

// compiled is the compiled form of a policy.
type compiled struct {
	name        string
	audit       bool
	method      Method
	match       matcher
	deletes     bool // whether deleteAfter is set
	deleteAfter time.Duration
	stay        Tolerations
	gracePeriod time.Duration // 0: the pod's own
	exempt      exempt
}

// exempt describes the pods to which tolerations.unlimited does not apply.
type exempt struct{ daemonSets, critical bool }

// breaker contains the fields of a breaker that verdicts use.
type breaker struct {
	name        string
	topologyKey string
	nodes       labels.Selector
	keys        map[string]bool
	settle      time.Duration
}

// Compile returns the compiled form, or all problems.
func Compile(c Config) (*Set, []Problem) {
	if problems := Validate(c.Policies, c.Guards); len(problems) > 0 {
		return nil, problems
	}
	s := &Set{
		rules: c.Rules, method: c.Method, policies: make([]compiled, len(c.Policies)),
		conflicts: c.conflictsWithBuiltin(),
	}
	if s.method == "" {
		s.method = Delete
	}
	for i := range c.Policies {
		s.policies[i] = compile(&c.Policies[i])
		s.auditing = s.auditing || s.policies[i].audit
	}
	for i := range c.Guards.Breakers {
		s.breakers = append(s.breakers, compileBreaker(&c.Guards.Breakers[i]))
	}
	s.rated = len(c.Guards.Rates) > 0
	s.grouped = slices.ContainsFunc(c.Guards.Rates, func(r Rate) bool { return r.TopologyKey != "" })
	return s, nil
}

func compile(p *Policy) compiled {
	c := compiled{
		name: p.Name, audit: p.Mode == Audit, method: p.Method, match: newMatcher(&p.Match),
		exempt: exemptOf(&p.Match),
	}
	if p.DeleteAfter != nil {
		c.deletes, c.deleteAfter = true, p.DeleteAfter.Duration
	}
	if p.Tolerations != nil {
		c.stay = *p.Tolerations
	}
	if p.GracePeriod != nil {
		c.gracePeriod = p.GracePeriod.Max.Duration
	}
	return c
}

func compileBreaker(b *Breaker) breaker {
	c := breaker{
		name: b.Name, topologyKey: b.TopologyKey, nodes: newSelector(b.NodeSelector), keys: map[string]bool{},
		settle: b.SettleTime(),
	}
	for _, t := range b.Taints {
		c.keys[t.Key] = true
	}
	return c
}
