package policy

import "github.com/taint-manager/taint-manager/taint"

// Judge is a set of policies with the facts of one moment. It is immutable. The zero value decides as [taint.Decide]
// does.
type Judge struct {
	Set   *Set
	Facts *Facts
}

// Decide returns the verdict for a pod on its node; see [Set.Decide].
func (j Judge) Decide(pod *taint.Pod, node *taint.Node) Verdict {
	return j.Set.Decide(pod, node, j.Facts)
}
