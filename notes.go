package taintmanager

import (
	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// notify reports a shard's note: in the log, and as an event of the pod, or, what a policy in mode Audit would decide, as
// a metric.
func (m *Manager) notify(n eviction.Note) {
	m.log(n)
	if n.Kind == eviction.EvictionAudited {
		m.audits.WithLabelValues(n.Policy, string(n.Method)).Inc()
		return
	}
	m.events.Put(n)
}

func newAudits() *prometheus.CounterVec {
	return prometheus.NewCounterVec(prometheus.CounterOpts{
		Name: "taint_manager_policy_audits_total",
		Help: "What policies in mode Audit would decide: decisions about pods that are new or have changed, by policy and its method.",
	}, []string{"policy", "method"})
}

func (m *Manager) log(n eviction.Note) {
	logger := m.options.Logger
	if n.Policy != "" && n.Kind != eviction.EvictionAudited {
		logger = logger.WithValues("policy", n.Policy)
	}
	pod := klog.KRef(n.Pod.Namespace, n.Pod.Name)
	switch n.Kind {
	case eviction.EvictionStarted:
		if !m.options.DryRun { // DryRunEvictor logs what it would do
			logger.Info("Evicting the pod", "pod", pod, "uid", n.Pod.UID, "node", n.Pod.Node,
				"deadline", taint.Stamp(n.Verdict.At), "because", n.Verdict.Because())
		}
	case eviction.EvictionCancelled:
		logger.Info("The eviction of the pod is withdrawn", "pod", pod, "uid", n.Pod.UID, "node", n.Pod.Node,
			"deadline", taint.Stamp(n.Verdict.At), "because", n.Stays.String())
	case eviction.EvictionDelayed:
		logger.Info("The eviction of the pod is delayed; it is tried again", "pod", pod, "uid", n.Pod.UID,
			"node", n.Pod.Node, "deadline", taint.Stamp(n.Verdict.At), "cause", n.Outcome.Cause, "message", n.Outcome.Message)
	case eviction.EvictionHeld:
		logger.Info("The eviction of the pod is held", "pod", pod, "uid", n.Pod.UID, "node", n.Pod.Node,
			"deadline", taint.Stamp(n.Verdict.At), "by", n.Held.String())
	case eviction.EvictionAudited:
		logger.Info("A policy in mode Audit would decide", "pod", pod, "uid", n.Pod.UID, "node", n.Pod.Node,
			"policy", n.Policy, "method", n.Method, "decision", n.Verdict.Because())
	}
}
