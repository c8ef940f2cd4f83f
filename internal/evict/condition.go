package evict

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
)

// What the condition DisruptionTarget says: the words that job controllers and people know.
const (
	conditionReason  = "DeletionByTaintManager"
	conditionMessage = "Taint manager: deleting due to NoExecute taint"

	// conditionMessageNoSchedule is for taints that only a policy makes a reason to go.
	conditionMessageNoSchedule = "Taint manager: deleting due to NoSchedule taint"
)

// conditionPatch returns a strategic merge patch of a pod's status: conditions merge by type, so other conditions stay.
// It has only fields to set, because null deletes a field. The UID makes the patch fail on another pod of that name.
func conditionPatch(e *eviction.Request, now time.Time) ([]byte, error) {
	message := conditionMessage
	if on := e.Verdict.Taint; on != nil && on.Effect == v1.TaintEffectNoSchedule {
		message = conditionMessageNoSchedule
	}
	condition := map[string]any{
		"type": v1.DisruptionTarget, "status": v1.ConditionTrue, "reason": conditionReason, "message": message,
		"lastTransitionTime": now.UTC().Format(time.RFC3339),
	}
	if generation := e.Pod.Generation; generation > 0 {
		condition["observedGeneration"] = generation
	}
	return json.Marshal(map[string]any{
		"metadata": map[string]any{"uid": e.Pod.UID},
		"status":   map[string]any{"conditions": []any{condition}},
	})
}
