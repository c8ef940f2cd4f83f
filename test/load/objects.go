package load

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/clientcmd"
)

// NewClient returns a client without limits that uses protobuf, as the components of Kubernetes do. It does not print
// warnings of the API server.
func NewClient(kubeconfig string) (kubernetes.Interface, error) {
	config, err := clientcmd.BuildConfigFromFlags("", kubeconfig)
	if err != nil {
		return nil, fmt.Errorf("reading %s: %w", kubeconfig, err)
	}
	config.QPS, config.ContentType = -1, "application/vnd.kubernetes.protobuf"
	config.WarningHandlerWithContext = rest.NoWarnings{}
	client, err := kubernetes.NewForConfig(config)
	if err != nil {
		return nil, fmt.Errorf("setting up a client: %w", err)
	}
	return client, nil
}

// Namespace is the namespace of the pods of [Pod].
const Namespace = metav1.NamespaceDefault

// Pod returns a pod of about 5 kB, as in a real cluster. Its grace period is 0: without a kubelet, the pod is gone as
// soon as it is deleted.
func Pod(name, node string, labels map[string]string) *v1.Pod {
	var env []v1.EnvVar
	for i := range 40 {
		env = append(env, v1.EnvVar{Name: fmt.Sprintf("SOME_SETTING_%d", i), Value: strings.Repeat("value ", 12)})
	}
	return &v1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: Namespace, Name: name, Labels: labels},
		Spec: v1.PodSpec{
			NodeName: node, TerminationGracePeriodSeconds: new(int64(0)),
			Containers: []v1.Container{{Name: "c", Image: "registry.example.com/team/service:v1.2.3", Env: env}},
		},
	}
}

// ReadyNode returns a node that the node lifecycle controller does not taint.
func ReadyNode(name string) *v1.Node {
	now := metav1.Now()
	return &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: name},
		Status: v1.NodeStatus{Conditions: []v1.NodeCondition{{
			Type: v1.NodeReady, Status: v1.ConditionTrue, LastHeartbeatTime: now, LastTransitionTime: now,
		}}},
	}
}

// EnsureNamespace creates the namespace unless it exists.
func EnsureNamespace(ctx context.Context, client kubernetes.Interface, name string) error {
	namespace := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: name}}
	_, err := client.CoreV1().Namespaces().Create(ctx, namespace, metav1.CreateOptions{})
	if err != nil && !apierrors.IsAlreadyExists(err) {
		return fmt.Errorf("making namespace %s: %w", name, err)
	}
	return nil
}

// SetTaints replaces the taints of a node.
func SetTaints(ctx context.Context, client kubernetes.Interface, node string, taints ...v1.Taint) error {
	patch, err := json.Marshal(map[string]any{"spec": map[string]any{"taints": taints}})
	if err != nil {
		return fmt.Errorf("writing the taints of node %s: %w", node, err)
	}
	_, err = client.CoreV1().Nodes().Patch(ctx, node, types.MergePatchType, patch, metav1.PatchOptions{})
	return err
}
