package foresight

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"
)

// Change is a change of a node's taints, as kubectl taint accepts it.
type Change struct {
	// Taint is set, or removed by its key and effect. An empty effect stands for every effect.
	Taint  v1.Taint
	Remove bool
}

// ParseChange parses a change as kubectl taint does: "gpu=a100:NoExecute", "gpu:NoExecute-", "gpu-".
func ParseChange(s string) (Change, error) {
	spec, remove := strings.CutSuffix(s, "-")
	keyAndValue, effect, hasEffect := strings.Cut(spec, ":")
	key, value, _ := strings.Cut(keyAndValue, "=")
	c := Change{Remove: remove, Taint: v1.Taint{Key: key, Value: value, Effect: v1.TaintEffect(effect)}}
	if problem := c.problem(hasEffect); problem != "" {
		return Change{}, errors.New(problem)
	}
	return c, nil
}

// problem returns why the API server would reject the change, or "".
func (c Change) problem(hasEffect bool) string {
	switch {
	case c.Taint.Key == "":
		return "the KEY is missing"
	case len(validation.IsQualifiedName(c.Taint.Key)) > 0:
		return fmt.Sprintf("invalid key %q: %s", c.Taint.Key, validation.IsQualifiedName(c.Taint.Key)[0])
	case len(validation.IsValidLabelValue(c.Taint.Value)) > 0:
		return fmt.Sprintf("invalid value %q: %s", c.Taint.Value, validation.IsValidLabelValue(c.Taint.Value)[0])
	case !hasEffect && (!c.Remove || c.Taint.Value != ""):
		return "the EFFECT is missing"
	case !hasEffect:
		return ""
	}
	switch c.Taint.Effect {
	case v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule:
		return ""
	}
	return fmt.Sprintf("invalid effect %q: must be NoExecute, NoSchedule or PreferNoSchedule", c.Taint.Effect)
}

// Contradiction returns an error if the changes can't be made at once.
func Contradiction(changes []Change) error {
	for i, c := range changes {
		for _, other := range changes[:i] {
			switch {
			case !c.concerns(&other.Taint) && !other.concerns(&c.Taint):
			case c.Remove != other.Remove:
				return fmt.Errorf("cannot both set and remove a taint: %s and %s", other, c)
			case !c.Remove:
				return fmt.Errorf("cannot set both %s and %s: a node can have only one taint with the same key and effect", other, c)
			}
		}
	}
	if len(changes) == 0 {
		return errors.New("no taint specified")
	}
	return nil
}

// concerns reports whether the taint has the key and effect of the change.
func (c Change) concerns(t *v1.Taint) bool {
	return c.Taint.Key == t.Key && (c.Taint.Effect == t.Effect || c.Remove && c.Taint.Effect == "")
}

// String returns the change in the form that ParseChange accepts.
func (c Change) String() string {
	s := c.Taint.ToString()
	if c.Remove {
		s += "-"
	}
	return s
}

// The effects of a change on a node.
const (
	Added     = "added"
	Replaced  = "replaced"  // the node has the taint with another value
	Unchanged = "unchanged" // the node has the very same taint
	Removed   = "removed"
	Absent    = "absent" // the node does not have the taint to be removed
)

// NodeChange is the effect of one change on one node.
type NodeChange struct {
	Taint  string `json:"taint"`
	Change string `json:"change"`        // added, replaced, unchanged, removed or absent
	Was    string `json:"was,omitempty"` // the taint that was replaced
}

// distinct returns the changes without repetitions, because kubectl taint accepts repeated removals, too.
func distinct(changes []Change) (list []Change) {
	for _, c := range changes {
		if !slices.Contains(list, c) {
			list = append(list, c)
		}
	}
	return list
}

// apply returns the taints after the changes. It does not modify the list that it is given.
func apply(changes []Change, taints []v1.Taint) (after []v1.Taint, done []NodeChange) {
	after = taints
	for _, c := range changes {
		before, did := after, len(done)
		after = nil
		for _, t := range before {
			switch {
			case !c.concerns(&t):
				after = append(after, t)
			case c.Remove:
				done = append(done, NodeChange{Taint: t.ToString(), Change: Removed})
			case t.Value == c.Taint.Value:
				after = append(after, t)
				done = append(done, NodeChange{Taint: t.ToString(), Change: Unchanged})
			default:
				after = append(after, c.Taint)
				done = append(done, NodeChange{Taint: c.Taint.ToString(), Change: Replaced, Was: t.ToString()})
			}
		}
		switch {
		case len(done) > did:
		case c.Remove && slices.ContainsFunc(taints, func(t v1.Taint) bool { return c.concerns(&t) }): // is gone
		case c.Remove:
			done = append(done, NodeChange{Taint: c.Taint.ToString(), Change: Absent})
		default:
			after = append(after, c.Taint)
			done = append(done, NodeChange{Taint: c.Taint.ToString(), Change: Added})
		}
	}
	return after, done
}

// nodesWith returns the names of the nodes on which a change of the taint had this effect.
func nodesWith(nodes []PlannedNode, did, t string) []string {
	var list []string
	for _, n := range nodes {
		for _, c := range n.Changes {
			if c.Change == did && c.Taint == t {
				list = append(list, n.Name)
			}
		}
	}
	return list
}

// notes returns remarks on changes whose effect may be unexpected.
func (r *Ruleset) notes(changes []Change, nodes []PlannedNode) []string {
	var list []string
	for _, c := range changes {
		t := c.Taint.ToString()
		if e := c.Taint.Effect; e != "" && !r.concerns(&c.Taint) {
			note := t + " evicts no pod, because its effect is not NoExecute"
			if why := r.set.NamesOnlyNoExecute(&c.Taint); why != "" {
				note += ", and " + why
			} else if len(r.config.Policies) > 0 {
				note += " and no policy names it"
			}
			list = append(list, note)
		}
		for _, done := range []struct{ change, format string }{
			{Absent, "there is no %s to remove on %s"},
			{Unchanged, "%s is already on %s, so its countdowns continue"},
			{Replaced, "%s replaces a taint with another value on %s"},
		} {
			if on := nodesWith(nodes, done.change, t); len(on) > 0 {
				list = append(list, fmt.Sprintf(done.format, t, ShortList(on)))
			}
		}
	}
	return list
}
