package evict

import (
	"context"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// DryRunEvictor is an evictor that sends nothing: it logs each decision to the context's logger.
type DryRunEvictor struct{}

// Evict logs the decision and returns an outcome of kind DryRun.
func (DryRunEvictor) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	klog.FromContext(ctx).Info("Dry run: would evict the pod now",
		"pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "uid", e.Pod.UID, "node", e.Pod.Node,
		"deadline", taint.Stamp(e.Verdict.At), "because", e.Verdict.Because())
	return eviction.Outcome{Kind: eviction.DryRun, Message: e.Verdict.String()}
}
