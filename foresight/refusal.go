package foresight

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"

	"github.com/taint-manager/taint-manager/policy"
)

// UnknownNodesError reports that nodes in question do not exist.
type UnknownNodesError struct{ Names []string }

func (e *UnknownNodesError) Error() string {
	if len(e.Names) == 1 {
		return "there is no node " + e.Names[0]
	}
	return "there are no nodes " + strings.Join(e.Names, ", ")
}

// NoNodeError reports that the selector matches no node.
type NoNodeError struct{ Selector labels.Selector }

func (e *NoNodeError) Error() string { return fmt.Sprintf("no node matches %s", e.Selector) }

// TwiceError reports that an object was added twice.
type TwiceError struct{ What string }

func (e *TwiceError) Error() string { return e.What + " is there twice" }

// UnjudgedError reports that nothing can be said of a pod.
type UnjudgedError struct {
	Pod, From string
	Why       []string
}

func (e *UnjudgedError) Error() string {
	return fmt.Sprintf("cannot say what becomes of pod %s: in %s %s", e.Pod, e.From, joined(e.Why))
}

// AbsentError reports that no node has the taint to be removed.
type AbsentError struct{ Change Change }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("no node has a taint %s", e.Change.Taint.ToString())
}

// absent returns an error for a change that would have no effect on any node, or nil.
func absent(nodes []PlannedNode, changes []Change) error {
	for _, c := range changes {
		if on := nodesWith(nodes, Absent, c.Taint.ToString()); c.Remove && len(on) == len(nodes) {
			return &AbsentError{c}
		}
	}
	return nil
}

// notes returns remarks on changes whose effect may be unexpected.
func (b *Ruleset) notes(changes []Change, nodes []PlannedNode) []string {
	var list []string
	for _, c := range changes {
		t := c.Taint.ToString()
		if e := c.Taint.Effect; e != "" && !b.concerns(&c.Taint) {
			list = append(list, t+" evicts no pod: only taints with the effect NoExecute do"+b.orTriggers())
		}
		if on := nodesWith(nodes, Absent, t); c.Remove && len(on) > 0 {
			list = append(list, fmt.Sprintf("there is no %s to be removed on %s", t, some(on)))
		}
		if on := nodesWith(nodes, Unchanged, t); len(on) > 0 {
			list = append(list, fmt.Sprintf("%s is there already on %s, and its countdowns go on", t, some(on)))
		}
		if on := nodesWith(nodes, Replaced, t); len(on) > 0 {
			list = append(list, fmt.Sprintf("%s replaces the taint of another value on %s", t, some(on)))
		}
	}
	return list
}

// orTriggers names the other taints that do, if there are policies.
func (b *Ruleset) orTriggers() string {
	if len(b.config.Policies) == 0 {
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

// some joins names, and shortens a long list.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more nodes", strings.Join(names[:few], ", "), len(names)-few)
}

// InvalidError reports that a configuration is not valid.
type InvalidError struct{ Problems []policy.Problem }

func (e *InvalidError) Error() string {
	p := e.Problems[0]
	return fmt.Sprintf("%s is not valid: it must be %s", p.Path, p.Allowed)
}
