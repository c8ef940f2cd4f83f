package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/test/testcluster"
)

// The DaemonSet controller deletes the pods of its DaemonSets that do not tolerate a NoExecute taint, so that no policy
// holds them. It leaves pods alone that do not tolerate a NoSchedule taint (docs/reference/neighbours.md).
func TestTheDaemonSetControllerDeletesAPodThatAPolicyHolds(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{})
	config := "--config=" + configFile(t, holdingPolicy)
	w.manage(t, "--leader-elect=false", config)
	s := w.scene(t)
	agent, held := s.agent(), s.pod("held")

	s.taintNoSchedule("crowd")
	if at, gone := w.deletion(t, agent.UID, time.Now().Add(3*time.Second)); gone {
		t.Fatalf("the pod was deleted at %s for a NoSchedule taint", at)
	}
	plan, _ := s.said(w.Kubeconfig(), "plan", config, "--node", s.node, "--taint", "crowd:NoExecute")
	for _, want := range []string{"evicts 1 of its 2 pods now; 1 is held.", agent.Name + "  deleted by the DaemonSet controller: not tolerated"} {
		if !strings.Contains(plan, want) {
			t.Errorf("plan does not say %q:\n%s", want, plan)
		}
	}
	tainted := s.taint("crowd")
	at, gone := w.deletion(t, agent.UID, tainted.before.Add(5*time.Second))
	if !gone {
		t.Fatal("5 s after a NoExecute taint the DaemonSet controller has not deleted a pod that does not tolerate the taint")
	}
	t.Logf("deleted %s after the taint", at.Sub(tainted.before))
	if e := s.event(agent, "Cancelling deletion of Pod"); !strings.Contains(e.Message, "probably by the DaemonSet controller") {
		t.Errorf("the event does not say who deleted the pod: %s", e.Message)
	}
	s.stays(held, tainted, 3)
}

// agent creates a DaemonSet for the scene's node, and returns its pod once it is bound.
func (s *scene) agent() *v1.Pod {
	s.Helper()
	labels := map[string]string{"agent": s.node}
	set := &appsv1.DaemonSet{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: s.node},
		Spec: appsv1.DaemonSetSpec{
			Selector: &metav1.LabelSelector{MatchLabels: labels},
			Template: v1.PodTemplateSpec{
				ObjectMeta: metav1.ObjectMeta{Labels: labels},
				Spec: v1.PodSpec{
					NodeSelector: map[string]string{"kubernetes.io/hostname": s.node},
					Containers:   []v1.Container{{Name: "c", Image: "image"}},
				},
			},
		},
	}
	_, err := s.admin.AppsV1().DaemonSets("default").Create(s.Context(), set, metav1.CreateOptions{})
	must(s, err)
	var agent *v1.Pod
	until(s, "the DaemonSet's pod is bound", func() bool {
		pods, err := s.admin.CoreV1().Pods("default").List(s.Context(), metav1.ListOptions{LabelSelector: "agent=" + s.node})
		if err != nil || len(pods.Items) == 0 || pods.Items[0].Spec.NodeName == "" {
			return false
		}
		agent = &pods.Items[0]
		return true
	})
	return agent
}

