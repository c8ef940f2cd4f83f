package taint_test

import (
	"testing"

	"github.com/taint-manager/taint-manager/taint"
)

func TestAPodBelongsToTheDeploymentOfItsReplicaSet(t *testing.T) {
	labels := map[string]string{"pod-template-hash": "7d9c6"}
	for _, c := range []struct {
		name       string
		controller *taint.Owner
		labels     map[string]string
		want       taint.Owner
	}{
		{"a Deployment's pod", &taint.Owner{Kind: "ReplicaSet", Name: "web-7d9c6"}, labels, taint.Owner{Kind: "Deployment", Name: "web"}},
		{"a ReplicaSet of its own", &taint.Owner{Kind: "ReplicaSet", Name: "web"}, nil, taint.Owner{Kind: "ReplicaSet", Name: "web"}},
		{"another hash", &taint.Owner{Kind: "ReplicaSet", Name: "web-1"}, labels, taint.Owner{Kind: "ReplicaSet", Name: "web-1"}},
		{"nothing but the hash", &taint.Owner{Kind: "ReplicaSet", Name: "-7d9c6"}, labels, taint.Owner{Kind: "ReplicaSet", Name: "-7d9c6"}},
		{"a StatefulSet", &taint.Owner{Kind: "StatefulSet", Name: "db-7d9c6"}, labels, taint.Owner{Kind: "StatefulSet", Name: "db-7d9c6"}},
		{"nobody's", nil, labels, taint.Owner{}},
	} {
		pod := taint.Pod{Controller: c.controller, Labels: c.labels}
		if got := pod.Workload(); got != c.want {
			t.Errorf("%s: got %v, want %v", c.name, got, c.want)
		}
	}
}

func TestAnOwnerIsWrittenWithItsGroup(t *testing.T) {
	for o, want := range map[taint.Owner]string{
		{}: "",
		{Kind: "ReplicationController", Name: "a"}:      "ReplicationController/a",
		{Kind: "StatefulSet", Group: "apps", Name: "a"}: "StatefulSet.apps/a",
	} {
		if got := o.String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
}

func TestReplicasHaveOneControllerInOneNamespace(t *testing.T) {
	of := func(namespace string, controller *taint.Owner) *taint.Pod {
		return &taint.Pod{Namespace: namespace, Controller: controller}
	}
	a, b := taint.Owner{Kind: "StatefulSet", Name: "a"}, taint.Owner{Kind: "StatefulSet", Name: "b"}
	same := a
	for name, c := range map[string]struct {
		other *taint.Pod
		want  bool
	}{
		"the same controller": {of("shop", &same), true},
		"another controller":  {of("shop", &b), false},
		"another namespace":   {of("bank", &same), false},
		"no controller":       {of("shop", nil), false},
		"nothing in common":   {of("bank", &b), false},
		"none, and elsewhere": {of("bank", nil), false},
	} {
		p := of("shop", &a)
		if p.ReplicaOf(c.other) != c.want || c.other.ReplicaOf(p) != c.want {
			t.Errorf("%s: want %v", name, c.want)
		}
	}
	if of("shop", nil).ReplicaOf(of("shop", nil)) {
		t.Error("pods without controllers are replicas")
	}
}
