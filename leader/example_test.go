package leader_test

import (
	"context"
	"fmt"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"

	"github.com/taint-manager/taint-manager/leader"
)

// A program that embeds the manager evicts only while it leads. It passes the election's clock.
func Example() {
	ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
	defer cancel()
	client := fake.NewClientset(
		&v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "node", UID: "n"},
			Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "maintenance", Effect: v1.TaintEffectNoExecute}}},
		},
		&v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web", UID: "p"},
			Spec:       v1.PodSpec{NodeName: "node"},
		},
	)
	settings := leader.Defaults()
	settings.ResourceName = "my-controller"
	leases := client.CoordinationV1()                        // in a real program: of a separate client
	election := leader.New(settings, leases, "my-replica-1") // leader.NewIdentity returns a unique one

	m, err := taintmanager.New(client, nil, taintmanager.Options{
		Leading: election.Leading,
		Ended: func(e taintmanager.Eviction, o taintmanager.Outcome, _ time.Time) {
			fmt.Printf("%s: %s, leading: %t\n", e.Pod.Key(), o.Kind, election.Leading())
			cancel()
		},
	})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := leader.Run(ctx, m, election.Campaign); err != nil {
		fmt.Println(err)
	}
	// Output: default/web: accepted, leading: true
}
