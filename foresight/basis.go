package foresight

import (
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Basis is the configuration by which pods are judged. The zero value stands for a manager without a configuration
// file. It is immutable.
type Basis struct {
	config   policy.Config
	set      *policy.Set
	needs    policy.Needs
	paused   bool
	auditing bool
}

// NewBasis compiles a configuration. It returns an error if the configuration is not valid.
func NewBasis(c policy.Config, paused bool) (Basis, error) {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		return Basis{}, &InvalidError{problems}
	}
	auditing := slices.ContainsFunc(c.Policies, func(p policy.Policy) bool { return p.Mode == policy.Audit })
	return Basis{config: c, set: set, needs: set.Needs(), paused: paused, auditing: auditing}, nil
}

// Needs returns the data that the policies use.
func (b *Basis) Needs() policy.Needs { return b.needs }

// rules returns the rules of tolerations.
func (b *Basis) rules() taint.Rules { return b.config.Rules }

// configured reports whether policies or breakers may change a verdict.
func (b *Basis) configured() bool {
	return len(b.config.Policies) > 0 || len(b.config.Guards.Breakers) > 0 || b.config.Method == policy.Ignore
}

// concerns reports whether pods may have to go because of the taint.
func (b *Basis) concerns(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoExecute || b.triggers(t)
}

// triggers reports whether a policy makes the taint, of effect NoSchedule, a trigger.
func (b *Basis) triggers(t *v1.Taint) bool {
	if t.Effect != v1.TaintEffectNoSchedule {
		return false
	}
	_, named := slices.BinarySearch(b.needs.Triggers, t.Key)
	return named || slices.Contains(b.needs.Audited, t.Key)
}

// judge judges pods by a basis, with the facts of one moment.
type judge struct {
	policy.Judge
	basis *Basis
}

// judge returns what judges the pods of the model at this time, if nodes have other taints than in the model.
func (m *Model) judge(b *Basis, at time.Time, other map[string][]v1.Taint) judge {
	facts := &policy.Facts{Namespaces: m.labelsOf, Paused: b.paused}
	if list := b.config.Guards.Breakers; len(list) > 0 {
		facts.Tripped = m.tripped(list, at, other)
	}
	return judge{policy.Judge{Set: b.set, Facts: facts}, b}
}

// now returns what judges the pods of the model at this time.
func (m *Model) now(at time.Time) judge { return m.judge(&m.basis, at, nil) }

// labelsOf returns the labels of a namespace, if they are known.
func (m *Model) labelsOf(namespace string) (map[string]string, bool) {
	set, known := m.namespaces[namespace]
	return set, known
}

// tripped returns the groups whose breakers are tripped by the present nodes.
func (m *Model) tripped(list []policy.Breaker, at time.Time, other map[string][]v1.Taint) map[policy.Trip]bool {
	breakers := guard.NewBreakers(list)
	changes := make([]guard.NodeChange, 0, len(m.nodes))
	for name, n := range m.nodes {
		taints, changed := other[name]
		if !changed {
			taints = n.object.Spec.Taints
		}
		changes = append(changes, guard.NodeChange{Name: name, Node: &guard.Node{Name: name, UID: n.object.UID, Labels: n.object.Labels, Taints: taints}})
	}
	breakers.Step(at, changes...)
	breakers.Synced(at)
	return breakers.Tripped()
}
