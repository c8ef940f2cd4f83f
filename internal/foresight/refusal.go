package foresight

import (
	"fmt"
	"maps"
	"slices"
	"strings"
)

// QuestionError reports that a question does not fit the cluster.
type QuestionError struct {
	What string

	// Kubectl is the command of kubectl that shows the nodes and their taints or labels.
	Kubectl string

	// Typed is a name that does not exist, and Names are those that do.
	Typed string
	Names []string
}

func (q *QuestionError) Error() string { return q.What }

// checkNodes returns an error if a node of these names does not exist.
func (m *Model) checkNodes(wanted []string) error {
	missing := slices.DeleteFunc(slices.Clone(wanted), func(name string) bool { return m.nodes[name] != nil })
	what := "there are no nodes "
	switch len(missing) {
	case 0:
		return nil
	case 1:
		what = "there is no node "
	}
	return &QuestionError{
		what + strings.Join(missing, ", "), "get nodes", missing[0],
		slices.Sorted(maps.Keys(m.nodes)),
	}
}

// absent returns an error for a change that would have no effect on any node, or nil.
func absent(nodes []PlannedNode, changes []Change) error {
	for _, c := range changes {
		if on := nodesWith(nodes, Absent, c.Taint.ToString()); c.Remove && len(on) == len(nodes) {
			return &QuestionError{What: "no node has a taint " + c.Taint.ToString(), Kubectl: "describe nodes"}
		}
	}
	return nil
}

// notes returns remarks on changes whose effect may be unexpected.
func (r *Ruleset) notes(changes []Change, nodes []PlannedNode) []string {
	var list []string
	for _, c := range changes {
		t := c.Taint.ToString()
		if e := c.Taint.Effect; e != "" && !r.concerns(&c.Taint) {
			list = append(list, t+" evicts no pod: only taints with the effect NoExecute do"+r.orTriggers())
		}
		for _, done := range []struct{ change, format string }{
			{Absent, "there is no %s to be removed on %s"},
			{Unchanged, "%s is there already on %s, and its countdowns go on"},
			{Replaced, "%s replaces the taint of another value on %s"},
		} {
			if on := nodesWith(nodes, done.change, t); len(on) > 0 {
				list = append(list, fmt.Sprintf(done.format, t, ShortList(on)))
			}
		}
	}
	return list
}

// orTriggers names the other taints that do, if there are policies.
func (r *Ruleset) orTriggers() string {
	if len(r.config.Policies) == 0 {
		return ""
	}
	return ", and those of effect NoSchedule that a policy names"
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
