package e2e

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/test/load"
)

// podLoad is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted
// is gone at once.
type podLoad struct {
	admin kubernetes.Interface
	name  string
	nodes []string
	pods  []*v1.Pod
}

// newPodLoad creates the nodes and the pods.
func newPodLoad(t testing.TB, admin kubernetes.Interface, name string, nodes, podsEach int) *podLoad {
	t.Helper()
	c := &podLoad{admin: admin, name: name}
	for i := range nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("%s-node-%d", name, i))
	}
	each(t, nodes, func(ctx context.Context, i int) error {
		_, err := admin.CoreV1().Nodes().Create(ctx, load.ReadyNode(c.nodes[i]), metav1.CreateOptions{})
		return err
	})
	c.fill(t, v1.NamespaceDefault, podsEach, alike)
	return c
}

// alike leaves pods as they are.
func alike(int, *v1.Pod) {}

// fill adds pods to each node, and changes each before it is created.
func (pl *podLoad) fill(t testing.TB, namespace string, podsEach int, change func(i int, p *v1.Pod)) {
	t.Helper()
	first := len(pl.pods)
	pl.pods = append(pl.pods, make([]*v1.Pod, len(pl.nodes)*podsEach)...)
	each(t, len(pl.nodes)*podsEach, func(ctx context.Context, i int) (err error) {
		pod := load.Pod(fmt.Sprintf("%s-%d", pl.name, first+i), pl.nodes[i/podsEach], map[string]string{"app": "crowd"})
		pod.Namespace = namespace
		change(i, pod)
		pl.pods[first+i], err = pl.admin.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
}

// each makes n requests, several at a time.
func each(t testing.TB, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	must(t, load.Each(t.Context(), n, do))
}

// taint sets the NoExecute taint "crowd" on all nodes, or removes it.
func (pl *podLoad) taint(t testing.TB, on bool) {
	t.Helper()
	taints := []v1.Taint{}
	if on {
		taints = append(taints, v1.Taint{Key: "crowd", Effect: v1.TaintEffectNoExecute})
	}
	each(t, len(pl.nodes), func(ctx context.Context, i int) error {
		return load.SetTaints(ctx, pl.admin, pl.nodes[i], taints...)
	})
}

// gone waits until all pods but this number are gone, and returns when the last one was deleted.
func (pl *podLoad) gone(t testing.TB, deletions *load.DeletionTimes, butFor int) time.Time {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
	defer cancel()
	times, err := deletions.Wait(ctx, pl.identities(), butFor)
	must(t, err)
	return slices.MaxFunc(times, time.Time.Compare)
}

func (pl *podLoad) identities() []load.Identity {
	list := make([]load.Identity, len(pl.pods))
	for i, pod := range pl.pods {
		list[i] = load.IdentityOf(pod)
	}
	return list
}

func (pl *podLoad) podNames() (names []string) {
	for _, pod := range pl.pods {
		names = append(names, pod.Name)
	}
	return names
}

// events counts the pods of this load with a stored event about their eviction.
func (pl *podLoad) events(t testing.TB) int {
	t.Helper()
	list, err := pl.admin.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	must(t, err)
	told := map[types.UID]bool{}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].InvolvedObject.Name, pl.name+"-") {
			told[list.Items[i].InvolvedObject.UID] = true
		}
	}
	return len(told)
}
