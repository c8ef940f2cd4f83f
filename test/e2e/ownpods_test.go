package e2e

import (
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// ownPodsLabel selects the pods of the ReplicaSet whose pods are the program's own ones.
var ownPodsLabel = map[string]string{"app": "own"}

// ownPatience is how long an own pod waits at least.
const ownPatience = time.Second

// ownKubelet runs the containers of the program's pods on simulated nodes: a process for each pod, which knows the pod's
// UID as by the downward API, and is asked to end when the pod is deleted.
type ownKubelet struct {
	*world
	t        *testing.T
	running  sync.WaitGroup
	replicas map[types.UID]*testcluster.Manager // also those that have ended
}

func TestTheProgramsOwnPodsGoLast(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	var scenes []*scene
	for _, name := range []string{"last-1", "last-2", "last-3"} {
		scenes = append(scenes, w.newNode(t, name))
	}
	k := &ownKubelet{world: w, t: t, replicas: map[types.UID]*testcluster.Manager{}}
	t.Cleanup(k.running.Wait)
	w.makeOwnPods(t)
	k.startBoth()
	t.Run("the leader evicts its own pod, and the standby leads", func(t *testing.T) { k.evictsItsPod(t) })
	k.startBoth()
	t.Run("under a taint on all nodes every other pod goes on time, and both replicas are replaced", func(t *testing.T) {
		k.replacesBoth(t, scenes)
	})
}

// makeOwnPods creates a ReplicaSet with two pods on different nodes, which tolerate no taint of a test.
func (w *world) makeOwnPods(t *testing.T) {
	t.Helper()
	apart := &v1.Affinity{PodAntiAffinity: &v1.PodAntiAffinity{RequiredDuringSchedulingIgnoredDuringExecution: []v1.PodAffinityTerm{{
		LabelSelector: &metav1.LabelSelector{MatchLabels: ownPodsLabel}, TopologyKey: "kubernetes.io/hostname",
	}}}}
	_, err := w.admin.AppsV1().ReplicaSets("default").Create(t.Context(), &appsv1.ReplicaSet{
		ObjectMeta: metav1.ObjectMeta{Name: "own"},
		Spec: appsv1.ReplicaSetSpec{
			Replicas: new(int32(2)), Selector: &metav1.LabelSelector{MatchLabels: ownPodsLabel},
			Template: v1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: ownPodsLabel},
				Spec:       v1.PodSpec{Affinity: apart, Containers: []v1.Container{{Name: "c", Image: "image"}}},
			},
		},
	}, metav1.CreateOptions{})
	must(t, err)
}

// bound returns the own pods that are bound to a node and not terminating.
func (o *ownKubelet) bound(t *testing.T) []v1.Pod {
	t.Helper()
	list, err := o.admin.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=own"})
	must(t, err)
	return slices.DeleteFunc(list.Items, func(p v1.Pod) bool { return p.Spec.NodeName == "" || p.DeletionTimestamp != nil })
}

// startBoth waits until two pods are bound, and starts the processes of those that have none. One of them leads then.
func (o *ownKubelet) startBoth() {
	o.t.Helper()
	var pods []v1.Pod
	until(o.t, "two own pods are bound", func() bool { pods = o.bound(o.t); return len(pods) == 2 })
	for _, pod := range pods {
		if o.replicas[pod.UID] == nil {
			o.start(pod)
		}
	}
	o.waitForHolder(o.t)
}

func (o *ownKubelet) start(pod v1.Pod) {
	o.t.Helper()
	m, err := o.Launch(o.t.Context(), o.withEnv(o.t, "POD_UID="+string(pod.UID)), "", election...)
	must(o.t, err)
	o.replicas[pod.UID] = m
	o.seesALeader(o.t, m)
	o.running.Go(func() {
		o.deletion(o.t, pod.UID, time.Now().Add(time.Hour)) // or until the test ends
		if err := m.Stop(); err != nil {
			o.t.Errorf("ending %s: %v", pod.Name, err)
		}
		if log, err := m.Log(); o.t.Failed() && err == nil {
			o.t.Logf("the end of the log of %s:\n%s", pod.Name, log[max(0, len(log)-6000):])
		}
	})
}

// leader returns the own pod whose process holds the lease, and the other one.
func (o *ownKubelet) leader(t *testing.T) (leader, other v1.Pod) {
	t.Helper()
	pods := o.bound(t)
	if len(pods) != 2 {
		t.Fatalf("%d own pods are bound, want 2", len(pods))
	}
	for i, pod := range pods {
		if o.holds(t, pod.UID) {
			return pod, pods[1-i]
		}
	}
	t.Fatal("no process of the two own pods leads")
	return leader, other
}

