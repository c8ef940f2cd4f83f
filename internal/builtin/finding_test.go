package builtin_test

import (
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/taint"
)

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func TestAPodIsSuspiciousWhenItIsMarkedOrGoesAtItsDeadline(t *testing.T) {
	for name, c := range map[string]struct {
		marked bool
		seen   time.Duration // after the deadline
		want   bool
	}{
		"deleted long before the deadline, as by kubectl":    {false, -time.Minute, false},
		"deleted long after it, as by an operator who helps": {false, time.Minute, false},
		"at it": {false, 0, true},
		"a second before, as of a start in whole seconds":        {false, -time.Second, true},
		"a moment after, as a watch is late":                     {false, 100 * time.Millisecond, true},
		"marked before it, as by a countdown that has not moved": {true, -time.Minute, true},
		"marked after it, as of a pod that is held":              {true, time.Hour, true},
	} {
		if held := (eviction.Overtaken{Pod: &taint.Pod{Disrupted: c.marked}}); builtin.Suspicious(held, zero.Add(c.seen)) != c.marked {
			t.Errorf("%s: an eviction that is held is not judged by its mark alone", name)
		}
		o := eviction.Overtaken{Pod: &taint.Pod{Disrupted: c.marked}, Deadline: zero}
		if got := builtin.Suspicious(o, zero.Add(c.seen)); got != c.want {
			t.Errorf("%s: got %v, want %v", name, got, c.want)
		}
	}
}

// fieldsOfMark are what the API server records of a patch that sets the condition.
const fieldsOfMark = `{"f:status":{"f:conditions":{"k:{\"type\":\"DisruptionTarget\"}":{".":{},"f:lastTransitionTime":{},"f:message":{},"f:reason":{},"f:status":{},"f:type":{}}}}}`

const fieldsOfKubelet = `{"f:status":{"f:conditions":{"k:{\"type\":\"Ready\"}":{".":{},"f:reason":{},"f:status":{},"f:type":{}}},"f:phase":{}}}`

func wrote(manager, fields string) metav1.ManagedFieldsEntry {
	return metav1.ManagedFieldsEntry{
		Manager: manager, Operation: metav1.ManagedFieldsOperationUpdate, APIVersion: "v1", Subresource: "status",
		FieldsType: "FieldsV1", FieldsV1: metav1.NewFieldsV1(fields),
	}
}

func TestTheWriterIsWhoHasSetTheReasonOfTheCondition(t *testing.T) {
	const mark = "DeletionByTaintManager"
	for name, c := range map[string]struct {
		reason string
		status v1.ConditionStatus
		fields []metav1.ManagedFieldsEntry
		want   string
	}{
		"the original":                   {mark, v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("kubelet", fieldsOfKubelet), wrote("kube-controller-manager", fieldsOfMark)}, "kube-controller-manager"},
		"as k3s calls it":                {mark, v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("k3s", fieldsOfMark)}, "k3s"},
		"another replica":                {mark, v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("taint-manager", fieldsOfMark)}, "taint-manager"},
		"a drain":                        {"EvictionByEvictionAPI", v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("kubectl", fieldsOfMark)}, ""},
		"a preemption":                   {"PreemptionByScheduler", v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("kube-scheduler", fieldsOfMark)}, ""},
		"garbage collection":             {"DeletionByPodGC", v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("kube-controller-manager", fieldsOfMark)}, ""},
		"a mark that is false":           {mark, v1.ConditionFalse, []metav1.ManagedFieldsEntry{wrote("kube-controller-manager", fieldsOfMark)}, ""},
		"fields that are not there":      {mark, v1.ConditionTrue, nil, ""},
		"fields that can't be read":      {mark, v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("x", "{"), {Manager: "y"}}, ""},
		"another field of the condition": {mark, v1.ConditionTrue, []metav1.ManagedFieldsEntry{wrote("x", strings.Replace(fieldsOfMark, `"f:reason":{},`, "", 1))}, ""},
	} {
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{ManagedFields: c.fields}}
		pod.Status.Conditions = []v1.PodCondition{
			{Type: v1.PodReady, Status: v1.ConditionTrue, Reason: mark},
			{Type: v1.DisruptionTarget, Status: c.status, Reason: c.reason},
		}
		if got := builtin.Writer(pod); got != c.want {
			t.Errorf("%s: got %q, want %q", name, got, c.want)
		}
	}
	if got := builtin.Writer(&v1.Pod{}); got != "" {
		t.Errorf("a pod that is not marked: got %q", got)
	}
}

func TestAWarningNamesPodWriterConsequenceAndRemedy(t *testing.T) {
	f := builtin.Finding{Pod: "shop/web-0", Node: "n1", Writer: "kube-controller-manager", At: zero}
	const begins = "kube-controller-manager has evicted pod shop/web-0 of node n1 at 2026-01-01T00:00:00Z, whose eviction waited here: the built-in controller still runs; "
	const ends = "; switch taint-eviction-controller off on all control-plane nodes (docs/switching-over.md)"
	for _, c := range []struct {
		broken []string
		want   string
	}{
		{nil, "no pod goes later than by taint-manager alone"},
		{[]string{"paused", "policy quarantine (method: Hold)"}, "this breaks paused, policy quarantine (method: Hold)"},
	} {
		if got := f.Warning(c.broken); got != begins+c.want+ends {
			t.Errorf("got  %s\nwant %s", got, begins+c.want+ends)
		}
	}
}
