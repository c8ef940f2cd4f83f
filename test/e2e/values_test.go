package e2e

import (
	"os"
	"path/filepath"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// takesOddValues renders the chart with values that are far from the defaults, upgrades a release to them, and rolls back.
func (h *helm) takesOddValues(t *testing.T) {
	h.kubectl(t, "-n", "kube-system", "create", "serviceaccount", "0-evictor")
	defer h.kubectl(t, "-n", "kube-system", "delete", "serviceaccount", "0-evictor")
	h.helm(t, "install", "taint-manager", chartDir, "-n", "kube-system")
	for _, name := range []string{"large", "hostnetwork"} {
		values := "-f=release/chart/testdata/" + name + ".values.yaml"
		rendered := filepath.Join(t.TempDir(), "rendered.yaml")
		must(t, os.WriteFile(rendered, []byte(h.helm(t, "template", "taint-manager", chartDir, "-n", "kube-system", values)), 0o600))
		h.kubectl(t, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", rendered)
		h.helm(t, "upgrade", "taint-manager", chartDir, "-n", "kube-system", "--history-max=0", values)
		switch d := h.deployment(t, "kube-system"); name {
		case "large":
			if d.Labels["cost-center"] != "0042" || d.Spec.Template.Spec.ServiceAccountName != "evictor" || len(d.Spec.Template.Spec.ImagePullSecrets) != 1 {
				t.Errorf("%s: got %+v", name, d)
			}
		case "hostnetwork":
			if !d.Spec.Template.Spec.HostNetwork || d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue() != 0 || d.Spec.Template.Spec.PriorityClassName != "" {
				t.Errorf("%s: got %+v", name, d)
			}
		}
		h.helm(t, "rollback", "taint-manager", "1", "-n", "kube-system", "--history-max=0")
		if d := h.deployment(t, "kube-system"); d.Labels["cost-center"] != "" || d.Spec.Template.Spec.HostNetwork {
			t.Errorf("rolled back from %s: got %+v", name, d)
		}
	}
	h.uninstalls(t, "kube-system")
}

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
		s := &scene{T: t, world: h.world}
		s.until(test.values+": all replicas are created", func() bool {
			pods, err := h.admin.CoreV1().Pods(test.namespace).List(t.Context(), metav1.ListOptions{LabelSelector: "app.kubernetes.io/name=taint-manager"})
			return err == nil && len(pods.Items) == int(*d.Spec.Replicas)
		})
		h.uninstalls(t, test.namespace)
	}
}
