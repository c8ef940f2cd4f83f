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

// takeover is how long a standby takes to see that the lease is free: one retry period of election with the maximum delay.
const takeover = 2200 * time.Millisecond

// ownGap is the time between the deletions of two own pods; leaseDuration, that of election, is for how long nobody leads
// if no other process takes the lease.
const ownGap, leaseDuration = 15 * time.Second, 6 * time.Second

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
		scenes = append(scenes, &scene{T: t, world: w, node: name})
		scenes[len(scenes)-1].makeNode()
	}
	k := &ownKubelet{world: w, t: t, replicas: map[types.UID]*testcluster.Manager{}}
	t.Cleanup(k.running.Wait)
	w.makeOwnPods(t)
	k.startBoth()
	t.Run("the leader leaves its pod to the next leader", func(t *testing.T) { k.leavesItsPod(t) })
	k.startBoth()
	t.Run("under a taint on all nodes every other pod goes on time, and one replica is left and leads", func(t *testing.T) {
		k.leavesOne(t, scenes)
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
	if err != nil {
		t.Fatal(err)
	}
}

// bound returns the own pods that are bound to a node and not terminating.
func (o *ownKubelet) bound(t *testing.T) []v1.Pod {
	t.Helper()
	list, err := o.admin.CoreV1().Pods("default").List(t.Context(), metav1.ListOptions{LabelSelector: "app=own"})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(list.Items, func(p v1.Pod) bool { return p.Spec.NodeName == "" || p.DeletionTimestamp != nil })
}

// startBoth waits until two pods are bound, and starts the processes of those that have none. One of them leads then.
func (o *ownKubelet) startBoth() {
	o.t.Helper()
	var pods []v1.Pod
	s := &scene{T: o.t, world: o.world}
	s.until("two own pods are bound", func() bool { pods = o.bound(o.t); return len(pods) == 2 })
	for _, pod := range pods {
		if o.replicas[pod.UID] == nil {
			o.start(pod)
		}
	}
	if o.waitForHolder(o.t, true) == "" {
		o.t.Fatal("no replica leads")
	}
}

func (o *ownKubelet) start(pod v1.Pod) {
	o.t.Helper()
	m, err := o.Launch(o.t.Context(), o.withEnv(o.t, "POD_UID="+string(pod.UID)), "", election...)
	if err != nil {
		o.t.Fatal(err)
	}
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
	log, err := o.replicas[uid].Log()
	if err != nil {
		t.Fatal(err)
	}
	holder := *o.ownLease(t).HolderIdentity
	return holder != "" && strings.Contains(log, `identity="`+holder+`" self=true`)
}

// leavesItsPod taints the leader's node. The standby leads, and evicts the leader's pod.
func (o *ownKubelet) leavesItsPod(t *testing.T) {
	leader, standby := o.leader(t)
	s := &scene{T: t, world: o.world, node: leader.Spec.NodeName}
	web := s.pod("web")
	tainted := s.taint("maintenance")
	s.goes(web, tainted, 0)
	if at, gone := s.deletion(t, leader.UID, tainted.after.Add(takeover+soon)); !gone {
		t.Errorf("the leader's pod did not go within %v", takeover+soon)
	} else {
		t.Logf("the leader's pod went after %v", at.Sub(tainted.after).Round(time.Millisecond))
	}
	if !o.holds(t, standby.UID) {
		t.Error("the standby does not lead")
	}
	for _, replica := range []struct {
		pod    v1.Pod
		evicts bool
	}{{leader, false}, {standby, true}} {
		log, err := o.replicas[replica.pod.UID].Log()
		if err != nil || evictsPod(log, leader.Name) != replica.evicts {
			t.Errorf("%s evicts %s: want %t, error %v", replica.pod.Name, leader.Name, replica.evicts, err)
		}
	}
	if _, gone := s.deletion(t, standby.UID, time.Now()); gone {
		t.Error("the standby's pod is gone, too")
	}
	s.taint()
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

// leavesOne taints all nodes. The own pods are due at once, as other pods are, and further pods have a countdown of
// 20 s.
func (o *ownKubelet) leavesOne(t *testing.T, scenes []*scene) {
	leader, standby := o.leader(t)
	var now, later []*v1.Pod
	for _, s := range scenes {
		s = &scene{T: t, world: o.world, node: s.node}
		for _, name := range []string{"a", "b", "c", "d", "e"} {
			now = append(now, s.pod("now-"+name))
			later = append(later, s.pod("later-"+name, bears("maintenance", 20)))
		}
	}
	// The leader's node comes last: a leader whose pod alone is due gives the lease back.
	isLast := func(s *scene) bool { return s.node == leader.Spec.NodeName }
	scenes = append(slices.DeleteFunc(slices.Clone(scenes), isLast), scenes[slices.IndexFunc(scenes, isLast)])
	tainted := map[string]moment{}
	for _, s := range scenes {
		tainted[s.node] = s.taint("maintenance")
	}
	o.goOnTime(t, now, tainted, 0)
	if _, gone := o.deletion(t, standby.UID, tainted[leader.Spec.NodeName].after.Add(ownGap+5*time.Second)); !gone {
		t.Error("the standby's pod did not go although nothing else was due")
	}
	o.goOnTime(t, later, tainted, 20)
	if _, gone := o.deletion(t, leader.UID, time.Now().Add(ownGap+leaseDuration+takeover)); gone {
		t.Error("the leader's pod is gone, so that no replica is left")
	}
	o.leadsOn(t, leader)
}

// goOnTime requires the pods to go at their deadlines, this number of seconds after the taint of their nodes.
func (o *ownKubelet) goOnTime(t *testing.T, pods []*v1.Pod, tainted map[string]moment, seconds float64) {
	t.Helper()
	for _, pod := range pods {
		s := &scene{T: t, world: o.world, node: pod.Spec.NodeName}
		s.goes(pod, tainted[s.node], seconds)
	}
}

// leadsOn requires the process of the pod to lead, and to say that no other one has taken the lease that it gave back.
func (o *ownKubelet) leadsOn(t *testing.T, pod v1.Pod) {
	t.Helper()
	m := o.replicas[pod.UID]
	if !o.holds(t, pod.UID) {
		t.Errorf("the process of %s does not lead", pod.Name)
	}
	if ready := o.readyz(t, m); !strings.Contains(ready, "readyz check passed\n") || !strings.Contains(o.remarks(t, m), "[!]lease: this process gave the lease back") {
		t.Errorf("it does not say that it leads on:\n%s", ready)
	}
	if _, metrics := ask(t, o.adminTLS(t), "https://"+m.Address()+"/metrics"); !strings.Contains(metrics, "\ntaint_manager_failed_yields_total 1\n") {
		t.Error("its metrics do not count one failed yield")
	}
}
