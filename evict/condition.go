package evict

import (
	"encoding/json"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// What the condition DisruptionTarget says: the words that job controllers and people know.
const (
	conditionReason  = "DeletionByTaintManager"
	conditionMessage = "Taint manager: deleting due to NoExecute taint"

	// conditionMessageNoSchedule is for taints that only a policy makes a reason to go.
	conditionMessageNoSchedule = "Taint manager: deleting due to NoSchedule taint"
)

// podPatch is a strategic merge patch of a pod's status: conditions merge by type, so those that it
// does not name stay. The UID makes the patch fail on another pod of the same name.
type podPatch struct {
	Metadata struct {
		UID types.UID `json:"uid"`
	} `json:"metadata"`
	Status struct {
		Conditions []conditionPatched `json:"conditions"`
	} `json:"status"`
}

// conditionPatched has the fields to be set only: a null in a patch deletes.
type conditionPatched struct {
	Type               v1.PodConditionType `json:"type"`
	Status             v1.ConditionStatus  `json:"status"`
	Reason             string              `json:"reason"`
	Message            string              `json:"message"`
	ObservedGeneration int64               `json:"observedGeneration,omitempty"`
	LastTransitionTime string              `json:"lastTransitionTime"`
}

func conditionPatch(e *eviction.Request, now time.Time) ([]byte, error) {
	var patch podPatch
	pod, message := e.Pod, conditionMessage
	if on := e.Verdict.Taint; on != nil && on.Effect == v1.TaintEffectNoSchedule {
		message = conditionMessageNoSchedule
	}
	patch.Metadata.UID = pod.UID
	patch.Status.Conditions = []conditionPatched{{
		Type:               v1.DisruptionTarget,
		Status:             v1.ConditionTrue,
		Reason:             conditionReason,
		Message:            message,
		ObservedGeneration: pod.Generation,
		LastTransitionTime: now.UTC().Format(time.RFC3339),
	}}
	return json.Marshal(patch)
}
