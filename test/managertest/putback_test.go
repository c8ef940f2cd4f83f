package managertest

import (
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

// A policy that is put back gives pods the whole time, however soon and whether or not nodes can be listed.
func TestAPolicyThatIsPutBackCountsFromThen(t *testing.T) {
	for name, outage := range map[string]time.Duration{"at once": 0, "during an outage": 10 * time.Minute} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				evictor := &recorder{}
				hours := int64((2*time.Hour + 5*time.Minute).Seconds())
				tainted := taintedNode()
				tainted.Name, tainted.UID = "other", "other"
				client := fake.NewClientset(draining(), tainted, replica("pod"),
					podOn("other", "leaves", v1.Toleration{Key: "key", Operator: v1.TolerationOpExists, TolerationSeconds: &hours}))
				down := listsFail(client, "nodes")
				late := policy.Policy{Name: "late", Method: policy.Hold, Match: policy.Match{Namespaces: []string{"default"}, Taints: maintenance(policy.Match{}).Match.Taints}}
				r := start(t, client, taintmanager.Options{Evictor: evictor, Policies: []policy.Policy{late}})
				time.Sleep(2 * time.Hour)
				begun := time.Now()
				down.Store(outage > 0)
				r.set(t, taintmanager.Policies{})
				set := make(chan error, 1)
				go func() {
					_, err := r.SetPolicies(t.Context(), taintmanager.Policies{Policies: []policy.Policy{maintenance(policy.Match{})}})
					set <- err
				}()
				if outage > 0 {
					time.Sleep(outage)
					wantEvicted(t, "by another taint, during the outage", evictor, "leaves")
					if len(set) > 0 {
						t.Error("the policies are in force without a list of nodes")
					}
					down.Store(false)
				}
				if err := <-set; err != nil {
					t.Fatal(err)
				}
				time.Sleep(50 * time.Second)
				if names := evictor.names(); len(names) > 0 && names[len(names)-1] == "pod" {
					t.Errorf("evicted %v after the policy is removed", time.Since(begun))
				}
				time.Sleep(15*time.Minute - time.Since(begun))
				synctest.Wait()
				if names := evictor.names(); len(names) != 2 {
					t.Errorf("evicted are %q", names)
				}
			})
		})
	}
}
