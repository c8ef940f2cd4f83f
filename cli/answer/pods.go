package answer

import (
	"cmp"
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
	Wide bool      // with the columns of Wider, absolute times and full reasons

	// Namespace, Node and Taint are each set if they are the same for all pods, and the text around the table has them.
	Namespace, Node, Taint string

	When  func(P) string
	Short func(P) string // the reason
	Whole func(P) string // the full reason
	Open  func(P) bool   // whether the eviction may be later than its time; nil if unknown

	// State are columns before the taint, and Wider are further columns of the wide form.
	State, Wider []terminal.Column[P]
}

// Rows returns a table with a row for each pod.
func (pt PodTable[P]) Rows(list []P) terminal.Table[P] {
	return terminal.Table[P]{Rows: list, Columns: pt.columns()}
}

// named returns the name of a pod, with its namespace unless the question is about one namespace.
func (pt PodTable[P]) named(p P) string {
	if pt.Namespace != "" {
		return p.Ref().Name
	}
	return p.Ref().String()
}

func (pt PodTable[P]) columns() []terminal.Column[P] {
	clock, reason, wider := Clock, pt.Short, []terminal.Column[P](nil)
	if pt.Wide {
		clock, reason, wider = Stamp, pt.Whole, pt.Wider
	}
	at := func(p P) string {
		if pt.Open != nil && pt.Open(p) {
			return "from " + clock(p.Predicted(), pt.At)
		}
		return clock(p.Predicted(), pt.At)
	}
	taint := func(p P) string { return strings.TrimSuffix(p.Predicted().Taint, ":NoExecute") }
	device := func(p P) string { return cmp.Or(p.Predicted().Device, new(foresight.UsedDevice)).Name }
	return slices.Concat(
		[]terminal.Column[P]{
			{Heading: "WHEN", Text: pt.When, Colour: func(p P) terminal.Colour { return Urgency(p.Predicted(), pt.At) }},
			{Heading: "AT", Text: at},
			{Heading: "POD", Text: pt.named},
			{Heading: "NODE", Text: func(p P) string { return p.Ref().Node }, Said: pt.Node},
		}, pt.State,
		[]terminal.Column[P]{{Heading: "TAINT", Text: taint, Said: pt.Taint}, {Heading: "DEVICE", Text: device}}, wider,
		[]terminal.Column[P]{{Heading: "WHY", Text: reason}})
}
