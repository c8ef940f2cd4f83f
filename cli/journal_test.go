package cli

import (
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
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

func TestWhoHasLedLastIsReadFromTheLease(t *testing.T) {
	c := newCluster()
	election := config.Default().LeaderElection
	if got := lastLed(t.Context(), c.CoordinationV1(), election); !got.IsZero() {
		t.Errorf("without a lease: %v", got)
	}
	renewed := time.Date(2026, 1, 1, 0, 0, 0, 123456000, time.UTC)
	lease := &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{Name: election.ResourceName}}
	_, err := c.CoordinationV1().Leases(election.ResourceNamespace).Create(t.Context(), lease, metav1.CreateOptions{})
	must(t, err)
	if got := lastLed(t.Context(), c.CoordinationV1(), election); !got.IsZero() {
		t.Errorf("with a lease that was never renewed: %v", got)
	}
	lease.Spec.RenewTime = &metav1.MicroTime{Time: renewed}
	_, err = c.CoordinationV1().Leases(election.ResourceNamespace).Update(t.Context(), lease, metav1.UpdateOptions{})
	must(t, err)
	if got := lastLed(t.Context(), c.CoordinationV1(), election); !got.Equal(renewed) {
		t.Errorf("got %v, want %v", got, renewed)
	}
	c.PrependReactor("get", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, errors.New("connection refused")
	})
	var said []string
	ctx := klog.NewContext(t.Context(), funcr.New(func(_, line string) { said = append(said, line) }, funcr.Options{}))
	if got := lastLed(ctx, c.CoordinationV1(), election); !got.IsZero() || len(said) != 1 {
		t.Errorf("without an answer: %v, said %q", got, said)
	}
}
