package main

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/utils/ptr"

	"github.com/taint-manager/taint-manager/test/load"
)

const (
	taintKey = "bench"
	podsEach = 30 // on a node of most workloads
)

// size is the size of a workload. Its other fields say how its pods differ from pending pods without a toleration.
type size struct {
	nodes      int
	each       int           // pods on a node
	tolerates  time.Duration // how long the pods tolerate the taint; 0 means not at all
	running    bool          // the pods are Running and Ready
	namespace  string        // of the pods; empty means the default namespace
	overloaded bool          // the API server may use half a core only, while pods are evicted
	held       bool          // a load.Webhook holds the pods' deletions, and each pod has a label of its own
}

// workload is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted is
// gone at once.
type workload struct {
	on    *world
	name  string
	nodes []string
	pods  []load.Identity

	overloaded bool     // as in size
	namespaces []string // of the pods; a namespace may be there twice
}

func (w *world) newWorkload(ctx context.Context, s size) (*workload, error) {
	l := w.emptyWorkload()
	return l, l.grow(ctx, s)
}

func (w *world) emptyWorkload() *workload {
	w.workloads++
	return &workload{on: w, name: fmt.Sprintf("workload-%d", w.workloads)}
}

// grow adds nodes and pods.
func (w *workload) grow(ctx context.Context, s size) error {
	first := len(w.nodes)
	for i := range s.nodes {
		w.nodes = append(w.nodes, fmt.Sprintf("%s-node-%d", w.name, first+i))
	}
	err := load.Each(ctx, s.nodes, func(ctx context.Context, i int) error {
		_, err := w.on.admin.CoreV1().Nodes().Create(ctx, load.ReadyNode(w.nodes[first+i]), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("making nodes: %w", err)
	}
	return w.fill(ctx, w.nodes[first:], s)
}

// fill adds pods to nodes of the workload.
func (w *workload) fill(ctx context.Context, nodes []string, s size) error {
	s.namespace = cmp.Or(s.namespace, load.Namespace)
	if err := load.EnsureNamespace(ctx, w.on.admin, s.namespace); err != nil {
		return err
	}
	old, n := len(w.pods), len(nodes)*s.each
	w.namespaces, w.pods = append(w.namespaces, s.namespace), append(w.pods, make([]load.Identity, n)...)
	err := load.Each(ctx, n, func(ctx context.Context, i int) error {
		return w.makePod(ctx, old+i, nodes[i/s.each], s)
	})
	if err != nil {
		return fmt.Errorf("making pods: %w", err)
	}
	return nil
}

func (w *workload) makePod(ctx context.Context, i int, node string, s size) error {
	pod := load.Pod(fmt.Sprintf("%s-%d", w.name, i), node, map[string]string{"app": "bench", "workload": w.name})
	pod.Namespace = s.namespace
	if s.held {
		pod.Labels[load.HeldLabel], pod.Labels["own"] = "yes", pod.Name
	}
	if s.tolerates > 0 {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
			Key: taintKey, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute,
			TolerationSeconds: ptr.To(int64(s.tolerates.Seconds())),
		})
	}
	pods := w.on.admin.CoreV1().Pods(pod.Namespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.pods[i] = load.IdentityOf(made)
	if !s.running {
		return nil
	}
	made.Status = v1.PodStatus{
		Phase:      v1.PodRunning,
		Conditions: []v1.PodCondition{{Type: v1.PodReady, Status: v1.ConditionTrue}},
	}
	_, err = pods.UpdateStatus(ctx, made, metav1.UpdateOptions{})
	return err
}

// taint sets the NoExecute taint on all nodes, several at a time. since is its timeAdded, which may be nil.
func (w *workload) taint(ctx context.Context, since *metav1.Time) error {
	err := load.Each(ctx, len(w.nodes), func(ctx context.Context, i int) error {
		return load.SetTaints(ctx, w.on.admin, w.nodes[i],
			v1.Taint{Key: taintKey, Effect: v1.TaintEffectNoExecute, TimeAdded: since})
	})
	if err != nil {
		return fmt.Errorf("tainting nodes: %w", err)
	}
	return nil
}

// clear removes the workload's nodes, its remaining pods, and all events of its namespaces.
func (w *workload) clear(ctx context.Context) error {
	core := w.on.admin.CoreV1()
	err := load.Each(ctx, len(w.nodes), func(ctx context.Context, i int) error {
		return core.Nodes().Delete(ctx, w.nodes[i], metav1.DeleteOptions{})
	})
	if err != nil {
		return fmt.Errorf("removing nodes: %w", err)
	}
	mine := metav1.ListOptions{LabelSelector: "workload=" + w.name}
	for _, namespace := range w.namespaces {
		if err := core.Pods(namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, mine); err != nil {
			return fmt.Errorf("removing pods: %w", err)
		}
		if err := core.Events(namespace).DeleteCollection(ctx, metav1.DeleteOptions{},
			metav1.ListOptions{}); err != nil {
			return fmt.Errorf("removing events: %w", err)
		}
	}
	return nil
}

// lastEvent waits until an event about the eviction of every pod is stored, and returns when the last was stored.
// It fails after a minute.
func (w *workload) lastEvent(ctx context.Context) (time.Time, error) {
	stored := func(ctx context.Context) (bool, error) {
		list, err := w.on.admin.CoreV1().Events(metav1.NamespaceAll).List(ctx,
			metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
		if err != nil {
			return false, err
		}
		described := map[types.UID]bool{}
		for i := range list.Items {
			described[list.Items[i].InvolvedObject.UID] = true
		}
		return !slices.ContainsFunc(w.pods, func(pod load.Identity) bool { return !described[pod.UID] }), nil
	}
	if err := wait.PollUntilContextTimeout(ctx, 300*time.Millisecond, time.Minute, true, stored); err != nil {
		return time.Time{}, fmt.Errorf("waiting for an event about each pod: %w", err)
	}
	return time.Now(), nil
}
