package taintmanager_test

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/informers"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// printer is a custom evictor: it prints what it would do, and signals done.
type printer struct{ done chan<- struct{} }

func (p printer) Evict(_ context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	fmt.Printf("%s, because its node has taint %s\n", e.Pod.Key(), e.Verdict.Taint.ToString())
	p.done <- struct{}{}
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

// tainted returns the client of a cluster with the pod web on a node with the taint maintenance.
func tainted() *fake.Clientset {
	return fake.NewClientset(
		&v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "n"},
			Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "maintenance", Effect: v1.TaintEffectNoExecute}}},
		},
		&v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "p"},
			Spec:       v1.PodSpec{NodeName: "node"},
		},
	)
}

// A controller manager that has a pod informer passes it in. It may also replace the component that makes the eviction
// calls.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := tainted()
	factory := informers.NewSharedInformerFactory(client, 0)
	done := make(chan struct{})

	m, err := taintmanager.New(client, factory.Core().V1().Pods(), taintmanager.Options{
		Evictor: printer{done},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	factory.Start(ctx.Done())
	go func() {
		<-done
		cancel()
	}()
	go func() {
		// Under leader election this is called with the leader's context.
		if err := m.Lead(ctx); err != nil {
			fmt.Println(err)
		}
	}()
	if err := m.Run(ctx); err != nil {
		fmt.Println(err)
	}
	// Output: default/web, because its node has taint maintenance:NoExecute
}

// Policies decide which taints evict which pods, and how. They can be replaced while the manager runs.
func ExampleManager_SetPolicies() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := tainted()
	hold := policy.Policy{Name: "hold", Method: policy.Hold}
	m, err := taintmanager.New(client, nil, taintmanager.Options{Policies: []policy.Policy{hold}})
	if err != nil {
		fmt.Println(err)
		return
	}
	ended := make(chan error)
	go func() { ended <- m.Run(ctx) }()
	drain := policy.Policy{Name: "drain", Method: policy.Evict, DeleteAfter: &metav1.Duration{Duration: time.Hour}}
	diff, err := m.SetPolicies(ctx, taintmanager.Policies{Policies: []policy.Policy{drain}})
	if err != nil {
		fmt.Println(err) // the previous policies stay in force
	}
	fmt.Printf("of %d pods %d became due\n", diff.Pods, diff.Due)
	cancel()
	if err := <-ended; err != nil {
		fmt.Println(err)
	}
	// Output: of 1 pods 1 became due
}
