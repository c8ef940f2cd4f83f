package inspect

import (
	"context"
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/cli/suggest"
	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/status"
)

// statusClient gets the scheduled evictions from a manager.
type statusClient struct {
	*pendingOptions
	*managerClient
}

func newStatusClient(a *pendingOptions) (*statusClient, error) {
	manager, err := newManagerClient(a.server)
	if err != nil {
		return nil, err
	}
	return &statusClient{a, manager}, nil
}

func (c *statusClient) pending(ctx context.Context) (*foresight.Pending, error) {
	s, err := c.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return c.tell(s), nil
}

// tell returns the snapshot in the form of pending.
func (c *statusClient) tell(s *status.Snapshot) *foresight.Pending {
	var list []foresight.PendingPod
	for i := range s.Evictions {
		e := &s.Evictions[i]
		in := c.only() == "" || c.only() == e.Namespace
		if in && (len(c.nodes) == 0 || slices.Contains(c.nodes, e.Node)) {
			list = append(list, pendingOf(e))
		}
	}
	pending := foresight.NewPending(s.At, list)
	tainted := c.tainted(s.Nodes)
	pending.TaintedNodes = &tainted
	pending.Trips, pending.Notes = tripsOf(s.Manager), notesOf(s.Manager)
	if untold := c.untold(s.Nodes); len(untold) > 0 {
		pending.Notes, pending.TaintedNodes = append(pending.Notes, untold...), nil
	}
	return pending
}

// untold returns a note about the selected nodes that the manager does not name. It names only tainted nodes, so the
// others may not exist.
func (c *statusClient) untold(nodes []status.Node) []string {
	var missing []string
	for _, name := range c.nodes {
		if !slices.ContainsFunc(nodes, func(n status.Node) bool { return n.Name == name }) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return nil
	}
	return []string{"the manager names no tainted node " + suggest.Listed(missing, "or") + ", and does not tell whether there is such a node; check its name with 'kubectl get nodes'"}
}

// tainted counts the selected nodes.
func (c *statusClient) tainted(nodes []status.Node) (n int) {
	for i := range nodes {
		if len(c.nodes) == 0 || slices.Contains(c.nodes, nodes[i].Name) {
			n++
		}
	}
	return n
}

func pendingOf(e *status.Eviction) foresight.PendingPod {
	deadline, since := e.Deadline.UTC(), e.ExposedSince.UTC()
	one := foresight.PendingPod{
		Namespace: e.Namespace, Name: e.Pod, UID: e.UID, Node: e.Node, State: e.State,
		Prediction: foresight.Prediction{Evict: true, At: &deadline, Reason: e.Because, Taint: e.Taint, ExposedSince: &since},
		Attempts:   e.Attempts, Cause: e.Cause, Message: e.Message, Budget: e.Budget, SlowPlace: e.SlowPlace,
	}
	one.Policy, one.Method, one.HeldBy, one.WaitsFor, one.WaitsForRate = e.Policy, e.Method, e.HeldBy, e.WaitsFor, e.WaitsForRate
	if one.Evict = e.State != status.Held; !one.Evict {
		one.HeldDeadline = one.At
	}
	if !e.DeleteAt.IsZero() {
		one.DeleteAt = &e.DeleteAt
	}
	if e.Owner != nil {
		one.Owner = &foresight.Owner{Kind: e.Owner.Kind, Name: e.Owner.Name}
	}
	if !e.NextTry.IsZero() {
		one.NextTry = &e.NextTry
	}
	return one
}

// tripsOf returns the trips of a manager in the form of pending.
func tripsOf(m status.Manager) []foresight.Trip {
	var list []foresight.Trip
	for _, t := range m.Trips {
		list = append(list, foresight.Trip{Breaker: t.Breaker, Group: t.Group, Since: t.Since.UTC(), Recorded: true, Reset: t.Reset})
	}
	return list
}

// notesOf returns notes about the replica that has answered.
func notesOf(m status.Manager) []string {
	var notes []string
	if m.Role == status.Standby {
		leader := "another one"
		if m.Leader != "" {
			leader = m.Leader
		}
		notes = append(notes, fmt.Sprintf("this replica (%s) stands by and %s leads, which alone knows what is blocked, delayed or in flight; forward the port of that one's pod", m.Identity, leader))
	}
	if m.Paused {
		notes = append(notes, "the manager is paused: it starts no call")
	}
	for _, t := range tripsOf(m) {
		notes = append(notes, tripped(t)+untilReset(t))
	}
	if m.DryRun {
		notes = append(notes, "this is a dry run: it evicts no pod")
	}
	if m.Trouble != "" {
		notes = append(notes, "what the manager knows may be out of date: "+m.Trouble)
	}
	return notes
}
