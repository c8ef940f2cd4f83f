package pending

import (
	"fmt"
	"slices"
	"strings"

	"github.com/taint-manager/taint-manager/cli/answer"
	"github.com/taint-manager/taint-manager/internal/foresight"
)

// account has, by UID, every pod that was bound to the nodes of a wait since the wait began.
type account map[string]foresight.Standing

// The standings of pods that are to be evicted, and of pods that are gone.
const (
	toGo foresight.Standing = "to go"
	gone foresight.Standing = "gone"
)

// update applies the present state. It returns an error if a node was deleted while a pod was bound to it, unless the
// pod has finished, or ends with its node.
func (a account) update(now *foresight.Pending) error {
	before := account{}
	for uid, standing := range a {
		before[uid], a[uid] = standing, gone
	}
	for _, p := range now.Pods {
		a[p.UID] = toGo
	}
	var lost, nodes []string
	for _, p := range now.Others {
		a[p.UID] = p.Standing
		if p.Standing == foresight.Orphaned && !slices.Contains(endsWithNode(), before[p.UID]) {
			lost, nodes = append(lost, p.String()), append(nodes, p.Node)
		}
	}
	if len(lost) == 0 {
		return nil
	}
	slices.Sort(lost)
	slices.Sort(nodes)
	return fmt.Errorf("node %s was deleted while %s bound to it: %s; it is unknown whether their containers have "+
		"stopped, and the pod garbage collector deletes the pods; in all, %s", foresight.ShortList(slices.Compact(nodes)),
		answer.Pods(len(lost), "was", "were"), strings.Join(lost, ", "), a)
}

// endsWithNode returns the standings of pods that need not be gone before their node is deleted.
func endsWithNode() []foresight.Standing {
	return []foresight.Standing{
		foresight.Finished, foresight.Kept, foresight.Mirror, foresight.OfDaemonSet, foresight.Orphaned,
	}
}

// String says what became of the pods: "2 pods are gone, 1 has finished".
func (a account) String() string {
	counts := map[foresight.Standing]int{}
	for _, standing := range a {
		counts[standing]++
	}
	var clauses []string
	for _, s := range []struct {
		standing  foresight.Standing
		one, many string
	}{
		{gone, "is gone", "are gone"},
		{toGo, "is still to go", "are still to go"},
		{foresight.Terminating, "is terminating", "are terminating"},
		{foresight.Finished, "has finished", "have finished"},
		{foresight.Tolerating, "tolerates the taints", "tolerate the taints"},
		{foresight.Unaffected, "stays", "stay"},
		{foresight.Kept, "is kept by a finalizer", "are kept by finalizers"},
		{foresight.OfDaemonSet, "belongs to a DaemonSet", "belong to DaemonSets"},
		{foresight.Mirror, "is a static pod", "are static pods"},
		{foresight.Orphaned, "is left to the pod garbage collector", "are left to the pod garbage collector"},
	} {
		switch n := counts[s.standing]; {
		case n == 0:
		case len(clauses) == 0:
			clauses = append(clauses, answer.Pods(n, s.one, s.many))
		default:
			clauses = append(clauses, fmt.Sprintf("%d %s", n, foresight.Verb(n, s.one, s.many)))
		}
	}
	if len(clauses) == 0 {
		return "no pod was bound"
	}
	return strings.Join(clauses, ", ")
}
