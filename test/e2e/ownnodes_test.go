package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// ownReplica is a pod of the Deployment, which the scheduler has bound to a simulated node, and a process of the program
// that runs as the pod's container would. The program knows its pod by the host's name alone, which only makes its
// identity in the lease legible.
type ownReplica struct {
	pod     v1.Pod
	process *testcluster.Manager
}

func TestTaintsOnTheNodesOfTheReplicas(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{ControllerManagerArgs: []string{"--node-monitor-grace-period=20s"}})
	w.waitForNoPods(t)
	scenes := map[string]*scene{}
	for _, name := range []string{"own-1", "own-2", "own-3"} {
		scenes[name] = &scene{T: t, world: w, node: name}
		scenes[name].makeNode()
		w.kubectl(t, "label", "node", name, "kubernetes.io/os=linux")
	}
	w.kubectl(t, "apply", "-f", installed)
	w.kubectl(t, "-n", "kube-system", "rollout", "status", "deployment/taint-manager", "--timeout=60s")
	leader, standby := w.ownReplicas(t)
	w.leads(t, leader)
	t.Run("under the taint of control-plane nodes, on all nodes, the replicas work on while the others go", func(t *testing.T) {
		w.replicasWorkOn(t, leader, standby, scenes["own-1"], scenes["own-2"], scenes["own-3"])
	})
	t.Run("with the nodes of both replicas under maintenance, too", func(t *testing.T) {
		w.replicasWorkOn(t, leader, standby, scenes[leader.pod.Spec.NodeName], scenes[standby.pod.Spec.NodeName])
	})
	t.Run("if the leader's node dies, the standby leads and replaces its pod after 30 s", func(t *testing.T) {
		w.replacesLeader(t, leader, standby)
	})
	if err := standby.process.Stop(); err != nil {
		t.Error(err)
	}
}

// ownReplicas starts a process for each of the two pods. The first one leads.
func (w *world) ownReplicas(t *testing.T) (leader, standby ownReplica) {
	t.Helper()
	var all []ownReplica
	for _, pod := range w.ownPods(t) {
		all = append(all, ownReplica{pod, w.replica(t, "kube-system", election...)})
	}
	if len(all) != 2 || all[0].pod.Spec.NodeName == all[1].pod.Spec.NodeName {
		t.Fatalf("got the replicas %+v, want two on two nodes", all)
	}
	return all[0], all[1]
}

// ownPods returns the pods of the Deployment that are not terminating.
func (w *world) ownPods(t *testing.T) []v1.Pod {
	t.Helper()
	pods, err := w.admin.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager"})
	if err != nil {
		t.Fatal(err)
	}
	return slices.DeleteFunc(pods.Items, func(p v1.Pod) bool { return p.DeletionTimestamp != nil })
}

// ownLease returns the lease, which has a holder.
func (w *world) ownLease(t *testing.T) coordinationv1.LeaseSpec {
	t.Helper()
	lease, err := w.admin.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil || lease.Spec.HolderIdentity == nil {
		t.Fatalf("the lease is %+v, error %v", lease, err)
	}
	return lease.Spec
}

// leads requires the replica's process to hold the lease. Its log says so of itself alone.
func (w *world) leads(t *testing.T, r ownReplica) {
	t.Helper()
	log, err := r.process.Log()
	if want := fmt.Sprintf("identity=%q self=true", *w.ownLease(t).HolderIdentity); err != nil || !strings.Contains(log, want) {
		t.Errorf("the process of %s does not say that it leads, %s: %v", r.pod.Name, want, err)
	}
}

