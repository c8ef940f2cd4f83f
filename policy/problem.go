package policy

import "fmt"

// Problem is the reason why a policy or a guard is refused.
type Problem struct {
	// Path of the field, such as policies[2].match.taints[0].key.
	Path string

	// Allowed describes the allowed values, and Next is the next step.
	Allowed, Next string
}

// problems collects the problems of one object at a path.
type problems struct {
	path string
	all  *[]Problem
}

// at returns the problems of a field of the object.
func (p problems) at(format string, args ...any) problems {
	return problems{p.path + fmt.Sprintf(format, args...), p.all}
}

func (p problems) refuse(allowed, next string) {
	*p.all = append(*p.all, Problem{p.path, allowed, next})
}

// refuseIf refuses the value if the condition holds.
func (p problems) refuseIf(condition bool, allowed, next string) {
	if condition {
		p.refuse(allowed, next)
	}
}
