package answer

import (
	"slices"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// Listed is a pod of an answer.
type Listed interface {
	Ref() *foresight.PodRef
	Predicted() *foresight.Prediction
}

// PodTable describes a table of pods.
type PodTable[P Listed] struct {
	At   time.Time // of the question
	Wide bool      // with the columns of Wider, absolute times and whole reasons

	// Namespace, Node and Taint are those of all pods, if the text around the table names only one.
	Namespace, Node, Taint string

	When   func(P) string
	Colour func(P) terminal.Colour // of WHEN
	Short  func(P) string          // the reason
	Whole  func(P) string          // the whole reason

	// State are columns before the taint, and Wider others of the wide form.
	State, Wider []Column[P]
}

// Rows returns a table with a row for each pod.
func (pt PodTable[P]) Rows(list []P) *terminal.Table {
	name := func(p P) string { return pt.named(p.Ref().Namespace, p.Ref().Name) }
	node := Texts("NODE", func(p P) string { return p.Ref().Node }).Gives(terminal.GoesIfSame).Unless(pt.Node)
	return TableOf(list, pt.columns(Texts("POD", name), node)...)
}

// named returns a name with its namespace, unless the question is about one namespace.
func (pt PodTable[P]) named(namespace, name string) string {
	if pt.Namespace != "" {
		return name
	}
	return namespace + "/" + name
}

// several are pods whose rows would differ in the pod and the node only.
type several[P Listed] struct {
	first P
	pods  int
}

// Folded returns a table with a row for each owner and time, with the number of its pods. A pod without an owner stands
// for itself.
func (pt PodTable[P]) Folded(list []P) *terminal.Table {
	columns := pt.columns(Texts("OWNER", func(p P) string {
		if owner := p.Ref().Owner; owner != nil {
			return pt.named(p.Ref().Namespace, owner.String())
		}
		return pt.named(p.Ref().Namespace, p.Ref().Name)
	}))
	var groups []*several[P]
	byCells := map[string]*several[P]{}
	for _, p := range list {
		var key strings.Builder
		for _, c := range columns {
			key.WriteString(c.cell(p).String() + "\n") // no cell has a line break
		}
		group := byCells[key.String()]
		if group == nil {
			group = &several[P]{first: p}
			byCells[key.String()], groups = group, append(groups, group)
		}
		group.pods++
	}
	var folded []Column[*several[P]]
	for _, c := range columns {
		first := func(s *several[P]) terminal.Cell { return c.cell(s.first) }
		folded = append(folded, Column[*several[P]]{c.Column, first})
	}
	return TableOf(groups, slices.Insert(folded, 2, Numbers("PODS", func(s *several[P]) int { return s.pods }))...)
}

// columns returns the columns, with those that identify a pod or an owner.
func (pt PodTable[P]) columns(who ...Column[P]) []Column[P] {
	at, reason, wider := func(p P) string { return Clock(p.Predicted(), pt.At) }, pt.Short, []Column[P](nil)
	if pt.Wide {
		at, reason, wider = func(p P) string { return Stamp(p.Predicted()) }, pt.Whole, pt.Wider
	}
	taint := func(p P) string { return strings.TrimSuffix(p.Predicted().Taint, ":NoExecute") }
	return slices.Concat(
		[]Column[P]{
			Painted("WHEN", pt.When, pt.Colour).Gives(terminal.Stays),
			Texts("AT", at).Gives(terminal.Stays),
		}, who, pt.State,
		[]Column[P]{Texts("TAINT", taint).Gives(terminal.GoesIfSame).Unless(pt.Taint)}, wider,
		[]Column[P]{Texts("WHY", reason).Gives(terminal.Goes)})
}
