package foresight

import (
	"cmp"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// Ruleset is the configuration that judges pods. The zero value stands for a manager without a configuration file.
type Ruleset struct {
	// Running is the configuration that the manager has published, if the ruleset was compiled from it.
	Running *journal.Config

	MaxEvictionsPerSecond float64 // limits all evictions; 0 is no limit

	config policy.Config
	set    *policy.Set
	needs  policy.Needs
	paused bool
}

// NewRuleset compiles a configuration. It returns an error if the configuration is not valid.
func NewRuleset(c policy.Config, paused bool) (Ruleset, error) {
	set, problems := policy.Compile(c)
	if len(problems) > 0 {
		return Ruleset{}, problems.ToAggregate()
	}
	return Ruleset{config: c, set: set, needs: set.Needs(), paused: paused}, nil
}

// Needs returns the data that the policies use.
func (r *Ruleset) Needs() policy.Needs { return r.needs }

func (r *Ruleset) needsNamespaces() bool { return r.needs.NamespaceLabels }

// Guarded reports whether there are breakers, so that verdicts depend on the trips that the journal records.
func (r *Ruleset) Guarded() bool { return len(r.config.Guards.Breakers) > 0 }

// evictMethod is the method evict, as answers write it.
const evictMethod = "evict"

// method returns the method of the rules: delete, evict or ignore.
func (r *Ruleset) method() string {
	return cmp.Or(r.config.Method, policy.Delete).Word()
}

// concerns reports whether the taint may evict pods.
func (r *Ruleset) concerns(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoExecute || r.triggers(t)
}

// triggers reports whether the taint has the effect NoSchedule and is a trigger because a policy names it.
func (r *Ruleset) triggers(t *v1.Taint) bool {
	return t.Effect == v1.TaintEffectNoSchedule && r.needs.TriggeredBy(t.Key)
}

// judged returns the form of the taint that tolerations must match: a NoSchedule trigger counts as NoExecute.
func (r *Ruleset) judged(t *v1.Taint) *v1.Taint {
	if r.triggers(t) {
		return &v1.Taint{Key: t.Key, Value: t.Value, Effect: v1.TaintEffectNoExecute}
	}
	return t
}

// keys returns the keys of the NoSchedule taints that policies name.
func (r *Ruleset) keys() journal.Keys {
	return journal.Keys{Triggers: r.needs.Triggers, Audited: r.needs.Audited}
}
