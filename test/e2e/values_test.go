package e2e

import (
	"os"
	"path/filepath"
	"testing"
)

// takesOddValues renders the chart with values that are far from the defaults, upgrades a release of version 0.1 to them,
// and rolls back.
func (h *helm) takesOddValues(t *testing.T) {
	h.kubectl(t, "-n", "kube-system", "create", "serviceaccount", "0-evictor")
	defer h.kubectl(t, "-n", "kube-system", "delete", "serviceaccount", "0-evictor")
	h.helm(t, "install", "taint-manager", h.firstChart(t), "-n", "kube-system")
	for _, name := range []string{"large", "hostnetwork"} {
		values := "-f=release/chart/testdata/" + name + ".values.yaml"
		rendered := filepath.Join(t.TempDir(), "rendered.yaml")
		must(t, os.WriteFile(rendered, []byte(h.helm(t, "template", "taint-manager", chartDir, "-n", "kube-system", values)), 0o600))
		h.kubectl(t, "apply", "--server-side", "--force-conflicts", "--dry-run=server", "-f", rendered)
		h.helm(t, "upgrade", "taint-manager", chartDir, "-n", "kube-system", "--history-max=0", values)
		switch d := h.deployment(t, "kube-system"); name {
		case "large":
			if d.Labels["cost-center"] != "0042" || d.Spec.Template.Spec.ServiceAccountName != "evictor" || len(d.Spec.Template.Spec.ImagePullSecrets) != 2 {
				t.Errorf("%s: got %+v", name, d)
			}
		case "hostnetwork":
			if !d.Spec.Template.Spec.HostNetwork || d.Spec.Strategy.RollingUpdate.MaxSurge.IntValue() != 0 || d.Spec.Template.Spec.PriorityClassName != "" {
				t.Errorf("%s: got %+v", name, d)
			}
		}
		h.helm(t, "rollback", "taint-manager", "1", "-n", "kube-system", "--history-max=0")
		if d := h.deployment(t, "kube-system"); d.Labels["cost-center"] != "" || d.Spec.Template.Spec.HostNetwork || d.Labels["app.kubernetes.io/version"] != "v0.1.0" {
			t.Errorf("rolled back from %s: got %+v", name, d)
		}
	}
	h.uninstalls(t, "kube-system")
}