// holds reports whether the process of the pod with this UID holds the lease. Its log says so of itself alone.
func (o *ownKubelet) holds(t *testing.T, uid types.UID) bool {
	t.Helper()
	identity := holder(o.lease(t, "kube-system"))
	return identity != "" && strings.Contains(o.logOf(t, o.replicas[uid]), `identity="`+identity+`" self=true`)
}

// evictsItsPod taints the leader's node. The leader evicts its own pod, and the standby leads.
func (o *ownKubelet) evictsItsPod(t *testing.T) {
	leader, standby := o.leader(t)
	s := o.on(t, leader.Spec.NodeName)
	web := s.pod("web")
	tainted := s.taint("maintenance")
	s.goes(web, tainted, 0)
	at, gone := s.deletion(t, leader.UID, tainted.after.Add(ownPatience+soon))
	if !gone {
		t.Fatalf("the leader's pod did not go within %v", ownPatience+soon)
	}
	t.Logf("the leader's pod went after %v", at.Sub(tainted.after).Round(time.Millisecond))
	o.leadsWithin(t, standby, at)
	for uid, evicts := range map[types.UID]bool{leader.UID: true, standby.UID: false} {
		if evictsPod(o.logOf(t, o.replicas[uid]), leader.Name) != evicts {
			t.Errorf("the process of pod %s evicts %s: want %t", uid, leader.Name, evicts)
		}
	}
	if _, gone := s.deletion(t, standby.UID, time.Now()); gone {
		t.Error("the standby's pod is gone, too")
	}
	s.taint()
}

// leadsWithin requires the process of the pod to lead within 3 s of that moment.
func (o *ownKubelet) leadsWithin(t *testing.T, pod v1.Pod, since time.Time) {
	t.Helper()
	until(t, pod.Name+" leads", func() bool { return o.holds(t, pod.UID) })
	if took := time.Since(since); took > 3*time.Second {
		t.Errorf("%s leads %v after the deletion of the leader's pod, want 3 s", pod.Name, took)
	}
}

// evictsPod reports whether a process's log says that it evicts this pod.
func evictsPod(log, name string) bool {
	for line := range strings.Lines(log) {
		if strings.Contains(line, `"Evicting the pod"`) && strings.Contains(line, `pod="default/`+name+`"`) {
			return true
		}
	}
	return false
}

// replacesBoth taints all nodes. The own pods are due at once, as other pods are; further pods on the leader's node have a
// countdown. Once the taints of the other nodes are lifted, both replicas are replaced, one after the other.
func (o *ownKubelet) replacesBoth(t *testing.T, scenes []*scene) {
	leader, standby := o.leader(t)
	var now, later []*v1.Pod
	for _, s := range scenes {
		s = o.on(t, s.node)
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			now = append(now, s.pod("now-"+name))
			if s.node == leader.Spec.NodeName {
				later = append(later, s.pod("later-"+name, bears("maintenance", 40)))
			}
		}
	}
	tainted := map[string]moment{}
	for _, s := range scenes {
		tainted[s.node] = s.taint("maintenance")
	}
	for _, pod := range now {
		o.on(t, pod.Spec.NodeName).goes(pod, tainted[pod.Spec.NodeName], 0)
	}
	if _, gone := o.deletion(t, standby.UID, tainted[leader.Spec.NodeName].after.Add(ownPatience+2*soon)); !gone {
		t.Fatal("the standby's pod did not go although nothing else was due")
	}
	if _, gone := o.deletion(t, leader.UID, time.Now().Add(3*time.Second)); gone {
		t.Fatal("the leader's pod went although no other replica was Ready")
	}
	for _, s := range scenes {
		if s.node != leader.Spec.NodeName {
			s.taint()
		}
	}
	o.startBoth()
	at, gone := o.deletion(t, leader.UID, time.Now().Add(10*time.Second))
	if !gone {
		t.Fatal("the leader's pod did not go although another replica is Ready")
	}
	o.startBoth()
	first, second := o.leader(t)
	t.Logf("%s leads, %s stands by; the leader's pod went %v ago", first.Name, second.Name, time.Since(at))
	for _, pod := range later {
		o.on(t, pod.Spec.NodeName).goesWithin(3*time.Second, pod, tainted[pod.Spec.NodeName], 40)
	}
}
