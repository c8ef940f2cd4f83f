package journal

import (
	"slices"

	v1 "k8s.io/api/core/v1"
)

// Keys are the keys of the NoSchedule taints that are observed, because policies name them. The zero value has none.
type Keys struct {
	// Triggers are recorded, and begin exposures. Audited are only shown, unless they are triggers, too.
	Triggers, Audited []string
}

// role is the purpose for which a taint is observed.
type role int

const (
	ignored role = iota
	noExecute
	trigger
	audited
)

// roleOf returns the role of a taint.
func (k Keys) roleOf(t *v1.Taint) role {
	switch {
	case t.Effect == v1.TaintEffectNoExecute:
		return noExecute
	case t.Effect != v1.TaintEffectNoSchedule:
	case slices.Contains(k.Triggers, t.Key):
		return trigger
	case slices.Contains(k.Audited, t.Key):
		return audited
	}
	return ignored
}
