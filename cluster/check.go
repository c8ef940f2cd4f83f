package cluster

import (
	"context"
	"fmt"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/wait"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/tools/cache"
	"k8s.io/klog/v2"
)

// sample is how many pods, and how many nodes, a check asks the API server for.
const sample = 100

// field is a field that an informer's transform must let through.
type field[T any] struct {
	path string
	of   func(T) any
}

// podFields are those of a pod. The resource version comes first: the others are compared only
// where it is the same.
func podFields() []field[*v1.Pod] {
	return []field[*v1.Pod]{
		{"metadata.uid", func(p *v1.Pod) any { return p.UID }},
		{"metadata.creationTimestamp", func(p *v1.Pod) any { return p.CreationTimestamp }},
		{"metadata.deletionTimestamp", func(p *v1.Pod) any { return p.DeletionTimestamp }},
		{"metadata.generation", func(p *v1.Pod) any { return p.Generation }},
		{"metadata.labels", func(p *v1.Pod) any { return p.Labels }},
		{"metadata.annotations[kubernetes.io/config.mirror]", func(p *v1.Pod) any { return PodOf(p, p.CreationTimestamp.Time).Mirror }},
		{"spec.nodeName", func(p *v1.Pod) any { return p.Spec.NodeName }},
		{"spec.tolerations", func(p *v1.Pod) any { return p.Spec.Tolerations }},
		{"spec.priority", func(p *v1.Pod) any { return p.Spec.Priority }},
		{"status.phase", func(p *v1.Pod) any { return p.Status.Phase }},
		{"status.conditions[PodScheduled]", func(p *v1.Pod) any { return since(holds(p, v1.PodScheduled)) }},
		{"status.conditions[DisruptionTarget]", func(p *v1.Pod) any { return holds(p, v1.DisruptionTarget) != nil }},
	}
}

// nodeFields are those of a node.
func nodeFields() []field[*v1.Node] {
	return []field[*v1.Node]{
		{"metadata.uid", func(n *v1.Node) any { return n.UID }},
		{"metadata.creationTimestamp", func(n *v1.Node) any { return n.CreationTimestamp }},
		{"spec.taints", func(n *v1.Node) any { return n.Spec.Taints }},
	}
}

func since(c *v1.PodCondition) metav1.Time {
	if c == nil {
		return metav1.Time{}
	}
	return c.LastTransitionTime
}

// Check compares a few pods and nodes, read from the API server, with what the informers hold of
// them, and returns an error that names the first field that a transform has stripped or changed.
// Judging by such informers would evict pods that tolerate their taints, or none at all, so they must
// not be used. It is to be called once [Adapter.HasSynced]. What has changed in between can't be
// compared and is passed over. While the API server can't be read it tries again, until the context
// ends.
func (a *Adapter) Check(ctx context.Context, client kubernetes.Interface) error {
	backoff := wait.Backoff{Duration: 200 * time.Millisecond, Factor: 2, Jitter: 0.5, Steps: 8, Cap: 30 * time.Second}
	for {
		pods, nodes, err := read(ctx, client)
		if err == nil {
			return a.compare(pods, nodes)
		}
		klog.FromContext(ctx).Error(err, "The informers can't be checked yet, and nobody is evicted; trying again")
		select {
		case <-time.After(backoff.Step()):
		case <-ctx.Done():
			return err
		}
	}
}

// read reads some pods and some nodes.
func read(ctx context.Context, client kubernetes.Interface) ([]*v1.Pod, []*v1.Node, error) {
	pods, err := client.CoreV1().Pods(metav1.NamespaceAll).List(ctx, metav1.ListOptions{Limit: sample, FieldSelector: podsWatched})
	if err != nil {
		return nil, nil, fmt.Errorf("reading pods to compare the pod informer with: %w", err)
	}
	nodes, err := client.CoreV1().Nodes().List(ctx, metav1.ListOptions{Limit: sample})
	if err != nil {
		return nil, nil, fmt.Errorf("reading nodes to compare the node informer with: %w", err)
	}
	return pointers(pods.Items), pointers(nodes.Items), nil
}

func (a *Adapter) compare(pods []*v1.Pod, nodes []*v1.Node) error {
	if err := compare(a.podInformer.GetStore(), "pod", pods, podFields()); err != nil {
		return err
	}
	return compare(a.nodeInformer.GetStore(), "node", nodes, nodeFields())
}

// compare compares what the store holds of the live objects with them.
func compare[T metav1.Object](store cache.Store, kind string, live []T, fields []field[T]) error {
	if err := keys(store, kind); err != nil {
		return err
	}
	for _, object := range live {
		key := cache.MetaObjectToName(object).String()
		held, there, err := store.GetByKey(key)
		if err != nil || !there {
			continue
		}
		same, ok := held.(T)
		if !ok {
			return fmt.Errorf("the %s informer holds a %T where a %T is needed", kind, held, object)
		}
		if path := lost(same, object, fields); path != "" {
			return fmt.Errorf("the %s informer lacks %s: its transform must let this field through as it is (found by comparing %s with the API server)", kind, path, key)
		}
	}
	return nil
}

// lost names the first field in which the held object is not like the live one; empty when there is
// none, or when they are not of the same version.
func lost[T metav1.Object](held, live T, fields []field[T]) string {
	if held.GetResourceVersion() == "" && live.GetResourceVersion() != "" {
		return "metadata.resourceVersion"
	}
	if held.GetResourceVersion() != live.GetResourceVersion() {
		return ""
	}
	for _, f := range fields {
		if !equality.Semantic.DeepEqual(f.of(held), f.of(live)) {
			return f.path
		}
	}
	return ""
}

// keys finds out from the store's keys whether names are there.
func keys(store cache.Store, kind string) error {
	for _, key := range store.ListKeys() {
		namespace, name, named := strings.Cut(key, "/")
		switch {
		case key == "" || named && name == "":
			return fmt.Errorf("the %s informer lacks metadata.name: its transform must let this field through", kind)
		case kind == "pod" && (!named || namespace == ""):
			return fmt.Errorf("the %s informer lacks metadata.namespace: its transform must let this field through", kind)
		}
	}
	return nil
}

func pointers[T any](items []T) []*T {
	list := make([]*T, len(items))
	for i := range items {
		list[i] = &items[i]
	}
	return list
}
