package builtin

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// Finding is a pod that the built-in controller has marked for deletion while its eviction waited here.
type Finding struct {
	Pod    string // namespace/name
	Node   string
	Writer string // field manager that has marked the pod
	At     time.Time
}

// Remedy says how to end the warning.
const Remedy = "switch taint-eviction-controller off on all control-plane nodes (docs/switching-over.md)"

// Warning returns the finding with its consequence and remedy. broken names the settings whose promises the built-in
// controller breaks.
func (f *Finding) Warning(broken []string) string {
	consequence := "no pod goes later than by taint-manager alone"
	if len(broken) > 0 {
		consequence = "this breaks " + strings.Join(broken, ", ")
	}
	return fmt.Sprintf("%s has evicted pod %s of node %s at %s, whose eviction waited here: "+
		"the built-in controller still runs; %s; %s", f.Writer, f.Pod, f.Node, taint.Stamp(f.At), consequence, Remedy)
}

// tolerance is how far the built-in controller's deadline may be from this program's. Both add whole seconds to the
// start of the taint. The built-in controller takes the start from its watch, and this program takes it from timeAdded,
// if present, which has whole seconds.
const tolerance = 2 * time.Second

// Suspicious reports whether the built-in controller may have overtaken an eviction: that controller sets the condition
// DisruptionTarget, and deletes pods at their deadlines. Others do so, too; [Writer] tells them apart. The watch showed
// at the time seen that the eviction was overtaken.
func Suspicious(o eviction.Overtaken, seen time.Time) bool {
	return o.Pod.Disrupted || seen.Sub(o.Deadline).Abs() <= tolerance
}

// reason is the reason of the condition DisruptionTarget that taint managers set; other clients set others.
const reason = "DeletionByTaintManager"

// Writer returns the field manager of the client that has marked the pod as a taint manager does. It returns "" if no
// client has, or if the managedFields do not name the client.
func Writer(pod *v1.Pod) string {
	marked := slices.ContainsFunc(pod.Status.Conditions, func(c v1.PodCondition) bool {
		return c.Type == v1.DisruptionTarget && c.Status == v1.ConditionTrue && c.Reason == reason
	})
	writer := slices.IndexFunc(pod.ManagedFields, ownsReason)
	if !marked || writer < 0 {
		return ""
	}
	return pod.ManagedFields[writer].Manager
}

// ownsReason reports whether the field manager has set the reason of the condition DisruptionTarget. If several clients
// set a field to the same value, it belongs to the first of them.
func ownsReason(m metav1.ManagedFieldsEntry) bool {
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
