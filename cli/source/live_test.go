package source

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// Which breakers are tripped depends on the nodes, whether the pod in question is on one or not.
func TestNodesAreReadForBreakersWhereThePodHasNoNode(t *testing.T) {
	half := policy.Breaker{Name: "half", Taints: []policy.TaintKey{{Key: "key"}}, MaxNodes: intstr.FromString("50%"), Settle: new(metav1.Duration)}
	rules, err := foresight.NewRuleset(policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{half}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	client := fake.NewClientset(
		&v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1"}, Spec: v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}}},
		&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a"}, Status: v1.PodStatus{Phase: v1.PodPending}},
	)
	load := func(by foresight.Ruleset) *foresight.Model {
		t.Helper()
		c := Cluster{client: client, server: "here", now: time.Now, location: usual}
		m, err := Load(t.Context(), c, &Scope{Rules: by, Pod: "a", Focus: foresight.Focus{Namespace: "shop"}})
		if err != nil {
			t.Fatal(err)
		}
		return m
	}
	m := load(rules)
	answered, err := m.Explain("shop", "a", m.At())
	if err != nil {
		t.Fatal(err)
	}
	if len(answered.Trips) != 1 {
		t.Errorf("trips %v, notes %q", answered.Trips, answered.Notes)
	}
}
