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
