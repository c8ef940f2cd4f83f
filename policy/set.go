package policy

import (
	"cmp"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/validation/field"

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
	config   Config // its Method is not empty
	policies []compiled
	breakers []breaker
	audits   bool // any policy is in mode Audit

	// If no policy matches a pair, unmatched decides it for a NoExecute taint, and untriggered for a NoSchedule taint.
	unmatched, untriggered compiled
}

// compiled is a policy in a form that is fast to evaluate.
type compiled struct {
	Policy
	stay                    Tolerations     // zero if the policy has none
	nodes, namespaces, pods labels.Selector // by their labels
}

// breaker is a [Breaker] in a form that is fast to evaluate.
type breaker struct {
	Breaker
	nodes labels.Selector
}

// Compile returns the compiled form, or all errors.
func Compile(c Config) (*Set, field.ErrorList) {
	if problems := Validate(c.Policies, c.Guards); len(problems) > 0 {
		return nil, problems
	}
	return compile(c), nil
}

// compile returns the compiled form of a valid configuration.
func compile(c Config) *Set {
	c.Method = cmp.Or(c.Method, Delete)
	s := &Set{config: c, policies: make([]compiled, len(c.Policies))}
	s.unmatched.Method = c.Method
	for i, p := range c.Policies {
		s.policies[i] = compiled{
			Policy: p, nodes: newSelector(p.Match.NodeSelector),
			namespaces: newSelector(p.Match.NamespaceSelector), pods: newSelector(p.Match.PodSelector),
		}
		s.audits = s.audits || p.Mode == Audit
		if p.Tolerations != nil {
			s.policies[i].stay = *p.Tolerations
		}
	}
	for _, b := range c.Guards.Breakers {
		s.breakers = append(s.breakers, breaker{b, newSelector(b.NodeSelector)})
	}
	return s
}
