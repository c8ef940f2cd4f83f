package source

import (
	"context"
	"fmt"
	"slices"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// Pending asks the manager which evictions it has of the pods in the namespace on these nodes; empty stands for all.
func (m *Manager) Pending(ctx context.Context, namespace string, nodes []string) (*foresight.Pending, error) {
	s, err := m.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	return pendingOf(s, namespace, nodes), nil
}

// Explain asks the manager alone about the pod of the scope, in any namespace if the scope has none.
func (m *Manager) Explain(ctx context.Context, s *Scope) (*foresight.Explanation, error) {
	shown, err := m.snapshot(ctx)
	if err != nil {
		return nil, err
	}
	pod := foresight.ExplainedPod{PodRef: foresight.PodRef{Namespace: s.Focus.Namespace, Name: s.Pod}}
	evicted, eviction, namespaces := find(shown, &pod)
	switch len(namespaces) {
	case 0:
	case 1:
		pod.Namespace = namespaces[0]
	default:
		return nil, fmt.Errorf("the manager has pods %s in the namespaces %s; choose one with --namespace", s.Pod,
			flags.JoinWords(namespaces, "and"))
	}
	var prediction *foresight.Prediction
	if eviction != nil {
		known := podOf(eviction)
		pod.PodRef, prediction = known.PodRef, &known.Prediction
	}
	pod.Gone = eviction == nil && evicted != nil
	e := foresight.NewExplanation(shown.At, pod, prediction)
	e.Notes = []string{"there is no kubeconfig, so only the manager was asked, which does not know " +
		"tolerations, events, or pods without a scheduled eviction"}
	if pod.Gone {
		e.History = "the manager evicted it"
	}
	complete(e, shown)
	return e, nil
}

// Complete asks the manager for its state of the pod, and adds it to the explanation.
func (m *Manager) Complete(ctx context.Context, e *foresight.Explanation) error {
	s, err := m.snapshot(ctx)
	if err == nil {
		complete(e, s)
	}
	return err
}

// complete adds what a snapshot shows of the pod.
func complete(e *foresight.Explanation, s *status.Snapshot) {
	state := &foresight.Managed{Identity: s.Manager.Identity, Role: s.Manager.Role}
	evicted, eviction, _ := find(s, &e.Pod)
	switch {
	case eviction != nil:
		state.State, state.At, state.Progress = eviction.State, new(eviction.Deadline.UTC()), progressOf(eviction)
		state.Policy, state.HeldBy = eviction.Policy, eviction.HeldBy
	case evicted != nil:
		state.State, state.At = foresight.EvictedByManager, new(evicted.At.UTC())
	}
	if p := e.Prediction; p != nil && p.Policy != state.Policy && state.Policy != "" {
		e.Warnings = append(e.Warnings, "the manager applies policy "+state.Policy+", and this answer does not; "+
			"add --config with the manager's configuration file")
	}
	e.Complete(state)
	for _, n := range notesOf(&s.Manager) {
		if !slices.Contains(e.Notes, n) { // the journal may have the same trips
			e.Notes = append(e.Notes, n)
		}
	}
}

// find returns what a snapshot has of a pod, and the namespaces that have such a pod. An empty namespace or UID of the
// pod stands for any.
func find(
	s *status.Snapshot, p *foresight.ExplainedPod,
) (evicted *status.Evicted, eviction *status.Eviction, namespaces []string) {
	is := func(namespace, name, uid string) bool {
		found := name == p.Name && (p.Namespace == "" || p.Namespace == namespace) && (p.UID == "" || p.UID == uid)
		if found && !slices.Contains(namespaces, namespace) {
			namespaces = append(namespaces, namespace)
		}
		return found
	}
	for i := range s.Evicted {
		if e := &s.Evicted[i]; !e.DryRun && is(e.Namespace, e.Pod, e.UID) {
			evicted = e
		}
	}
	for i := range s.Evictions {
		if e := &s.Evictions[i]; is(e.Namespace, e.Pod, e.UID) {
			eviction = e
		}
	}
	slices.Sort(namespaces)
	return evicted, eviction, namespaces
}

// pendingOf returns what a manager has shown of the pods in the namespace on these nodes.
func pendingOf(s *status.Snapshot, namespace string, nodes []string) *foresight.Pending {
	selected := func(node string) bool { return len(nodes) == 0 || slices.Contains(nodes, node) }
	var list []foresight.PendingPod
	for i := range s.Evictions {
		if e := &s.Evictions[i]; (namespace == "" || namespace == e.Namespace) && selected(e.Node) {
			list = append(list, podOf(e))
		}
	}
	pending := foresight.NewPending(s.At, foresight.Focus{Namespace: namespace}, nodes, list)
	pending.Trips, pending.Notes, pending.Paused = tripsOf(&s.Manager), notesOf(&s.Manager), s.Manager.Paused
	tainted, unnamed := 0, slices.Clone(nodes)
	for i := range s.Nodes {
		if name := s.Nodes[i].Name; selected(name) {
			tainted++
			unnamed = slices.DeleteFunc(unnamed, func(n string) bool { return n == name })
		}
	}
	if len(unnamed) == 0 {
		pending.TaintedNodes = &tainted
		return pending
	}
	// The manager names only tainted nodes, so the others may not exist.
	pending.Notes = append(pending.Notes, "the manager reports no taint on "+flags.JoinWords(unnamed, "or")+
		", which may not exist; check with 'kubectl get nodes'")
	return pending
}

func podOf(e *status.Eviction) foresight.PendingPod {
	pod := foresight.PendingPod{
		PodRef: foresight.PodRef{Namespace: e.Namespace, Name: e.Pod, UID: e.UID, Node: e.Node}, State: e.State,
		Prediction: foresight.Prediction{
			Evict: e.State != status.Held, At: new(e.Deadline.UTC()), Reason: e.Because, Taint: e.Taint,
			ExposedSince: new(e.ExposedSince.UTC()), Policy: e.Policy, Method: e.Method, HeldBy: e.HeldBy,
		},
		Progress: progressOf(e),
	}
	if !pod.Evict {
		pod.HeldDeadline, pod.Reason = pod.At, foresight.HeldReason(e.HeldBy, e.Deadline, e.Because)
	}
	if !e.DeleteAt.IsZero() {
		pod.DeleteAt = &e.DeleteAt
	}
	if e.Owner != nil {
		pod.Owner = &foresight.Owner{Kind: e.Owner.Kind, Name: e.Owner.Name}
	}
	return pod
}

// progressOf returns what the manager has done about an eviction.
func progressOf(e *status.Eviction) foresight.Progress {
	p := foresight.Progress{
		Attempts: e.Attempts, Cause: e.Cause, Message: e.Message, Budget: e.Budget,
		WaitsFor: e.WaitsFor, WaitsForRate: e.WaitsForRate,
	}
	if !e.NextTry.IsZero() {
		p.NextTry = new(e.NextTry.UTC())
	}
	return p
}

// tripsOf returns the trips of a manager.
func tripsOf(m *status.Manager) []foresight.Trip {
	var list []foresight.Trip
	for _, t := range m.Trips {
		list = append(list, foresight.Trip{
			Breaker: t.Breaker, Group: t.Group, Since: t.Since.UTC(), Recorded: true, Reset: t.Reset,
		})
	}
	return list
}

// notesOf returns notes about the replica that has answered.
func notesOf(m *status.Manager) []string {
	var notes []string
	switch {
	case m.Role != status.Standby:
	case m.Leader == "":
		notes = append(notes, fmt.Sprintf("replica %s is on standby and knows no leader; no pod is evicted until "+
			"a replica leads", m.Identity))
	default:
		notes = append(notes, fmt.Sprintf("replica %s is on standby; only the leader %s knows blocked, delayed "+
			"and in-flight evictions, so forward the port of its pod", m.Identity, m.Leader))
	}
	if m.Paused {
		notes = append(notes, "the manager is paused and starts no eviction")
	}
	for _, t := range tripsOf(m) {
		notes = append(notes, t.String())
	}
	if m.DryRun {
		notes = append(notes, "the manager runs with --dry-run and evicts no pod")
	}
	if m.Trouble != "" {
		notes = append(notes, "the manager's data may be out of date: "+m.Trouble)
	}
	return notes
}
