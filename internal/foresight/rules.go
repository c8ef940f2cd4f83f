package foresight

import (
	"cmp"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// Ruleset is the configuration by which pods are judged. The zero value stands for a manager without a configuration
// file.
type Ruleset struct {
	// File is the name of the configuration file; empty if there is none.
	File string

	config policy.Config
	set    *policy.Set
	needs  policy.Needs
	paused bool

	guarded bool     // there are breakers
	byNode  []string // names of the policies with a nodeSelector that are left out, as labels of nodes are not known
}

// NewRuleset compiles a configuration. It returns an error if the configuration is not valid.
func NewRuleset(c policy.Config, paused bool) (Ruleset, error) {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		return Ruleset{}, problems.ToAggregate()
	}
	guarded := len(c.Guards.Breakers) > 0
	return Ruleset{config: c, set: set, needs: set.Needs(), paused: paused, guarded: guarded}, nil
}

// withoutLabels returns the rules without the policies and breakers that select or group nodes by their labels. While
// labels are not known, these would decide about the pods of the wrong nodes.
func (r Ruleset) withoutLabels() Ruleset {
	r.config.Policies = slices.DeleteFunc(slices.Clone(r.config.Policies), func(p policy.Policy) bool {
		if p.Match.NodeSelector != nil {
			r.byNode = append(r.byNode, p.Name)
		}
		return p.Match.NodeSelector != nil
	})
	r.config.Guards.Breakers = slices.DeleteFunc(slices.Clone(r.config.Guards.Breakers), func(b policy.Breaker) bool {
		return b.TopologyKey != "" || b.NodeSelector != nil
	})
	r.set, _ = policy.Compile(r.config) // a part of valid rules is valid
	return r
}

// Needs returns the data that the policies use.
func (r *Ruleset) Needs() policy.Needs { return r.needs }

// Guarded reports whether there are breakers, so that verdicts depend on the trips that the journal records.
func (r *Ruleset) Guarded() bool { return r.guarded }

// evictMethod is the method evict, as answers write it.
const evictMethod = "evict"

// method returns the method of the rules, delete or evict.
func (r *Ruleset) method() string {
	return strings.ToLower(string(cmp.Or(r.config.Method, policy.Delete)))
}

// concerns reports whether pods may have to go because of the taint.
func (r *Ruleset) concerns(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoExecute || r.triggers(t)
}

// triggers reports whether a policy makes the taint, of effect NoSchedule, a trigger.
func (r *Ruleset) triggers(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule && r.needs.TriggeredBy(t.Key)
}

// keys returns the keys of the NoSchedule taints that policies name.
func (r *Ruleset) keys() journal.Keys {
	return journal.Keys{Triggers: r.needs.Triggers, Audited: r.needs.Audited}
}

// deletesLater reports whether a policy has a deleteAfter.
func (r *Ruleset) deletesLater() bool {
	return slices.ContainsFunc(r.config.Policies, func(p policy.Policy) bool { return p.DeleteAfter != nil })
}
