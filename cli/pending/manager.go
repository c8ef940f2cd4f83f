package pending

import (
	"slices"

	"github.com/taint-manager/taint-manager/cli/source"
	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

// pendingOf returns what a manager has shown of the selected nodes and pods.
func (o *options) pendingOf(s *status.Snapshot) *foresight.Pending {
	namespace := o.focus().Namespace
	selected := func(node string) bool { return len(o.nodes) == 0 || slices.Contains(o.nodes, node) }
	var list []foresight.PendingPod
	for i := range s.Evictions {
		if e := &s.Evictions[i]; (namespace == "" || namespace == e.Namespace) && selected(e.Node) {
			list = append(list, podOf(e))
		}
	}
	pending := foresight.NewPending(s.At, list)
	pending.Trips, pending.Notes = source.TripsOf(s.Manager), source.NotesOf(s.Manager)
	tainted, named := 0, map[string]bool{}
	for i := range s.Nodes {
		named[s.Nodes[i].Name] = true
		if selected(s.Nodes[i].Name) {
			tainted++
		}
	}
	pending.TaintedNodes = &tainted
	// The manager names only tainted nodes, so the others may not exist.
	if unnamed := slices.DeleteFunc(slices.Clone(o.nodes), func(name string) bool { return named[name] }); len(
		unnamed) > 0 {
		pending.Notes = append(pending.Notes, "the manager names no tainted node "+suggest.Listed(unnamed, "or")+
			", and does not tell whether there is such a node; check its name with 'kubectl get nodes'")
		pending.TaintedNodes = nil
	}
	return pending
}

func podOf(e *status.Eviction) foresight.PendingPod {
	deadline, since := e.Deadline.UTC(), e.ExposedSince.UTC()
	one := foresight.PendingPod{
		PodRef: foresight.PodRef{Namespace: e.Namespace, Name: e.Pod, UID: e.UID, Node: e.Node}, State: e.State,
		Prediction: foresight.Prediction{
			Evict: e.State != status.Held, At: &deadline, Reason: e.Because, Taint: e.Taint, ExposedSince: &since,
			Policy: e.Policy, Method: e.Method, HeldBy: e.HeldBy,
		},
		Progress: source.ProgressOf(e),
	}
	if !one.Evict {
		one.HeldDeadline = one.At
	}
	if !e.DeleteAt.IsZero() {
		one.DeleteAt = &e.DeleteAt
	}
	if e.Owner != nil {
		one.Owner = &foresight.Owner{Kind: e.Owner.Kind, Name: e.Owner.Name}
	}
	return one
}
