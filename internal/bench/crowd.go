package main

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

const (
	namespace = "default"
	taintKey  = "bench"
	podsEach  = 30 // on a node, unless a load says otherwise
)

// load says what a crowd is made of. The zero value of all but nodes means: no toleration, Pending.
type load struct {
	nodes   int
	each    int    // pods on a node; 0: 30
	bears   *int64 // seconds for which the pods bear the taint; nil: not at all
	running bool   // the pods are Running and Ready
}

// pods is how many pods there are on a node.
func (l load) pods() int {
	if l.each > 0 {
		return l.each
	}
	return podsEach
}

// crowd is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted is
// gone at once.
type crowd struct {
	w     *world
	name  string
	nodes []string
	pods  []identity
}

// identity is what is known of a pod.
type identity struct {
	name string
	uid  types.UID
}

func (w *world) newCrowd(ctx context.Context, l load) (*crowd, error) {
	w.crowds++
	c := &crowd{w: w, name: fmt.Sprintf("crowd-%d", w.crowds)}
	return c, c.grow(ctx, l)
}

// grow adds nodes and pods.
func (c *crowd) grow(ctx context.Context, l load) error {
	first := len(c.nodes)
	for i := range l.nodes {
		c.nodes = append(c.nodes, fmt.Sprintf("%s-node-%d", c.name, first+i))
	}
	err := each(ctx, l.nodes, func(ctx context.Context, i int) error {
		_, err := c.w.admin.CoreV1().Nodes().Create(ctx, readyNode(c.nodes[first+i]), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("making nodes: %w", err)
	}
	old := len(c.pods)
	c.pods = append(c.pods, make([]identity, l.nodes*l.pods())...)
	err = each(ctx, l.nodes*l.pods(), func(ctx context.Context, i int) error {
		return c.makePod(ctx, old+i, c.nodes[first+i/l.pods()], l)
	})
	if err != nil {
		return fmt.Errorf("making pods: %w", err)
	}
	return nil
}

func (c *crowd) makePod(ctx context.Context, i int, node string, l load) error {
	pod := bigPod(fmt.Sprintf("%s-%d", c.name, i), node)
	pod.Labels["crowd"] = c.name
	if l.bears != nil {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
			Key: taintKey, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: l.bears,
		})
	}
	made, err := c.w.admin.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	c.pods[i] = identity{made.Name, made.UID}
	if !l.running {
		return nil
	}
	made.Status = v1.PodStatus{Phase: v1.PodRunning, Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}}}
	_, err = c.w.admin.CoreV1().Pods(namespace).UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// readyNode is a node that the node lifecycle controller leaves alone.
func readyNode(name string) *v1.Node {
	now := metav1.Now()
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: v1.NodeStatus{Conditions: []v1.NodeCondition{{
			Type: v1.NodeReady, Status: v1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now,
		}}},
	}
}

// bigPod is a pod of about 5 kB, as in a real cluster.
func bigPod(name, node string) *v1.Pod {
	none := int64(0)
	var env []v1.EnvVar
	for i := range 40 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", i), Value: strings.Repeat("value ", 12)})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: namespace, Name: name, Labels: map[string]string{"app": "crowd"}},
		Spec: v1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: &none,
			Containers: []v1.Container{{Name: "c", Image: "registry.example.com/team/service:v1.2.3", Env: env}},
		},
	}
}

// taint puts the NoExecute taint on all nodes, some at a time. since is its timeAdded; empty: none.
func (c *crowd) taint(ctx context.Context, since string) error {
	err := each(ctx, len(c.nodes), func(ctx context.Context, i int) error {
		return c.w.taintNode(ctx, c.nodes[i], since)
	})
	if err != nil {
		return fmt.Errorf("tainting nodes: %w", err)
	}
	return nil
}

func (w *world) taintNode(ctx context.Context, node, since string) error {
	added := ""
	if since != "" {
		added = fmt.Sprintf(`,"timeAdded":%q`, since)
	}
	patch := fmt.Sprintf(`{"spec":{"taints":[{"key":%q,"effect":"NoExecute"%s}]}}`, taintKey, added)
	_, err := w.admin.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, []byte(patch), metav1.PatchOptions{})
	return err
}

// clear removes the crowd's nodes, those of its pods that are left, and all events.
func (c *crowd) clear(ctx context.Context) error {
	core := c.w.admin.CoreV1()
	err := each(ctx, len(c.nodes), func(ctx context.Context, i int) error {
		return core.Nodes().Delete(ctx, c.nodes[i], metav1.DeleteOptions{})
	})
	if err != nil {
		return fmt.Errorf("removing nodes: %w", err)
	}
	mine := metav1.ListOptions{LabelSelector: "crowd=" + c.name}
	if err := core.Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, mine); err != nil {
		return fmt.Errorf("removing pods: %w", err)
	}
	if err := core.Events(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{}); err != nil {
		return fmt.Errorf("removing events: %w", err)
	}
	return nil
}

// lastEvent waits until an event of its eviction is stored for every pod, and returns when that was so. It
// fails when a minute passes.
func (c *crowd) lastEvent(ctx context.Context) (time.Time, error) {
	for deadline := time.Now().Add(time.Minute); ; {
		list, err := c.w.admin.CoreV1().Events(namespace).List(ctx, metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
		if err != nil {
			return time.Time{}, fmt.Errorf("listing events: %w", err)
		}
		told := map[types.UID]bool{}
		for i := range list.Items {
			told[list.Items[i].InvolvedObject.UID] = true
		}
		stored := 0
		for _, pod := range c.pods {
			if told[pod.uid] {
				stored++
			}
		}
		if stored == len(c.pods) {
			return time.Now(), nil
		}
		if time.Now().After(deadline) {
			return time.Time{}, fmt.Errorf("after a minute only %d of %d events are stored", stored, len(c.pods))
		}
		if err := pause(ctx, 300*time.Millisecond); err != nil {
			return time.Time{}, err
		}
	}
}

// each makes n requests, some at a time, and ends at the first error.
func each(ctx context.Context, n int, do func(ctx context.Context, i int) error) error {
	const atOnce = 16
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	var next atomic.Int64
	var workers sync.WaitGroup
	for range atOnce {
		workers.Go(func() {
			for i := next.Add(1) - 1; i < int64(n) && ctx.Err() == nil; i = next.Add(1) - 1 {
				if err := do(ctx, int(i)); err != nil {
					cancel(fmt.Errorf("request %d of %d: %w", i, n, err))
				}
			}
		})
	}
	workers.Wait()
	return context.Cause(ctx)
}
