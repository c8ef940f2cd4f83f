package evict

import (
	"context"
	"time"

	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// DryRunEvictor is an evictor that sends nothing: it judges the pod by the cache, and logs the decision to the
// context's logger. Both fields are required.
type DryRunEvictor struct {
	Reader Reader
	Judge  func() policy.Judge // the latest
}

// Evict logs the decision and returns an outcome of kind DryRun, or Unconfirmed if the pod is no longer to be evicted.
func (d DryRunEvictor) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	if why := d.doubt(&e); why != "" {
		return eviction.Outcome{Kind: eviction.Unconfirmed, Message: why}
	}
	klog.FromContext(ctx).Info("Dry run: would evict the pod now",
		"pod", klog.KRef(e.Pod.Namespace, e.Pod.Name), "uid", e.Pod.UID, "node", e.Pod.Node,
		"deadline", taint.Stamp(e.Verdict.At), "because", e.Verdict.Because())
	return eviction.Outcome{Kind: eviction.DryRun, Message: e.Verdict.String()}
}

// doubt returns why the pod is no longer to be evicted, or "".
func (d DryRunEvictor) doubt(e *eviction.Request) string {
	judge := d.Judge()
	pod, node := d.Reader.Pod(e.Pod.UID)
	if why := whyNone(judge, pod, node); why != "" {
		return why
	}
	_, why := permitting(judge, e, pod, node, time.Now())
	return why
}
