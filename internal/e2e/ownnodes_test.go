package e2e

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/testcluster"
)

// The replicas are simulated pods of the real Deployment; the program that leads runs beside them.
func TestTaintsOnTheNodesOfTheReplicas(t *testing.T) {
	t.Parallel() // it mostly waits
	w := newWorld(t, testcluster.Options{})
	w.waitForNoPods(t)
	scenes := map[string]*scene{}
	for _, name := range []string{"own-1", "own-2", "own-3"} {
		scenes[name] = &scene{T: t, world: w, node: name}
		scenes[name].makeNode()
		w.kubectl(t, "label", "node", name, "kubernetes.io/os=linux")
	}
	w.kubectl(t, "apply", "-f", installed)
	w.kubectl(t, "-n", "kube-system", "rollout", "status", "deployment/taint-manager", "--timeout=60s")
	w.manage(t)
	replicas := w.replicaNodes(t)
	t.Run("under a taint on all nodes the replicas work on while the others go", func(t *testing.T) {
		w.replicasStay(t, []*scene{scenes["own-1"], scenes["own-2"], scenes["own-3"]}, replicas)
	})
	t.Run("with the nodes of both replicas under maintenance, too", func(t *testing.T) {
		w.replicasStay(t, []*scene{scenes[replicas[0]], scenes[replicas[1]]}, replicas)
	})
	t.Run("a dead node's replica is replaced elsewhere after 30 s", func(t *testing.T) { w.replacesReplica(t, replicas[0]) })
}

// replicasStay taints the nodes, wants an ordinary pod of each to go, and the replicas to stay where they are.
func (w *world) replicasStay(t *testing.T, scenes []*scene, replicas []string) {
	for _, s := range scenes {
		pod := s.pod("web")
		s.goes(pod, s.taint("maintenance"), 0)
	}
	if got := w.replicaNodes(t); !slices.Equal(got, replicas) {
		t.Errorf("the replicas are on %v, want %v", got, replicas)
	}
	for _, s := range scenes {
		s.taint()
	}
}

// replacesReplica lets a node become not ready. Its taint is counted in whole seconds, so 30 s are 30 to 31.
func (w *world) replacesReplica(t *testing.T, node string) {
	s := &scene{T: t, world: w, node: node}
	w.kubectl(t, "annotate", "node", node, "testcluster/ready=false")
	s.until("the node is tainted as not ready", func() bool {
		n, err := w.admin.CoreV1().Nodes().Get(t.Context(), node, metav1.GetOptions{})
		return err == nil && slices.ContainsFunc(n.Spec.Taints, func(t v1.Taint) bool { return t.Key == v1.TaintNodeNotReady && t.Effect == v1.TaintEffectNoExecute })
	})
	tainted := time.Now()
	s.wait(27 * time.Second)
	pods, err := w.admin.CoreV1().Pods("kube-system").List(t.Context(), metav1.ListOptions{FieldSelector: "spec.nodeName=" + node})
	if err != nil || len(pods.Items) != 1 || pods.Items[0].DeletionTimestamp != nil {
		t.Errorf("27 s after the taint, the replica is not there any longer: %v", err)
	}
	s.until("two replicas are ready on other nodes", func() bool {
		nodes := w.replicaNodes(t)
		return len(nodes) == 2 && !slices.Contains(nodes, node)
	})
	if took := time.Since(tainted); took > 36*time.Second {
		t.Errorf("it took %v, want about 30 s", took)
	}
}
