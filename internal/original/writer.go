package original

import (
	"encoding/json"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// reason is the reason of the condition DisruptionTarget that taint managers set; other clients set others.
const reason = "DeletionByTaintManager"

// Writer returns the field manager of the client that has marked the pod as a taint manager does. It returns "" if the
// pod is not marked so, or if its managedFields do not say by which client.
func Writer(pod *v1.Pod) string {
	if !marked(pod) {
		return ""
	}
	for i := range pod.ManagedFields {
		if m := &pod.ManagedFields[i]; ownsReason(m) {
			return m.Manager
		}
	}
	return ""
}

func marked(pod *v1.Pod) bool {
	for i := range pod.Status.Conditions {
		c := &pod.Status.Conditions[i]
		if c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == reason {
			return true
		}
	}
	return false
}

// ownsReason reports whether the field manager has set the reason of the condition DisruptionTarget. A field that
// several clients have set to one value belongs to the first of them.
func ownsReason(m *metav1.ManagedFieldsEntry) bool {
	if m.FieldsV1 == nil {
		return false
	}
	var owned struct {
		Status struct {
			Conditions map[string]map[string]any `json:"f:conditions"`
		} `json:"f:status"`
	}
	if json.Unmarshal(m.FieldsV1.GetRawBytes(), &owned) != nil {
		return false
	}
	_, ok := owned.Status.Conditions[`k:{"type":"`+string(v1.DisruptionTarget)+`"}`]["f:reason"]
	return ok
}
