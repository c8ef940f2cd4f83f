package managertest

import (
	"strings"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/policy"
)

// markAs marks the pod p as a taint manager does, under the name of that field manager; and deletes it, if so said.
func markAs(t *testing.T, client *fake.Clientset, manager string, deletes bool) {
	t.Helper()
	pods := client.CoreV1().Pods("default")
	pod, err := pods.Get(t.Context(), "p", metav1.GetOptions{})
	must(t, err)
	// The fake clientset keeps no managedFields.
	client.Lock() // PrependReactor does not lock what concurrent requests read
	client.PrependReactor("list", "pods", func(clienttesting.Action) (bool, runtime.Object, error) {
		pod := pod.DeepCopy()
		pod.ManagedFields = []metav1.ManagedFieldsEntry{{
			Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"DisruptionTarget\"}":{"f:reason":{}}}}}`),
		}}
		return true, &v1.PodList{Items: []v1.Pod{*pod}}, nil
	})
	client.Unlock()
	now := metav1.Now()
	if deletes {
		pod.DeletionTimestamp, pod.Finalizers = &now, []string{"example.com/stays"}
	}
	pod.Status.Conditions = append(pod.Status.Conditions, v1.PodCondition{
		Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "DeletionByTaintManager", LastTransitionTime: now,
	})
	_, err = pods.Update(t.Context(), pod, metav1.UpdateOptions{})
	must(t, err)
}

func TestAManagerReportsThatTheOriginalOvertakesItsEvictions(t *testing.T) {
	const original = "kube-controller-manager"
	for name, c := range map[string]struct {
		options taintmanager.Options
		writer  string
		want    string
	}{
		"by Delete, which it may": {taintmanager.Options{}, original, "no pod goes later than by taint-manager alone"},
		"by Evict":                {taintmanager.Options{Method: taintmanager.Evict}, original, "this breaks eviction.method: Evict"},
		"while it is paused":      {taintmanager.Options{Paused: true}, original, "this breaks paused"},
		"with a limit":            {taintmanager.Options{MaxEvictionsPerSecond: 0.001, Paused: true}, original, "this breaks paused, eviction.maxEvictionsPerSecond"},
		"while a policy holds the pod": {
			taintmanager.Options{Policies: []policy.Policy{{Name: "quarantine", Method: policy.Hold}}},
			original,
			"this breaks policy quarantine (method: Hold)",
		},
		"another replica":                                          {taintmanager.Options{}, evict.FieldManager, ""},
		"a dry run, next to the original":                          {taintmanager.Options{DryRun: true}, original, ""},
		"a caller's evictor, whose writes have names of their own": {taintmanager.Options{Evictor: &recorder{}}, original, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := aClient()
				r := start(t, client, c.options)
				time.Sleep(5 * time.Second)
				markAs(t, client, c.writer, true)
				time.Sleep(time.Second)
				said := ""
				if err := r.BuiltinTrouble(); err != nil {
					said = err.Error()
				}
				if (c.want == "") != (said == "") || !strings.Contains(said, c.want) {
					t.Errorf("got %q, want %q", said, c.want)
				}
			})
		})
	}
}

// The original patches the condition right before it deletes the pod, and this process may be between the two.
func TestAPodThatIsMarkedAsItsCallBeginsWasOvertaken(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		client := aClient()
		r := start(t, client, taintmanager.Options{})
		time.Sleep(5 * time.Second)
		markAs(t, client, "kube-controller-manager", false)
		time.Sleep(10 * time.Second)
		if err := r.BuiltinTrouble(); err != nil {
			t.Errorf("before the pod is due: %v", err)
		}
		time.Sleep(10 * time.Second)
		if r.BuiltinTrouble() == nil {
			t.Error("the original was not noticed")
		}
	})
}
