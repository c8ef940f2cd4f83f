package managertest

import (
	"context"
	"errors"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	taintmanager "github.com/taint-manager/taint-manager"
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

// The manager becomes ready with the policies that it has, and must not drop what others need that are on their way.
func TestPoliciesThatAreSetBeforeTheManagerHasSyncedWaitForTheirData(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		space := &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "default", UID: "default", Labels: map[string]string{"tier": "prod"}}}
		client := fake.NewClientset(draining(), space, replica("pod"))
		nodes, namespaces := listsFail(client, "nodes"), listsFail(client, "namespaces")
		nodes.Store(true)
		namespaces.Store(true)
		r := start(t, client, taintmanager.Options{Evictor: evictor})
		set := make(chan policy.Diff, 1)
		prod := policy.Match{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}}
		go func() { set <- r.set(t, taintmanager.Policies{Policies: []policy.Policy{maintenance(prod)}}) }()
		time.Sleep(time.Minute)
		nodes.Store(false)
		time.Sleep(time.Minute)
		if len(set) > 0 {
			t.Error("the policies are in force without the labels of namespaces")
		}
		namespaces.Store(false)
		if diff := <-set; diff.Pods != 1 {
			t.Errorf("the difference is %+v", diff)
		}
		time.Sleep(2 * time.Minute)
		wantEvicted(t, "a minute later", evictor, "pod")
	})
}

func TestPoliciesThatCannotTakeForceBeforeTheManagerHasSyncedDelayEvictionsUntilTheyEnd(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		client := fake.NewClientset(taintedNode(), podOn("node", "pod"))
		listsFail(client, "namespaces").Store(true)
		r := start(t, client, taintmanager.Options{Evictor: evictor})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		prod := policy.Match{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}}
		if _, err := r.SetPolicies(ctx, taintmanager.Policies{Policies: []policy.Policy{maintenance(prod)}}); err == nil {
			t.Error("no error, although namespaces cannot be listed")
		}
		time.Sleep(time.Second)
		wantEvicted(t, "once the context has ended", evictor, "pod")
	})
}
