package source

import (
	"context"
	"fmt"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// Pending asks the manager for its evictions of the pods in the namespace on these nodes; empty stands for all.
func (m *Manager) Pending(ctx context.Context, namespace string, nodes []string) (*foresight.Pending, error) {
	var s status.Snapshot
	if _, err := m.get(ctx, "", &s); err != nil {
		return nil, err
	}
	if err := m.check(s.TypeMeta, s.Manager); err != nil {
		return nil, err
	}
	return pendingOf(&s, namespace, nodes), nil
}

// pendingOf returns the snapshot's evictions of the pods in the namespace on these nodes.
func pendingOf(s *status.Snapshot, namespace string, nodes []string) *foresight.Pending {
	selected := func(node string) bool { return len(nodes) == 0 || slices.Contains(nodes, node) }
	var list []*foresight.PendingPod
	for i := range s.Evictions {
		if e := &s.Evictions[i]; (namespace == "" || namespace == e.Namespace) && selected(e.Node) {
			list = append(list, podOf(e))
		}
	}
	pending := foresight.NewPending(s.At, foresight.Focus{Namespace: namespace}, nodes, list)
	pending.Trips, pending.Notes, pending.Paused = tripsOf(&s.Manager), notesOf(&s.Manager), s.Manager.Paused
	pending.Pace = (*foresight.Pace)(s.Manager.Pace)
	if s.Manager.Part != "" {
		pending.Incomplete = append(pending.Incomplete, s.Manager.Part)
	}
	named, released, spared := map[string]bool{}, map[string]bool{}, []foresight.SparedNode(nil)
	for i := range s.Nodes {
		if n := &s.Nodes[i]; selected(n.Name) {
			named[n.Name], released[n.Name] = true, slices.ContainsFunc(n.Taints, isOutOfService)
		}
	}
	tainted := len(named)
	for _, n := range s.Manager.Spared {
		if selected(n.Name) {
			named[n.Name] = true
			spared = append(spared, foresight.SparedNode{
				Name: n.Name, NotReady: n.NotReadySince, Released: released[n.Name],
			})
		}
	}
	pending.NotePods(spared)
	unnamed := slices.DeleteFunc(slices.Clone(nodes), func(name string) bool { return named[name] })
	if len(unnamed) == 0 {
		pending.TaintedNodes = &tainted
		return pending
	}
	// The manager names only tainted nodes, so the others may not exist.
	pending.Notes = append(pending.Notes, "the manager reports no taint on "+flags.JoinWords(unnamed, "or")+
		", which may not exist; check with 'kubectl get nodes'")
	return pending
}

func isOutOfService(t status.Taint) bool { return strings.HasPrefix(t.Taint, v1.TaintNodeOutOfService) }

func podOf(e *status.Eviction) *foresight.PendingPod {
	pod := &foresight.PendingPod{
		PodRef: foresight.PodRef{Namespace: e.Namespace, Name: e.Pod, UID: e.UID, Node: e.Node}, State: e.State,
		Prediction: foresight.Prediction{
			Evict: e.State != eviction.StateHeld, At: new(e.Deadline.UTC()), Reason: e.Because, Taint: e.Taint,
			ExposedSince: new(e.ExposedSince.UTC()), Policy: e.Policy, Method: e.Method, HeldBy: e.HeldBy,
			DeletedBy: e.DeletedBy, Own: e.Own,
		},
		Progress: progressOf(e), Returned: e.Returned,
	}
	if !pod.Evict {
		pod.HeldDeadline, pod.Reason = pod.At, foresight.HeldReason(e.HeldBy, e.Deadline, e.Because)
	}
	if !e.DeleteAt.IsZero() {
		pod.DeleteAt = &e.DeleteAt
	}
	if e.Owner != nil {
		pod.Owner = &foresight.Owner{Kind: e.Owner.Kind, Group: e.Owner.Group, Name: e.Owner.Name}
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
	notes = append(notes, m.Idle...)
	if m.DryRun {
		notes = append(notes, "the manager runs with --dry-run and evicts no pod")
	}
	if m.Trouble != "" {
		notes = append(notes, "the manager's data may be out of date: "+m.Trouble)
	}
	return notes
}
