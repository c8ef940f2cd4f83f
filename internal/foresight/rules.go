package foresight

import (
	"cmp"
	"fmt"
	"maps"
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

	// byNode names the policies with a nodeSelector. While the labels of nodes are not known, the set blind judges, in
	// which these policies match every node, but only in mode Audit.
	byNode []string
	blind  *policy.Set
}

// NewRuleset compiles a configuration. It returns an error if the configuration is not valid.
func NewRuleset(c policy.Config, paused bool) (Ruleset, error) {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		return Ruleset{}, fmt.Errorf("%s is not valid: it must be %s", problems[0].Path, problems[0].Allowed)
	}
	r := Ruleset{config: c, set: set, needs: set.Needs(), paused: paused}
	c.Policies = slices.Clone(c.Policies)
	for i := range c.Policies {
		if p := &c.Policies[i]; p.Match.NodeSelector != nil {
			r.byNode = append(r.byNode, p.Name)
			p.Mode, p.Match.NodeSelector = policy.Audit, nil
		}
	}
	r.blind, _ = policy.Compile(c)
	return r, nil
}

// Needs returns the data that the policies use.
func (r *Ruleset) Needs() policy.Needs { return r.needs }

// Guarded reports whether there are breakers, so that verdicts depend on the trips that the journal records.
func (r *Ruleset) Guarded() bool { return len(r.config.Guards.Breakers) > 0 }

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

// usesLabels reports whether the labels of nodes say which pods the breaker holds.
func (r *Ruleset) usesLabels(breaker string) bool {
	return slices.ContainsFunc(r.config.Guards.Breakers, func(b policy.Breaker) bool {
		return b.Name == breaker && (b.TopologyKey != "" || b.NodeSelector != nil)
	})
}

// withoutLabels returns the judge without policies that have a nodeSelector, and without trips of breakers that use
// labels. While the labels of nodes are not known, these would decide about the pods of the wrong nodes.
func (r *Ruleset) withoutLabels(judge policy.Judge) policy.Judge {
	facts := *judge.Facts
	facts.Tripped = maps.Clone(facts.Tripped)
	maps.DeleteFunc(facts.Tripped, func(t policy.Trip, _ bool) bool { return r.usesLabels(t.Breaker) })
	judge.Facts = &facts
	if len(r.byNode) > 0 {
		judge.Set = r.blind
	}
	return judge
}