// A start of kube-controller-manager lifts unreachable:NoExecute from every node. The taint was gone, so the countdown
// ends, here as in the original. The NoSchedule twin stays, by which the event and explain recognize the cause. The taint
// comes back with a new timeAdded, from which a countdown begins.
func TestAStartOfKubeControllerManagerLiftsTheTaintsOfDeadNodes(t *testing.T) {
	t.Parallel()
	w := newWorld(t, testcluster.Options{
		ControllerManagerArgs: []string{"--node-monitor-period=1s", "--node-monitor-grace-period=15s"},
	})
	w.manage(t, "--leader-elect=false")
	s := w.scene(t)
	pod := s.pod("a", bears(v1.TaintNodeUnreachable, 3600), exists(v1.TaintNodeNotReady))
	w.newNode(t, "alive").renewLease() // with every node dead, kube-controller-manager sets no NoExecute taint
	s.dies()
	var first, again v1.Taint
	within(s, time.Minute, "the node has unreachable:NoExecute", func() (noExecute bool) {
		first, noExecute = s.unreachable(v1.TaintEffectNoExecute)
		return noExecute
	})
	until(s, "another timeAdded would be later", func() bool { return time.Since(first.TimeAdded.Time) > time.Second })
	stream, err := w.admin.CoreV1().Nodes().Watch(t.Context(), metav1.SingleObject(metav1.ObjectMeta{Name: s.node}))
	must(t, err)
	defer stream.Stop()
	manager := w.Component(testcluster.ControllerManager)
	manager.Kill()
	must(t, manager.Start(t.Context()))
	began := time.Now()
	if _, noSchedule := unreachable(untilLifted(t, stream), v1.TaintEffectNoSchedule); !noSchedule {
		t.Error("the NoSchedule twin is gone, too")
	}
	took := time.Since(began)
	const cause = "probably kube-controller-manager has started or changed its leader"
	if e := s.event(pod, "Cancelling deletion of Pod"); !strings.Contains(e.Message, cause) {
		t.Errorf("the event does not name the cause: %s", e.Message)
	}
	if out, _ := s.said(w.Kubeconfig(), "explain", pod.Name, "-n", pod.Namespace); !strings.Contains(out, cause) {
		t.Errorf("explain does not name the cause:\n%s", out)
	}
	within(s, time.Minute, "kube-controller-manager has set unreachable:NoExecute again", func() (noExecute bool) {
		again, noExecute = s.unreachable(v1.TaintEffectNoExecute)
		return noExecute
	})
	if !first.TimeAdded.Before(again.TimeAdded) {
		t.Errorf("the taint has the timeAdded %v, and had %v before", again.TimeAdded, first.TimeAdded)
	}
	t.Logf("lifted %s after the start, and set again by %s after it", took, time.Since(began))
}

// untilLifted returns the node as the watch shows it without unreachable:NoExecute. That may last a tenth of a second, which a
// poll would miss.
func untilLifted(t *testing.T, stream watch.Interface) *v1.Node {
	t.Helper()
	late := time.After(30 * time.Second) //nolint:forbidigo // the control plane runs in real time
	for {
		select {
		case event := <-stream.ResultChan():
			node, ok := event.Object.(*v1.Node)
			if !ok {
				t.Fatalf("the watch of the node has ended: %v", event)
			}
			if _, noExecute := unreachable(node, v1.TaintEffectNoExecute); !noExecute {
				return node
			}
		case <-late:
			t.Fatal("kube-controller-manager has not lifted unreachable:NoExecute")
		}
	}
}

// renewLease renews the lease of the scene's node every second until the test ends, so that the node stays alive
// whatever delays kwok.
func (s *scene) renewLease() {
	ctx, leases := s.Context(), s.admin.CoordinationV1().Leases(v1.NamespaceNodeLease)
	go wait.UntilWithContext(ctx, func(ctx context.Context) {
		patch := fmt.Sprintf(`{"spec":{"renewTime":%q}}`, time.Now().UTC().Format(metav1.RFC3339Micro))
		_, err := leases.Patch(ctx, s.node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
		if err != nil && ctx.Err() == nil {
			s.Errorf("renew the lease of node %s: %v", s.node, err)
		}
	}, time.Second)
}

func (s *scene) unreachable(effect v1.TaintEffect) (v1.Taint, bool) {
	s.Helper()
	node, err := s.admin.CoreV1().Nodes().Get(s.Context(), s.node, metav1.GetOptions{})
	must(s, err)
	return unreachable(node, effect)
}

func unreachable(node *v1.Node, effect v1.TaintEffect) (v1.Taint, bool) {
	for _, taint := range node.Spec.Taints {
		if taint.Key == v1.TaintNodeUnreachable && taint.Effect == effect {
			return taint, true
		}
	}
	return v1.Taint{}, false
}

// dies stops the node's kubelet: another holder has the lease that kwok renews as the node's heartbeat, so kwok changes
// neither the node nor its pods any longer.
func (s *scene) dies() {
	s.Helper()
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{
		"holderIdentity": "nobody", "leaseDurationSeconds": 3600, "renewTime": time.Now().UTC().Format(metav1.RFC3339Micro),
	}})
	must(s, err)
	_, err = s.admin.CoordinationV1().Leases(v1.NamespaceNodeLease).Patch(s.Context(), s.node, types.MergePatchType, patch, metav1.PatchOptions{})
	must(s, err)
}
