package foresight_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// evicted returns the event of the eviction of a pod of DaemonSet agent that was bound to n1, both at a number of
// seconds from noon.
func evicted(uid string, bound, when float64, change ...func(map[string]string)) *v1.Event {
	e := &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: uid},
		InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "agent-" + uid, UID: types.UID(uid)},
		Reason:         "TaintManagerEviction", Message: "Marking for deletion Pod", LastTimestamp: metav1.NewTime(at(when)),
	}
	e.Annotations = map[string]string{
		"taint-manager/node": "n1", "taint-manager/taint": "gpu=a:NoExecute", "taint-manager/workload": "DaemonSet.apps/agent",
		"taint-manager/bound": at(bound).Format(time.RFC3339),
	}
	for _, c := range change {
		c(e.Annotations)
	}
	return e
}

func TestPendingSaysThatPodsComeBackForTheThirdTime(t *testing.T) {
	first, second := evicted("u1", -90, -80), evicted("u2", -70, -60)
	other := func(key, value string) func(map[string]string) { return func(a map[string]string) { a[key] = value } }
	for name, test := range map[string]struct {
		events []*v1.Event
		want   int
	}{
		"the third time":               {[]*v1.Event{second, first}, 2},
		"the fourth time":              {[]*v1.Event{first, second, evicted("u3", -55, -51)}, 3},
		"the second time":              {[]*v1.Event{first}, 0},
		"two that went together":       {[]*v1.Event{first, evicted("u2", -90, -79)}, 0},
		"of another workload":          {[]*v1.Event{first, evicted("u2", -70, -60, other("taint-manager/workload", "DaemonSet.apps/b"))}, 0},
		"from another node":            {[]*v1.Event{first, evicted("u2", -70, -60, other("taint-manager/node", "n2"))}, 0},
		"because of another taint":     {[]*v1.Event{first, evicted("u2", -70, -60, other("taint-manager/taint", "disk:NoExecute"))}, 0},
		"of a pod that is still there": {[]*v1.Event{first, evicted("uid-a", -70, -60)}, 0},
		"longer ago than an hour":      {[]*v1.Event{evicted("u1", -3700, -3650), second}, 0},
		"no event":                     {nil, 0},
		"events without annotations":   {[]*v1.Event{happened("u1", -80, "TaintManagerEviction", marked), happened("u2", -60, "TaintManagerEviction", marked)}, 0},
	} {
		objects := []any{node("n1", timed("gpu=a:NoExecute", -1000)), pod("a", ownedBy("DaemonSet/agent"), tolerates("gpu", 60), func(p *v1.Pod) {
			p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(at(-50))
		})}
		for _, e := range test.events {
			objects = append(objects, e)
		}
		pending := modelOf(foresight.Focus{}, objects...).Pending(noon, nil)
		note := fmt.Sprintf("eviction loop: within the last hour, pods of one owner came back to the same node, and are evicted again because of the same taint (shop/a on n1 after %d evictions)", test.want)
		if got := pending.Pods[0].Returned; got != test.want || noted(pending.Notes, note) != (test.want > 0) {
			t.Errorf("%s: %d: %q", name, got, pending.Notes)
		}
	}
}