// replicasWorkOn taints the nodes. An ordinary pod of each goes at once, and no replica is due: their own leader says so.
func (w *world) replicasWorkOn(t *testing.T, leader, standby ownReplica, scenes ...*scene) {
	before := w.ownLease(t)
	for _, s := range scenes {
		pod := s.pod("web")
		s.goes(pod, s.taint("CriticalAddonsOnly"), 0)
		evictions := s.evictions(leader.process)
		for _, r := range []ownReplica{leader, standby} {
			if deadline, scheduled := evictions[string(r.pod.UID)]; scheduled {
				t.Errorf("%s is due at %v", r.pod.Name, deadline)
			}
		}
	}
	for _, s := range scenes {
		s.taint()
	}
	after := w.ownLease(t)
	if *after.HolderIdentity != *before.HolderIdentity || *after.LeaseTransitions != *before.LeaseTransitions {
		t.Errorf("the lease was of %s, and is of %s", *before.HolderIdentity, *after.HolderIdentity)
	}
	for _, p := range w.ownPods(t) {
		if p.UID != leader.pod.UID && p.UID != standby.pod.UID {
			t.Errorf("%s has replaced a replica", p.Name)
		}
	}
}

// replacesLeader kills the leader's process and stops its node. The taint counts from when it is seen.
func (w *world) replacesLeader(t *testing.T, leader, standby ownReplica) {
	s := &scene{T: t, world: w, node: leader.pod.Spec.NodeName}
	short, long := s.pod("short", bears(v1.TaintNodeUnreachable, 20)), s.pod("long", bears(v1.TaintNodeUnreachable, 40))
	s.until("the pods run", func() bool { return s.runs(short) && s.runs(long) })
	s.dies()
	leader.process.Kill()
	killed := time.Now()
	holder := *w.ownLease(t).HolderIdentity
	var tainted moment
	s.until("the standby leads", func() bool {
		tainted = s.unreachableSince(tainted)
		return *w.ownLease(t).HolderIdentity != holder
	})
	if took := time.Since(killed); took > leaseDuration+2*takeover {
		t.Errorf("the standby took the lease after %v, want its duration of %v and two retries", took, leaseDuration)
	}
	s.until("the node is tainted as unreachable", func() bool {
		tainted = s.unreachableSince(tainted)
		return !tainted.after.IsZero()
	})
	w.leads(t, standby)
	s.goes(short, tainted, 20)
	s.goes(&leader.pod, tainted, 30)
	s.until("two replicas are ready on other nodes", func() bool {
		nodes := w.replicaNodes(t)
		return len(nodes) == 2 && nodes[0] != nodes[1] && !slices.Contains(nodes, s.node)
	})
	s.goes(long, tainted, 40)
	if log, err := standby.process.Log(); err != nil || strings.Count(log, "Evicting the pod") == 0 {
		t.Errorf("the standby's log does not say that it evicts: %v", err)
	}
}

func (s *scene) runs(pod *v1.Pod) bool {
	now, err := s.admin.CoreV1().Pods(pod.Namespace).Get(s.Context(), pod.Name, metav1.GetOptions{})
	return err == nil && now.Status.Phase == v1.PodRunning
}

// dies stops the node's kubelet: another holder has the lease that kwok renews as the node's heartbeat, so kwok changes
// neither the node nor its pods any longer.
func (s *scene) dies() {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		"holderIdentity": "nobody", "leaseDurationSeconds": 3600, "renewTime": time.Now().UTC().Format(metav1.RFC3339Micro),
	}})
	if err != nil {
		s.Fatal(err)
	}
	if _, err := s.admin.CoordinationV1().Leases(v1.NamespaceNodeLease).Patch(s.Context(), s.node, types.MergePatchType, patch, metav1.PatchOptions{}); err != nil {
		s.Fatal(err)
	}
}

// unreachableSince returns when the node lifecycle controller tainted the node, unless that was seen before; zero if it
// has not.
func (s *scene) unreachableSince(seen moment) moment {
	s.Helper()
	n, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	if err != nil || !seen.after.IsZero() {
		return seen
	}
	for _, t := range n.Spec.Taints {
		if t.Key == v1.TaintNodeUnreachable && t.Effect == v1.TaintEffectNoExecute && t.TimeAdded != nil {
			return moment{before: t.TimeAdded.Time, after: time.Now()}
		}
	}
	return moment{}
}
