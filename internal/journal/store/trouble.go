package store

import (
	"errors"
	"fmt"
	"strings"

	"github.com/taint-manager/taint-manager/internal/truncate"
)

// Kind is the kind of an object's problem; it is the label of a metric.
type Kind string

const (
	unread    Kind = "unread"
	unwritten Kind = "unwritten"
	version   Kind = "version"
	invalid   Kind = "invalid"
	full      Kind = "full"
)

// phrases describe the kinds of problems, in the order in which they are reported.
var phrases = []struct {
	kind   Kind
	phrase string
}{
	{unread, "can't be read"},
	{unwritten, "can't be written"},
	{version, "are of an unknown version"},
	{invalid, "have invalid entries"},
	{full, "cannot hold all nodes"},
}

// problem notes a problem of the object; nil removes it.
func (o *object) problem(k Kind, err error) {
	if known := o.problems[k]; known == (err != nil) {
		return
	}
	change := Trouble{Object: o.name, Kind: k}
	if err == nil {
		delete(o.problems, k)
	} else {
		o.problems[k], change.Text = true, truncate.Text(err.Error())
	}
	o.effects.Troubles = append(o.effects.Troubles, change)
}

// problemCounts returns how many objects have a problem of each kind.
func (c *Core) problemCounts() map[Kind]int {
	counts := map[Kind]int{}
	for _, o := range c.objects {
		for k := range o.problems {
			counts[k]++
		}
	}
	return counts
}

// trouble returns a short description of the problems; nil if there are none.
func trouble(problems map[Kind]int) error {
	var parts []string
	for _, p := range phrases {
		if n := problems[p.kind]; n > 0 {
			parts = append(parts, fmt.Sprintf("ConfigMaps that %s: %d", p.phrase, n))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return errors.New(strings.Join(append(parts, "the log says more"), "; "))
}
