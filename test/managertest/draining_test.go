package managertest

import (
	"errors"
	"sync/atomic"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/policy"
)

// listsFail makes lists of a resource fail while the returned value is true.
func listsFail(client *fake.Clientset, resource string) *atomic.Bool {
	down := &atomic.Bool{}
	client.PrependReactor("list", resource, func(clienttesting.Action) (bool, runtime.Object, error) {
		return down.Load(), nil, errors.New("connection refused")
	})
	return down
}

// maintenance is a policy that evicts pods a minute after the NoSchedule taint "drain".
func maintenance(m policy.Match) policy.Policy {
	m.Taints = []policy.Taint{{Key: "drain", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}
	return policy.Policy{Name: "maintenance", Method: policy.Delete, Tolerations: &policy.Tolerations{Absent: lasting(time.Minute)}, Match: m}
}

// draining returns the node "node" with the NoSchedule taint "drain".
func draining() *v1.Node {
	n := taintedNode()
	n.Spec.Taints = []v1.Taint{{Key: "drain", Effect: v1.TaintEffectNoSchedule}}
	return n
}

// replica returns a pod of a ReplicaSet on the node "node".
func replica(name string) *v1.Pod {
	pod := podOn("node", name)
	pod.OwnerReferences = []metav1.OwnerReference{{Kind: "ReplicaSet", Name: "r", UID: "r", APIVersion: "apps/v1", Controller: new(true)}}
	return pod
}

// labelled selects what has this label.
func labelled(key, value string) *metav1.LabelSelector {
	return &metav1.LabelSelector{MatchLabels: map[string]string{key: value}}
}

// prod selects the namespace that prodNamespace returns, which is that of all pods.
func prod() policy.Match { return policy.Match{NamespaceSelector: labelled("tier", "prod")} }

func prodNamespace() *v1.Namespace {
	labels := map[string]string{"tier": "prod"}
	return &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "default", Labels: labels}}
}
