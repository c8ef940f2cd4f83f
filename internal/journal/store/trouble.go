package store

import "github.com/taint-manager/taint-manager/internal/truncate"

// Kind is the kind of an object's problem; it is the label of a metric.
type Kind string

const (
	unread    Kind = "unread"
	unwritten Kind = "unwritten"
	version   Kind = "version"
	invalid   Kind = "invalid"
	full      Kind = "full"
)

// kinds returns all kinds of problems, in the order in which they are reported.
func kinds() []Kind { return []Kind{unread, unwritten, version, invalid, full} }

// Trouble is a problem of an object that has begun or is over.
type Trouble struct {
	Object string // its name
	Kind   Kind
	Text   string // empty if the problem is over
}

// problem notes a problem of the object; nil removes it.
func (o *object) problem(k Kind, err error) {
	if o.problems[k] == (err != nil) {
		return
	}
	change := Trouble{Object: o.name, Kind: k}
	if o.problems[k] = err != nil; err != nil {
		change.Text = truncate.Text(err.Error())
	}
	o.effects.Troubles = append(o.effects.Troubles, change)
}
