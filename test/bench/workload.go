package main

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/test/load"
)

const (
	taintKey = "bench"
	podsEach = 30 // on a node, unless a load says otherwise
)

// size is the size of a workload. The zero value of all fields but nodes means: no toleration, Pending.
type size struct {
	nodes   int
	each    int    // pods on a node; 0 means 30
	bears   *int64 // seconds for which the pods tolerate the taint; nil means not at all
	running bool   // the pods are Running and Ready

	namespaces []string // the pods' namespaces, in turn; none means the default namespace
	held       bool     // a load.Webhook holds the pods' deletions, and each pod has a label of its own
}

// pods returns the number of pods on a node.
func (s size) pods() int {
	if s.each > 0 {
		return s.each
	}
	return podsEach
}

// workload is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted is
// gone at once.
type workload struct {
	w     *world
	name  string
	nodes []string
	pods  []load.Identity

	namespaces []string // may name one twice
}

func (w *world) newWorkload(ctx context.Context, l size) (*workload, error) {
	w.workloads++
	c := &workload{w: w, name: fmt.Sprintf("workload-%d", w.workloads)}
	return c, c.grow(ctx, l)
}

// grow adds nodes and pods.
func (w *workload) grow(ctx context.Context, l size) error {
	first := len(w.nodes)
	for i := range l.nodes {
		w.nodes = append(w.nodes, fmt.Sprintf("%s-node-%d", w.name, first+i))
	}
	err := load.Each(ctx, l.nodes, func(ctx context.Context, i int) error {
		_, err := w.w.admin.CoreV1().Nodes().Create(ctx, load.ReadyNode(w.nodes[first+i]), metav1.CreateOptions{})
		return err
	})
	if err != nil {
		return fmt.Errorf("making nodes: %w", err)
	}
	return w.fill(ctx, w.nodes[first:], l)
}

// fill adds pods to nodes of the workload.
func (w *workload) fill(ctx context.Context, nodes []string, l size) error {
	if len(l.namespaces) == 0 {
		l.namespaces = []string{load.Namespace}
	}
	if err := load.EnsureNamespaces(ctx, w.w.admin, l.namespaces...); err != nil {
		return fmt.Errorf("making namespaces: %w", err)
	}
	old, n := len(w.pods), len(nodes)*l.pods()
	w.namespaces, w.pods = append(w.namespaces, l.namespaces...), append(w.pods, make([]load.Identity, n)...)
	err := load.Each(ctx, n, func(ctx context.Context, i int) error {
		return w.makePod(ctx, old+i, nodes[i/l.pods()], l)
	})
	if err != nil {
		return fmt.Errorf("making pods: %w", err)
	}
	return nil
}

func (w *workload) makePod(ctx context.Context, i int, node string, l size) error {
	pod := load.Pod(fmt.Sprintf("%s-%d", w.name, i), node, map[string]string{"app": "bench", "workload": w.name})
	pod.Namespace = l.namespaces[i%len(l.namespaces)]
	if l.held {
		pod.Labels[load.HeldLabel], pod.Labels["own"] = "yes", pod.Name
	}
	if l.bears != nil {
		pod.Spec.Tolerations = append(pod.Spec.Tolerations, v1.Toleration{
			Key: taintKey, Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoExecute, TolerationSeconds: l.bears,
		})
	}
	pods := w.w.admin.CoreV1().Pods(pod.Namespace)
	made, err := pods.Create(ctx, pod, metav1.CreateOptions{})
	if err != nil {
		return err
	}
	w.pods[i] = load.IdentityOf(made)
	if !l.running {
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
		return w.w.taintNode(ctx, w.nodes[i], since)
	})
	if err != nil {
		return fmt.Errorf("tainting nodes: %w", err)
	}
	return nil
}

// taintNode sets the NoExecute taint on a node. since is its timeAdded, which may be nil.
func (w *world) taintNode(ctx context.Context, node string, since *metav1.Time) error {
	return load.SetTaints(ctx, w.admin, node, v1.Taint{
		Key: taintKey, Effect: v1.TaintEffectNoExecute,
		TimeAdded: since,
	})
}

// clear removes the workload's nodes, its remaining pods, and all events of its namespaces.
func (w *workload) clear(ctx context.Context) error {
	core := w.w.admin.CoreV1()
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
	for deadline := time.Now().Add(time.Minute); ; {
		list, err := w.w.admin.CoreV1().Events(metav1.NamespaceAll).List(ctx,
			metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
		if err != nil {
			return time.Time{}, fmt.Errorf("listing events: %w", err)
		}
		told := map[types.UID]bool{}
		for i := range list.Items {
			told[list.Items[i].InvolvedObject.UID] = true
		}
		stored := 0
		for _, pod := range w.pods {
			if told[pod.UID] {
				stored++
			}
		}
		if stored == len(w.pods) {
			return time.Now(), nil
		}
		if time.Now().After(deadline) {
			return time.Time{}, fmt.Errorf("after a minute only %d of %d events are stored", stored, len(w.pods))
		}
		if err := load.Pause(ctx, 300*time.Millisecond); err != nil {
			return time.Time{}, err
		}
	}
}
