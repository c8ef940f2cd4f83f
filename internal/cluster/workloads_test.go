package cluster

import (
	"fmt"
	"slices"
	"sync/atomic"
	"testing"
	"time"
	"unsafe"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestPodsOfOneWorkloadShareTheirListsAndTheirOwner(t *testing.T) {
	table := newPods(needsOf("app"))
	for i := range 3 {
		pod := numbered(i, map[string]string{"app": "web", "tier": "front"})
		controlledBy("ReplicaSet", "web")(pod)
		table.put(table.entryOf(pod, time.Now()))
	}
	a, b := table.get("uid-0"), table.get("uid-2")
	if unsafe.StringData(a.tolerations.encoded.Value()) != unsafe.StringData(b.tolerations.encoded.Value()) {
		t.Error("equal tolerations are not shared")
	}
	a.Labels["shared"] = "yes"
	if b.Labels["shared"] != "yes" {
		t.Error("equal labels are not shared")
	}
	web := taint.Owner{Kind: "ReplicaSet", Name: "web"}
	if a.Controller == nil || *a.Controller != web || a.Controller != b.Controller {
		t.Errorf("controllers %v and %v", a.Controller, b.Controller)
	}
}

// controlledBy gives a pod a controller, and an owner that is not its controller.
func controlledBy(kind, name string) func(*v1.Pod) {
	return func(p *v1.Pod) {
		p.OwnerReferences = []metav1.OwnerReference{{Kind: "Node", Name: "n"}, {Kind: kind, Name: name, Controller: new(true)}}
	}
}

func TestPodsDoNotShareUnequalLists(t *testing.T) {
	table := newPods(needsOf("app"))
	table.put(table.entryOf(aPod(), time.Now()))
	other := aPod(withUID("p2"), func(p *v1.Pod) { p.Name = "q"; p.Labels["app"] = "db" })
	other.Spec.Tolerations[0].TolerationSeconds = nil
	table.put(table.entryOf(other, time.Now()))
	p := table.get("p2").against([]v1.Taint{{Key: "k", Effect: v1.TaintEffectNoExecute}})
	if p.Labels["app"] != "db" || p.Tolerations[0].TolerationSeconds != nil {
		t.Errorf("got %+v", p)
	}
}

// However pods come and go, the number of workloads that are kept is bounded.
func TestWorkloadsAreForgottenAsPodsComeAndGo(t *testing.T) {
	table := newPods(needsOf("pod", "new"))
	for i := range 2 * minWorkloads {
		table.put(table.entryOf(numbered(i, map[string]string{"pod": fmt.Sprint(i)}), time.Now()))
		table.drop(numbered(i, nil).UID)
	}
	if got := len(table.workloads); got > minWorkloads {
		t.Errorf("%d workloads held, and no pod", got)
	}
}

// numbered returns a pod with its own strings, as pods come from the API server.
func numbered(i int, labels map[string]string) *v1.Pod {
	return aPod(func(p *v1.Pod) {
		p.UID, p.Name = typesUID("uid-%d", i), fmt.Sprintf("pod-%d", i)
		p.Labels = labels
	})
}

// needsOf returns needs of labels of pods.
func needsOf(labels ...string) *atomic.Pointer[needs] {
	return needing(policy.Needs{PodLabels: slices.Sorted(slices.Values(labels))})
}
