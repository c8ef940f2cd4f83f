package run

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/config"
)

func TestWithoutThePermissionsForTheJournalItGoesOnAndSaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		dryRun bool
		want   []string
	}{
		"evicting": {false, []string{
			"list configmaps taint-manager-journal-0 in namespace kube-system", "watch configmaps taint-manager-journal-0",
			"update configmaps taint-manager-journal-0", "create configmaps in namespace kube-system",
		}},
		"dry run": {true, []string{"list configmaps taint-manager-journal-0", "watch configmaps taint-manager-journal-0"}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			s := defaultSettings()
			s.serving.BindPort, s.DryRun = 0, test.dryRun
			all := answers{which: []string{"nodes", "pods", "events", "leases"}}
			must(t, s.checkAccess(klog.NewContext(t.Context(), log), all, "https://a:1"))
			if len(lines) != len(test.want) {
				t.Errorf("%d lines, want %d:\n%s", len(lines), len(test.want), strings.Join(lines, "\n"))
			}
			for i, want := range test.want {
				if i < len(lines) && (!strings.Contains(lines[i], want) || !strings.Contains(lines[i], "deploy/rbac.yaml")) {
					t.Errorf("line %d is %s, want %q", i, lines[i], want)
				}
			}
		})
	}
}

func TestTheJournalIsThatOfTheLease(t *testing.T) {
	c := config.Default()
	c.LeaderElection.ResourceName, c.LeaderElection.ResourceNamespace = "mine", "ours"
	for _, p := range toKeep(c) {
		if p.namespace != "ours" || p.name != "" && !strings.HasPrefix(p.name, "mine-journal-") {
			t.Errorf("it asks for %s", p)
		}
	}
}
