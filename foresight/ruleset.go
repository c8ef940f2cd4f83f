package foresight

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// Ruleset is the configuration by which pods are judged. The zero value stands for a manager without a configuration
// file.
type Ruleset struct {
	// File is the name of the configuration file; empty if there is none.
	File string

	config   policy.Config
	set      *policy.Set
	needs    policy.Needs
	paused   bool
	auditing bool

	unlabelled unlabelled
}

// NewRuleset compiles a configuration. It returns an error if the configuration is not valid.
func NewRuleset(c policy.Config, paused bool) (Ruleset, error) {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		return Ruleset{}, fmt.Errorf("%s is not valid: it must be %s", problems[0].Path, problems[0].Allowed)
	}
	auditing := slices.ContainsFunc(c.Policies, func(p policy.Policy) bool { return p.Mode == policy.Audit })
	return Ruleset{
		config: c, set: set, needs: set.Needs(), paused: paused, auditing: auditing,
		unlabelled: newUnlabelled(c),
	}, nil
}

// Needs returns the data that the policies use.
func (r *Ruleset) Needs() policy.Needs { return r.needs }

// tolerations returns the rules of tolerations.
func (r *Ruleset) tolerations() taint.Rules { return r.config.Rules }

// configured reports whether policies or breakers may change a verdict.
func (r *Ruleset) configured() bool {
	return len(r.config.Policies) > 0 || len(r.config.Guards.Breakers) > 0 || r.config.Method == policy.Ignore
}

// method returns the method of the rules, delete or evict.
func (r *Ruleset) method() string {
	return strings.ToLower(string(cmp.Or(r.config.Method, policy.Delete)))
}

// Guarded reports whether there are breakers, so that verdicts depend on the trips that the journal records.
func (r *Ruleset) Guarded() bool { return len(r.config.Guards.Breakers) > 0 }

// concerns reports whether pods may have to go because of the taint.
func (r *Ruleset) concerns(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoExecute || r.triggers(t)
}

// triggers reports whether a policy makes the taint, of effect NoSchedule, a trigger.
func (r *Ruleset) triggers(t *v1.Taint) bool {
	if t.Effect != v1.TaintEffectNoSchedule {
		return false
	}
	_, named := slices.BinarySearch(r.needs.Triggers, t.Key)
	return named || slices.Contains(r.needs.Audited, t.Key)
}

// keys returns the keys of the NoSchedule taints that policies name.
func (r *Ruleset) keys() journal.Keys {
	return journal.Keys{Triggers: r.needs.Triggers, Audited: r.needs.Audited}
}

// judge judges pods by rules, with the facts of one moment.
type judge struct {
	policy.Judge
	rules  *Ruleset
	trips  []Trip
	resets []reset
}

// judge returns what judges the pods of the model at this time, if nodes get other taints than in the model at this
// time: the facts are those of a manager with the rules that begins to lead when the model was read, and reads the
// journal.
func (m *Model) judge(b *Ruleset, at time.Time, other map[string][]v1.Taint) judge {
	from, present := m.readBefore(at), other
	ahead := from.Before(at)
	if ahead {
		present = nil
	}
	core := guard.NewCore(guard.Config{Config: b.config, Set: b.set, Paused: b.paused})
	core.Step(from, guard.NamespacesChanged{Namespaces: m.labelsOf})
	counting := b.Guarded() && !m.partial() // else only recorded trips count
	if counting {
		core.Step(from, guard.NodesChanged{Changes: m.nodeChanges(present)})
	}
	journaled := m.guards.at(from)
	if journaled.Known { // else the ends of holds are not known, and the present leader may know them
		core.Step(from, guard.LeadershipBegan{})
	}
	core.Step(from, guard.Ready{Journaled: journaled})
	var resets []reset
	if counting && ahead {
		resets = pass(core, at)
		core.Step(at, guard.NodesChanged{Changes: m.nodeChanges(other)})
	}
	by := core.Judge()
	if m.byRecords {
		by = b.withoutLabels(by)
	}
	return judge{by, b, tripsOf(b, core.Trips(), journaled.Record.Trips), resets}
}

// now returns what judges the pods of the model at this time.
func (m *Model) now(at time.Time) judge { return m.judge(&m.rules, at, nil) }

// labelsOf returns the labels of a namespace, if they are known.
func (m *Model) labelsOf(namespace string) (map[string]string, bool) {
	set, known := m.namespaces[namespace]
	return set, known
}

// nodeChanges returns the nodes in the form that breakers use, some of them with other taints.
func (m *Model) nodeChanges(other map[string][]v1.Taint) []guard.NodeChange {
	changes := make([]guard.NodeChange, 0, len(m.nodes))
	for name, n := range m.nodes {
		taints, changed := other[name]
		if !changed {
			taints = n.object.Spec.Taints
		}
		changes = append(changes, guard.NodeChange{Name: name, Node: &guard.Node{
			Name: name, UID: n.object.UID,
			Labels: n.object.Labels, Taints: taints,
		}})
	}
	return changes
}
