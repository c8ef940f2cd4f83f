package deploy_test

import (
	"os"
	"os/exec"
	"strings"
	"testing"

	"sigs.k8s.io/yaml"
)

// alert is a rule of chart/files/alerts.yaml.
type alert struct {
	Alert       string            `json:"alert"`
	Expr        string            `json:"expr"`
	Annotations map[string]string `json:"annotations"`
}

func alerts(t *testing.T) []alert {
	t.Helper()
	text, err := os.ReadFile("chart/files/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Groups []struct {
			Rules []alert `json:"rules"`
		} `json:"groups"`
	}
	if err := yaml.Unmarshal(text, &file); err != nil || len(file.Groups) != 1 {
		t.Fatalf("%d groups, %v", len(file.Groups), err)
	}
	return file.Groups[0].Rules
}

func TestPromtoolChecksTheAlerts(t *testing.T) {
	promtool, err := exec.LookPath("promtool")
	switch {
	case err != nil && testing.Short():
		t.Skip("promtool is missing: `make setup` installs it")
	case err != nil:
		t.Fatal("promtool is missing: `make setup` installs it")
	}
	for _, args := range [][]string{{"check", "rules", "chart/files/alerts.yaml"}, {"test", "rules", "testdata/alerts.yaml"}} {
		if out, err := exec.CommandContext(t.Context(), promtool, args...).CombinedOutput(); err != nil {
			t.Errorf("%v: %v\n%s", args, err, out)
		}
	}
}

func TestEachAlertHasAUnitTestARunbookAndTheJob(t *testing.T) {
	tests, err := os.ReadFile("testdata/alerts.yaml")
	if err != nil {
		t.Fatal(err)
	}
	runbook, err := os.ReadFile("../docs/runbooks/alerts.md")
	if err != nil {
		t.Fatal(err)
	}
	for _, a := range alerts(t) {
		for _, name := range []string{a.Alert + " fires", a.Alert + " is silent"} {
			if !strings.Contains(string(tests), "name: "+name+"\n") {
				t.Errorf("testdata/alerts.yaml has no test: %s", name)
			}
		}
		_, section, found := strings.Cut(string(runbook), "\n### "+a.Alert+"\n")
		section, _, _ = strings.Cut(section, "\n### ")
		if !found || !strings.Contains(section, "```sh\n") {
			t.Errorf("docs/runbooks/alerts.md has no section with commands for %s", a.Alert)
		}
		if !strings.HasSuffix(a.Annotations["runbook_url"], "docs/runbooks/alerts.md#"+strings.ToLower(a.Alert)) {
			t.Errorf("%s links %s", a.Alert, a.Annotations["runbook_url"])
		}
		if !strings.Contains(a.Expr, `{job="taint-manager"`) || a.Annotations["summary"] == "" {
			t.Errorf("%s: the expression %s, or no summary", a.Alert, a.Expr)
		}
	}
}
