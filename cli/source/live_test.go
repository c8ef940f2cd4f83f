package source

import (
	"errors"
	"reflect"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

var half = policy.Breaker{
	Name: "half", Taints: []policy.TaintKey{{Key: "key"}}, MaxNodes: intstr.FromString("50%"), Settle: new(metav1.Duration),
}

// Which breakers are tripped depends on the nodes, whether the pod in question is on one or not.
func TestNodesAreReadForBreakersWhereThePodHasNoNode(t *testing.T) {
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

// When a pod may go by a rate depends on the other pods, unless this user may not list them.
func TestTheOtherPodsAreReadIfARateLimitsTheEviction(t *testing.T) {
	now := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	slow := policy.Rate{Name: "slow", EvictionsPerSecond: 0.001, Burst: 1}
	limited, err := foresight.NewRuleset(policy.Config{Guards: policy.Guards{Rates: []policy.Rate{slow}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	old := metav1.NewTime(now.Add(-time.Hour))
	pod := func(name string) *v1.Pod {
		return &v1.Pod{
			ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: name, UID: types.UID(name), CreationTimestamp: old},
			Spec:       v1.PodSpec{NodeName: "n1"},
		}
	}
	for name, test := range map[string]struct {
		by        foresight.Ruleset
		forbidden bool
		starts    *time.Time
		notes     int
	}{
		"a rate":                          {limited, false, new(now.Add(1000 * time.Second)), 0},
		"a rate, and no permission":       {limited, true, nil, 1},
		"no rate":                         {foresight.Ruleset{}, false, nil, 0},
		"no rate, and no permission":      {foresight.Ruleset{}, true, nil, 0},
		"a limit that delays no eviction": {foresight.Ruleset{MaxEvictionsPerSecond: 1000}, false, nil, 0},
	} {
		client := fake.NewClientset(pod("a"), pod("b"), &v1.Node{
			ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1", CreationTimestamp: old},
			Spec:       v1.NodeSpec{Taints: []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute, TimeAdded: &old}}},
		})
		everywhere := 0
		client.PrependReactor("list", "pods", func(a k8stesting.Action) (bool, runtime.Object, error) {
			if a.GetNamespace() != "" {
				return false, nil, nil
			}
			everywhere++
			return test.forbidden, nil, apierrors.NewForbidden(v1.Resource("pods"), "", errors.New("no"))
		})
		c := Cluster{client: client, server: "here", now: func() time.Time { return now }, location: usual}
		m, err := Load(t.Context(), c, &Scope{Rules: test.by, Pod: "b", Focus: foresight.Focus{Namespace: "shop"}, NoBudgets: true})
		if err != nil {
			t.Fatal(err)
		}
		e, err := m.Explain("shop", "b", now)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(e.StartsAt, test.starts) || len(e.Notes) != test.notes || (everywhere > 0) != test.by.Limited() {
			t.Errorf("%s: it starts at %v, notes %q, all pods listed: %d", name, e.StartsAt, e.Notes, everywhere)
		}
	}
}
