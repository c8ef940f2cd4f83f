package load

import (
	"context"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
)

// Crowd is many nodes with many pods each, of about 5 kB, all without a kubelet: a pod that is deleted is gone at once.
type Crowd struct {
	Name  string
	Nodes []string
	Pods  []Identity

	client kubernetes.Interface
}

// NewCrowd creates nodes without pods.
func NewCrowd(ctx context.Context, client kubernetes.Interface, name string, nodes int) (*Crowd, error) {
	c := &Crowd{Name: name, client: client}
	for i := range nodes {
		c.Nodes = append(c.Nodes, fmt.Sprintf("%s-node-%d", name, i))
	}
	return c, Each(ctx, "making nodes", nodes, func(ctx context.Context, i int) error {
		_, err := client.CoreV1().Nodes().Create(ctx, ReadyNode(c.Nodes[i]), metav1.CreateOptions{})
		return err
	})
}

// Fill adds pods to each node. Before it creates the i-th of them, it calls change.
func (c *Crowd) Fill(ctx context.Context, namespace string, each int, change func(i int, p *v1.Pod)) error {
	old, n := len(c.Pods), len(c.Nodes)*each
	c.Pods = append(c.Pods, make([]Identity, n)...)
	return Each(ctx, "making pods", n, func(ctx context.Context, i int) error {
		labels := map[string]string{"app": "crowd", "crowd": c.Name}
		pod := Pod(fmt.Sprintf("%s-%d", c.Name, old+i), c.Nodes[i/each], labels)
		pod.Namespace = namespace
		change(i, pod)
		made, err := c.client.CoreV1().Pods(namespace).Create(ctx, pod, metav1.CreateOptions{})
		if err != nil {
			return err
		}
		c.Pods[old+i] = IdentityOf(made)
		return nil
	})
}

// Taint replaces the taints of all nodes, several at a time.
func (c *Crowd) Taint(ctx context.Context, taints ...v1.Taint) error {
	return Each(ctx, "tainting nodes", len(c.Nodes), func(ctx context.Context, i int) error {
		return SetTaints(ctx, c.client, c.Nodes[i], taints...)
	})
}

// Described returns how many of the pods have a stored event about their eviction.
func (c *Crowd) Described(ctx context.Context) (n int, err error) {
	list, err := c.client.CoreV1().Events(metav1.NamespaceAll).List(ctx,
		metav1.ListOptions{FieldSelector: "reason=TaintManagerEviction"})
	if err != nil {
		return 0, err
	}
	described := map[types.UID]bool{}
	for i := range list.Items {
		described[list.Items[i].InvolvedObject.UID] = true
	}
	for _, pod := range c.Pods {
		if described[pod.UID] {
			n++
		}
	}
	return n, nil
}

// Remove removes the nodes, the pods that are left, and all events, of the namespace [Namespace].
func (c *Crowd) Remove(ctx context.Context) error {
	core := c.client.CoreV1()
	err := Each(ctx, "removing nodes", len(c.Nodes), func(ctx context.Context, i int) error {
		return core.Nodes().Delete(ctx, c.Nodes[i], metav1.DeleteOptions{})
	})
	if err != nil {
		return err
	}
	mine := metav1.ListOptions{LabelSelector: "crowd=" + c.Name}
	err = core.Pods(Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, mine)
	if err == nil {
		err = core.Events(Namespace).DeleteCollection(ctx, metav1.DeleteOptions{}, metav1.ListOptions{})
	}
	if err != nil {
		return fmt.Errorf("removing pods and events: %w", err)
	}
	return nil
}
