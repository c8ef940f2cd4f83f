package original

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

// Remedy is what ends the warning.
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

// tolerance is how far the built-in controller's deadline may be from the one here. Both count whole seconds from the
// taint's start, which the built-in controller takes from its watch, and this program from timeAdded if there is one,
// which has whole seconds.
const tolerance = 2 * time.Second

// Suspicious reports whether the built-in controller may have overtaken the eviction, by what the watch has shown at that
// time: it sets the condition DisruptionTarget, and deletes pods at their deadlines. Others do the same; [Writer] tells
// them apart.
func Suspicious(o eviction.Overtaken, seen time.Time) bool {
	return o.Pod.Disrupted || seen.Sub(o.Deadline).Abs() <= tolerance
}

// reason is the reason of the condition DisruptionTarget that taint managers set; other clients set others.
const reason = "DeletionByTaintManager"

// Writer returns the field manager of the client that has marked the pod as a taint manager does. It returns "" if the
// pod is not marked so, or if its managedFields do not say by which client.
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

// ownsReason reports whether the field manager has set the reason of the condition DisruptionTarget. A field that
// several clients have set to one value belongs to the first of them.
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
