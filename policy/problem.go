package policy

import "fmt"

// Problem is why a policy or a guard is refused.
type Problem struct {
	// Path of the field, such as policies[2].match.taints[0].key.
	Path string

	// Allowed says which values are taken, and Next what to do now.
	Allowed, Next string
}

// problems are collected for one object at a path.
type problems struct {
	path string
	all  *[]Problem
}

// at is about a field of the object.
func (p problems) at(format string, args ...any) problems {
	return problems{p.path + fmt.Sprintf(format, args...), p.all}
}

func (p problems) refuse(allowed, next string) {
	*p.all = append(*p.all, Problem{p.path, allowed, next})
}

// refuseIf refuses where a condition holds.
func (p problems) refuseIf(condition bool, allowed, next string) {
	if condition {
		p.refuse(allowed, next)
	}
}
