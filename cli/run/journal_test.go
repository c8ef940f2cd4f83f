package run

import (
	"strings"
	"testing"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"
)

func TestWithoutThePermissionsForTheJournalItGoesOnAndSaysSo(t *testing.T) {
	for name, test := range map[string]struct {
		dryRun bool
		want   []string
	}{
		"evicting": {false, []string{"get,update configmaps taint-manager-journal-0 and 8 more in namespace kube-system", "create configmaps in namespace kube-system", applyRoles}},
		"dry run":  {true, []string{"get configmaps taint-manager-journal-0 and 8 more in namespace kube-system", applyRoles}},
	} {
		t.Run(name, func(t *testing.T) {
			var lines []string
			log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
			s := newSettings()
			s.serving.BindPort, s.DryRun = 0, test.dryRun
			all := answers{which: []string{"nodes", "pods", "events", "leases"}}
			must(t, s.checkAccess(klog.NewContext(t.Context(), log), all, "https://a:1"))
			said := strings.Join(lines, "\n")
			for _, want := range test.want {
				if len(lines) != 1 || !strings.Contains(said, want) {
					t.Errorf("got:\n%s\nwant %q", said, want)
				}
			}
			if test.dryRun == strings.Contains(said, "create configmaps") {
				t.Errorf("got:\n%s", said)
			}
		})
	}
}

func TestTheJournalIsThatOfTheLease(t *testing.T) {
	s := newSettings()
	s.LeaderElection.ResourceName, s.LeaderElection.ResourceNamespace, s.serving.BindPort = "mine", "ours", 0
	for _, r := range s.rules() {
		if r.resource != "configmaps" {
			continue
		}
		if r.namespace != "ours" || len(r.names) > 0 && !strings.HasPrefix(r.names[0], "mine-journal-") {
			t.Errorf("it asks for %s", r)
		}
	}
}
