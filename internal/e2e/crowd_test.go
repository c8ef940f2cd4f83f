package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// crowd is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted
// is gone at once.
type crowd struct {
	admin kubernetes.Interface
	name  string
	nodes []string
	pods  []*v1.Pod
}

// atOnceMost is how many requests a crowd makes at a time.
const atOnceMost = 16

// newCrowd makes the nodes and the pods.
func newCrowd(t testing.TB, admin kubernetes.Interface, name string, nodes, podsEach int) *crowd {
	t.Helper()
	c := &crowd{admin: admin, name: name, pods: make([]*v1.Pod, nodes*podsEach)}
	for i := range nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("%s-node-%d", name, i))
	}
	each(t, nodes, func(ctx context.Context, i int) error {
		node := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: c.nodes[i]}}
		_, err := admin.CoreV1().Nodes().Create(ctx, node, metav1.CreateOptions{})
		return err
	})
	each(t, len(c.pods), func(ctx context.Context, i int) (err error) {
		pod := bigPod(fmt.Sprintf("%s-%d", name, i), c.nodes[i/podsEach])
		c.pods[i], err = admin.CoreV1().Pods("default").Create(ctx, pod, metav1.CreateOptions{})
		return err
	})
	return c
}

// bigPod is a pod of about 5 kB, as in a real cluster.
func bigPod(name, node string) *v1.Pod {
	none := int64(0)
	var env []v1.EnvVar
	for i := range 40 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", i), Value: strings.Repeat("value ", 12)})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: name, Labels: map[string]string{"app": "crowd"}},
		Spec: v1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: &none,
			Containers: []v1.Container{{Name: "c", Image: "registry.example.com/team/service:v1.2.3", Env: env}},
		},
	}
}

// each makes n requests, some at a time.
func each(t testing.TB, n int, do func(ctx context.Context, i int) error) {
	t.Helper()
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnceMost {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n); i = next.Add(1) - 1 {
				if err := do(t.Context(), int(i)); err != nil {
					t.Errorf("request %d of %d: %v", i, n, err)
				}
			}
		})
	}
	workers.Wait()
	if t.Failed() {
		t.FailNow()
	}
}

// taint puts the NoExecute taint "crowd" on all nodes, or lifts it.
func (c *crowd) taint(t testing.TB, on bool) {
	t.Helper()
	taints := []v1.Taint{}
	if on {
		taints = append(taints, v1.Taint{Key: "crowd", Effect: v1.TaintEffectNoExecute})
	}
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		t.Fatal(err)
	}
	each(t, len(c.nodes), func(ctx context.Context, i int) error {
		_, err := c.admin.CoreV1().Nodes().Patch(ctx, c.nodes[i], types.MergePatchType, patch, metav1.PatchOptions{})
		return err
	})
}

// gone waits until all but so many pods have gone, and returns when the last one went.
func (c *crowd) gone(t testing.TB, e *ends, butFor int) time.Time {
	t.Helper()
	timeout := time.After(2 * time.Minute)
	for {
		e.mu.Lock()
		left, news, last := 0, e.news, time.Time{}
		for _, pod := range c.pods {
			at, ended := e.at[pod.UID]
			if !ended {
				left++
			} else if at.After(last) {
				last = at
			}
		}
		e.mu.Unlock()
		if left <= butFor {
			return last
		}
		select {
		case <-news:
			<-time.After(20 * time.Millisecond) // so as not to count at every pod
		case <-timeout:
			t.Fatalf("after 2 minutes %d of %d pods are left", left, len(c.pods))
		}
	}
}

// events counts the pods of this crowd for which an event of their eviction is stored.
func (c *crowd) events(t testing.TB) int {
	t.Helper()
	list, err := c.admin.CoreV1().Events("default").List(t.Context(), metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	if err != nil {
		t.Fatal(err)
	}
	told := map[types.UID]bool{}
	for i := range list.Items {
		if strings.HasPrefix(list.Items[i].InvolvedObject.Name, c.name+"-") {
			told[list.Items[i].InvolvedObject.UID] = true
		}
	}
	return len(told)
}
