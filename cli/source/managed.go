package source

import (
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/cli/flags"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/internal/status"
)

// pending returns the manager's evictions of the selected pods, at this time.
func (f *Followed) pending(at time.Time) *foresight.Pending {
	var list []*foresight.PendingPod
	for _, e := range f.evictions {
		if (f.namespace == "" || f.namespace == e.Namespace) && f.selects(e.Node) {
			list = append(list, podOf(&e))
		}
	}
	pending := foresight.NewPending(at, foresight.Focus{Namespace: f.namespace}, f.among, list)
	pending.Trips, pending.Notes, pending.Paused = tripsOf(&f.manager), notesOf(&f.manager), f.manager.Paused
	pending.Pace = (*foresight.Pace)(f.manager.Pace)
	if f.manager.Part != "" {
		pending.Incomplete = append(pending.Incomplete, f.manager.Part)
	}
	tainted, spared := 0, []foresight.SparedNode(nil)
	for name := range f.nodes {
		if f.selects(name) {
			tainted++
		}
	}
	for _, n := range f.manager.Spared {
		if f.selects(n.Name) {
			released := slices.ContainsFunc(f.nodes[n.Name].Taints, isOutOfService)
			spared = append(spared, foresight.SparedNode{Name: n.Name, NotReady: n.NotReadySince, Released: released})
		}
	}
	pending.NotePods(spared)
	unnamed := slices.DeleteFunc(slices.Clone(f.among), func(name string) bool {
		is := func(n foresight.SparedNode) bool { return n.Name == name }
		return f.nodes[name].Name == name || slices.ContainsFunc(spared, is)
	})
	if len(unnamed) == 0 {
		pending.TaintedNodes = &tainted
		return pending
	}
	// The manager names only tainted nodes, so the others may not exist.
	pending.Notes = append(pending.Notes, "the manager reports no taint on "+flags.JoinWords(unnamed, "or")+
		", which may not exist; check with 'kubectl get nodes'")
	return pending
}

// selects reports whether the question is about pods on this node.
func (f *Followed) selects(node string) bool {
	return len(f.among) == 0 || slices.Contains(f.among, node)
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
