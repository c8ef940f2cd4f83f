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

// Pairs returns the decision about each pair of the pod and a taint of its node; see [Set.Pairs].
func (j Judge) Pairs(pod *taint.Pod, node *taint.Node) []Pair {
	return j.Set.Pairs(pod, node, j.Facts)
}

// Plain reports whether the judge has neither policies nor breakers, so that it decides as [taint.Decide] does.
func (j Judge) Plain() bool { return j.Set.plain() }

// Audits reports whether any policy is in mode Audit.
func (j Judge) Audits() bool { return j.Set != nil && j.Set.auditing }

// Paused reports whether no call starts.
func (j Judge) Paused() bool { return j.Facts.paused() }

// Method returns the method for pairs that no policy matches.
func (j Judge) Method() Method { return j.Set.defaultMethod() }
