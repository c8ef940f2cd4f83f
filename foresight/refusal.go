package foresight

import (
	"fmt"
	"strings"

	"k8s.io/apimachinery/pkg/labels"
)

// UnknownNodesError says that nodes of these names were asked for and are not there.
type UnknownNodesError struct{ Names []string }

func (e *UnknownNodesError) Error() string {
	if len(e.Names) == 1 {
		return "there is no node " + e.Names[0]
	}
	return "there are no nodes " + strings.Join(e.Names, ", ")
}

// NoNodeError says that the selector matches no node.
type NoNodeError struct{ Selector labels.Selector }

func (e *NoNodeError) Error() string { return fmt.Sprintf("no node matches %s", e.Selector) }

// TwiceError says that an object was taken in twice.
type TwiceError struct{ What string }

func (e *TwiceError) Error() string { return e.What + " is there twice" }

// AbsentError says that none of the nodes has the taint that is to be removed.
type AbsentError struct{ Change Change }

func (e *AbsentError) Error() string {
	return fmt.Sprintf("none of the nodes has a taint %s", e.Change.Taint.ToString())
}

// absent says which change would do nothing on any node; nil when there is none.
func absent(nodes []PlannedNode, changes []Change) error {
	for _, c := range changes {
		if on := nodesWith(nodes, Absent, c.Taint.ToString()); c.Remove && len(on) == len(nodes) {
			return &AbsentError{c}
		}
	}
	return nil
}

// notes say of changes that they do not do what one might expect.
func notes(changes []Change, nodes []PlannedNode) []string {
	var list []string
	for _, c := range changes {
		t := c.Taint.ToString()
		if e := c.Taint.Effect; e != "" && e != "NoExecute" {
			list = append(list, fmt.Sprintf("%s evicts nobody: only taints with the effect NoExecute do", t))
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

// nodesWith are the nodes on which a change of the taint has done this.
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

// some names a few of many.
func some(names []string) string {
	const few = 3
	if len(names) <= few {
		return strings.Join(names, ", ")
	}
	return fmt.Sprintf("%s and %d more nodes", strings.Join(names[:few], ", "), len(names)-few)
}
