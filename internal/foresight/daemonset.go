package foresight

import (
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// orDeleted returns the prediction for a pod on the node: the one that the manager's verdict gives (own), unless
// the DaemonSet controller deletes the pod earlier or at the same time.
func (ne *nodeEstimate) orDeleted(p *taint.Pod, own Prediction, by *rulesAt) Prediction {
	v := by.DeletedByDaemonSet(p, &ne.latest.Node)
	if !v.Evict || own.Evict && own.At.Before(v.At) {
		return own
	}
	return Prediction{
		Evict: true, At: utc(v.At), ExposedSince: utc(v.Start), SinceFrom: ne.from(v.Taint), Taint: v.Taint.ToString(),
		DeletedBy: taint.DaemonSetController, Method: policy.Delete.Word(),
		Reason: v.Because() + taint.DeletesDaemons,
	}
}
