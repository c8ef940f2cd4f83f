package e2e

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// installsOddValues installs with values that are far from the defaults, also into a namespace of digits whose quota has
// to admit the replicas, and uninstalls.
func (h *helm) installsOddValues(t *testing.T) {
	h.kubectl(t, "create", "namespace", "123")
	defer h.kubectl(t, "delete", "namespace", "123")
	h.kubectl(t, "-n", "123", "create", "serviceaccount", "0-evictor")
	for _, test := range []struct{ namespace, values, set, quotas string }{
		{"kube-system", "large", "", ""},
		{"123", "hostnetwork", "priorityClassName=system-cluster-critical", "resourcequota/taint-manager\n"},
	} {
		values := "-f=release/chart/testdata/" + test.values + ".values.yaml"
		h.helm(t, "install", "taint-manager", chartDir, "-n", test.namespace, values, "--set="+test.set)
		d := h.deployment(t, test.namespace)
		if elsewhere := test.namespace == "123"; d.Spec.Template.Spec.HostNetwork != elsewhere {
			t.Errorf("%s: got %+v", test.values, d)
		}
		if got := h.kubectl(t, "-n", test.namespace, "get", "resourcequotas", "-o", "name"); got != test.quotas {
			t.Errorf("%s: got the quotas %q, want %q", test.values, got, test.quotas)
		}
		until(t, test.values+": all replicas are created", func() bool {
			pods, err := h.admin.CoreV1().Pods(test.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager"})
			return err == nil && len(pods.Items) == int(*d.Spec.Replicas)
		})
		h.uninstalls(t, test.namespace)
	}
}
