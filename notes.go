package taintmanager

import (
	"context"
	"slices"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// notify reports a shard's note in the log, and as an event of the pod. The decision of a policy in mode Audit is
// counted in a metric instead of an event.
func (m *Manager) notify(n eviction.Note) {
	if !m.leads.Load() && (n.Kind == eviction.EvictionHeld || n.Kind == eviction.EvictionCancelled) {
		return // this process neither holds nor evicts
	}
	m.log(n)
	m.metrics.decided(&n)
	if n.Kind == eviction.EvictionAudited {
		return
	}
	m.events.Put(n)
}

// callBegun reports a call that begins.
func (m *Manager) callBegun(e eviction.Request) {
	if e.Attempt == 1 && e.Pod.Disrupted {
		m.builtin.Overtaken(eviction.Overtaken{Pod: e.Pod, Deadline: e.Verdict.At})
	}
	if e.First {
		m.notify(eviction.Note{
			Kind: eviction.EvictionStarted, Pod: e.Pod, Verdict: e.Verdict, Policy: e.Policy, Method: e.Method,
		})
	}
}

// callEnded reports a call that has ended, and tells its shard.
func (m *Manager) callEnded(e eviction.Request, o eviction.Outcome, at time.Time) {
	m.options.Ended(e, o, at)
	m.metrics.ended(&e, &o)
	m.shardOf(e.Pod.Node).PodChanged(e.Pod.UID)
}

// drained reports, in the log and as an event on the node, that the last pod that had to leave the node is gone.
func (m *Manager) drained(node string) {
	if m.leads.Load() {
		m.options.Logger.Info("The last pod that had to go from the node is gone", "node", node)
		m.events.PutDrained(node)
	}
}

// maxHeldReports is the maximum number of held pods that a new leader reports: more would crowd out other events.
const maxHeldReports = 100

// reportHeld reports the pods that are held when this process begins to lead: at most maxHeldReports of them, and the
// number of the others. A pod that a shard finds held at the same time may be reported twice.
func (m *Manager) reportHeld(ctx context.Context) {
	holds := func(s *shard.Shard) bool {
		p, err := s.Pending(ctx)
		return err == nil && p.Counts[shard.Class{State: eviction.StateHeld}].N > 0
	}
	if !m.HasSynced() || !slices.ContainsFunc(m.shards, holds) {
		return
	}
	views, err := m.Views(ctx)
	if err != nil {
		return // this process no longer leads
	}
	held := slices.DeleteFunc(views, func(v eviction.View) bool { return v.State != eviction.StateHeld })
	for _, v := range held[:min(len(held), maxHeldReports)] {
		m.notify(eviction.Note{
			Kind: eviction.EvictionHeld, Pod: v.Pod, Verdict: v.Verdict, Policy: v.Policy, Held: v.Held,
		})
	}
	if more := len(held) - maxHeldReports; more > 0 {
		m.options.Logger.Info("The evictions of more pods are held", "pods", more)
	}
}

func (m *Manager) log(n eviction.Note) {
	about := []any{"pod", klog.KRef(n.Pod.Namespace, n.Pod.Name), "uid", n.Pod.UID, "node", n.Pod.Node}
	if n.Kind == eviction.EvictionAudited {
		if !n.DeleteAt.IsZero() {
			about = append(about, "deleteAt", taint.Stamp(n.DeleteAt))
		}
		about = append(about, "policy", n.Policy, "method", n.Method, "decision", n.Verdict.Because())
		m.options.Logger.Info("A policy in mode Audit would decide", about...)
		return
	}
	about = append(about, "deadline", taint.Stamp(n.Verdict.At))
	if n.Policy != "" {
		about = append(about, "policy", n.Policy)
	}
	switch n.Kind {
	case eviction.EvictionStarted:
		if !m.options.DryRun { // DryRunEvictor logs the request
			m.options.Logger.Info("Evicting the pod", append(about, "because", n.Verdict.Because())...)
		}
	case eviction.EvictionCancelled:
		if n.Held.By != 0 {
			about = append(about, "heldBy", n.Held.String())
		}
		m.options.Logger.Info("The eviction of the pod is cancelled", append(about, "because", n.WhyStays())...)
	case eviction.EvictionStuck:
		m.options.Logger.Info("The eviction of the pod is stuck; it is tried again", append(about,
			"state", n.Outcome.Stuck(), "cause", n.Outcome.Cause, "message", n.Outcome.Message)...)
	case eviction.EvictionHeld:
		m.options.Logger.Info("The eviction of the pod is held", append(about, "by", n.Held.String())...)
	}
}

// report reports a trip or a reset: in the log, as a metric, and as events of nodes.
func (m *Manager) report(e breaker.Event) {
	about := []any{"breaker", e.Trip.Breaker, "group", e.Trip.Group, "affected", e.Affected, "nodes", e.Nodes}
	if !e.Tripped {
		m.options.Logger.Info("A breaker is reset, and the evictions that it held go on", about...)
		return
	}
	m.options.Logger.Info("A breaker is tripped, and holds the evictions because of its taints",
		append(about, "names", e.Names)...)
	m.metrics.trips.WithLabelValues(e.Trip.Breaker).Inc()
	m.events.PutTrip(e)
}
