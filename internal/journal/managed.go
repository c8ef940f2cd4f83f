package journal

import (
	"encoding/json"
	"slices"
	"strings"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// TaintsWritten returns the entry of a node's managedFields that owns its list of taints; nil if there is none with a
// time. Of several the latest counts. Its time may be too early, by any amount, so it does not tell when a taint was
// set, and only delays evictions: see docs/journal.md.
func TaintsWritten(managed []metav1.ManagedFieldsEntry) (last *metav1.ManagedFieldsEntry) {
	for i := range managed {
		m := &managed[i]
		if m.Time != nil && (last == nil || m.Time.After(last.Time.Time)) && ownsTaints(m.FieldsV1) {
			last = m
		}
	}
	return last
}

// ownsTaints reports whether the fields contain the list of taints, which is atomic.
func ownsTaints(fields *metav1.FieldsV1) bool {
	if fields == nil || !strings.Contains(fields.GetRawString(), `"f:taints"`) {
		return false
	}
	var owned struct {
		Spec struct {
			Taints json.RawMessage `json:"f:taints"`
		} `json:"f:spec"`
	}
	return json.Unmarshal(fields.GetRawBytes(), &owned) == nil && owned.Spec.Taints != nil
}

// Untimed reports whether any of the taints that are observed has no timeAdded. Only then managedFields matter.
func (k Keys) Untimed(taints []v1.Taint) bool {
	return slices.ContainsFunc(taints, func(t v1.Taint) bool {
		return t.TimeAdded == nil && k.roleOf(&t) != ignored
	})
}
