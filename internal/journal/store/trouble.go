package store

import (
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

// kinds returns all kinds of problems, in the order in which they are reported.
func kinds() []Kind { return []Kind{unread, unwritten, version, invalid, full} }

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
	for _, k := range kinds() {
		if n := problems[k]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, k))
		}
	}
	if len(parts) == 0 {
		return nil
	}
	return fmt.Errorf("ConfigMaps with problems: %s; the log says more", strings.Join(parts, ", "))
}
