package shard

import (
	"hash/maphash"
	"testing"

	"github.com/taint-manager/taint-manager/taint"
)

func TestAWorkloadIsItsNamespaceAndLabelsWithoutThoseThatNameASinglePod(t *testing.T) {
	seed := maphash.MakeSeed()
	hash := func(namespace string, labels map[string]string) uint64 {
		return workload(seed, &taint.Pod{Namespace: namespace, Labels: labels})
	}
	web := hash("shop", map[string]string{"app": "web", "tier": "1"})
	for name, c := range map[string]struct {
		other uint64
		same  bool
	}{
		"another pod of it": {hash("shop", map[string]string{"tier": "1", "app": "web"}), true},
		"a pod of a StatefulSet": {hash("shop", map[string]string{
			"app": "web", "tier": "1", "statefulset.kubernetes.io/pod-name": "web-3", "apps.kubernetes.io/pod-index": "3",
		}), true},
		"a pod of an indexed Job": {hash("shop", map[string]string{"app": "web", "tier": "1", "batch.kubernetes.io/job-completion-index": "7"}), true},
		"another namespace":       {hash("bar", map[string]string{"app": "web", "tier": "1"}), false},
		"another value":           {hash("shop", map[string]string{"app": "web", "tier": "2"}), false},
		"values swapped":          {hash("shop", map[string]string{"app": "1", "tier": "web"}), false},
		"a label less":            {hash("shop", map[string]string{"app": "web"}), false},
		"no label":                {hash("shop", nil), false},
	} {
		if (c.other == web) != c.same {
			t.Errorf("%s: the same workload: %v, want %v", name, c.other == web, c.same)
		}
	}
}
