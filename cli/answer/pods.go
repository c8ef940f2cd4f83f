package answer

import (
	"cmp"
	"strings"
	"time"

	"github.com/taint-manager/taint-manager/cli/terminal"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// Row is a pod of a table.
type Row struct {
	*foresight.PodRef
	*foresight.Prediction

	When, State, Why string
	Open             bool     // the eviction may be later than its time
	Wider            []string // the cells of the columns that only the wide form has
}

// PodTable describes a table of pods.
type PodTable struct {
	At time.Time // of the question

	// Namespace, Node and Taint are each set if they are the same for all pods, and the text around the table has them.
	Namespace, Node, Taint string

	Wider []string // the headings of the columns that only the wide form has
}

// Print writes the table. The wide form has absolute times.
func (pt PodTable) Print(t *Text, rows []Row) {
	clock := Clock
	if t.Wide() {
		clock = Stamp
	}
	at := func(r Row) string {
		if r.Open {
			return "from " + clock(r.Prediction, pt.At)
		}
		return clock(r.Prediction, pt.At)
	}
	name := func(r Row) string { // with its namespace unless the question is about one namespace
		if pt.Namespace != "" {
			return r.Name
		}
		return r.String()
	}
	taint := func(r Row) string { return strings.TrimSuffix(r.Taint, ":NoExecute") }
	device := func(r Row) string { return cmp.Or(r.Device, new(foresight.UsedDevice)).Name }
	columns := []terminal.Column[Row]{
		{
			Heading: "WHEN", Text: func(r Row) string { return r.When },
			Colour: func(r Row) terminal.Colour { return Urgency(r.Prediction, pt.At) },
		},
		{Heading: "AT", Text: at},
		{Heading: "POD", Text: name},
		{Heading: "NODE", Text: func(r Row) string { return r.Node }, Said: pt.Node},
		{Heading: "STATE", Text: func(r Row) string { return r.State }},
		{Heading: "TAINT", Text: taint, Said: pt.Taint},
		{Heading: "DEVICE", Text: device},
	}
	for i, heading := range pt.Wider {
		if cell := func(r Row) string { return r.Wider[i] }; t.Wide() {
			columns = append(columns, terminal.Column[Row]{Heading: heading, Text: cell})
		}
	}
	columns = append(columns, terminal.Column[Row]{Heading: "WHY", Text: func(r Row) string { return r.Why }})
	Table(t, terminal.Table[Row]{Rows: rows, Columns: columns})
}
