package run

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAProcessSaysThatATaintOfItsNodeIsGoingToEvictItsPod(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	view := taintmanager.View{
		Pod: &taint.Pod{Namespace: "kube-system", Name: "taint-manager-own", UID: "own", Node: "n1"},
		Verdict: taint.Verdict{
			Evict: true, At: at, Start: at, Node: "n1", Taint: &v1.Taint{Key: "dedicated", Effect: v1.TaintEffectNoExecute},
		},
	}
	for scheduled, want := range map[bool]string{
		true:  `"node"="n1" "deadline"="2026-01-01T00:00:00Z" "because"="taint dedicated:NoExecute (countdown started at 2026-01-01T00:00:00Z) is not tolerated"`,
		false: "",
	} {
		var lines []string
		log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		warnOfOwnNode(klog.NewContext(t.Context(), log), func(context.Context) (taintmanager.View, bool) { return view, scheduled })
		if (len(lines) == 1) != scheduled || !strings.Contains(strings.Join(lines, ""), want) {
			t.Errorf("scheduled: %t: logged %q, want %q", scheduled, lines, want)
		}
	}
}

func TestAProcessLogsAtItsStartWhichBreakersThePresentNodesCanNotTrip(t *testing.T) {
	outage := func(name, topologyKey string, nodes int32) policy.Breaker {
		return policy.Breaker{
			Name: name, TopologyKey: topologyKey, Taints: []policy.TaintKey{{Key: v1.TaintNodeUnreachable}},
			MaxNodes: intstr.FromString("50%"), MinNodes: &nodes,
		}
	}
	synctest.Test(t, func(t *testing.T) {
		s := newSettings()
		s.Guards.Breakers = []policy.Breaker{
			outage("can", "", 1), outage("small", "", 3), outage("beta", "failure-domain.beta.kubernetes.io/zone", 1),
		}
		lines := make(chan string, 10)
		log := funcr.New(func(_, line string) {
			if strings.Contains(line, "A breaker does not protect") {
				lines <- line
			}
		}, funcr.Options{})
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), log))
		defer cancel()
		api := &doomed{dies: time.Now().Add(time.Hour), calls: map[string]int{}} // it has one node, without labels
		p, ended := api.process(t, s), make(chan error, 1)
		go func() { ended <- p.run(ctx) }()
		time.Sleep(10 * time.Second)
		cancel()
		must(t, <-ended)
		close(lines)
		for _, want := range []string{
			"breaker small can never trip: at least 3 nodes of a group must be affected, and the largest group has 1",
			"breaker beta has one group of all nodes: no node has the label failure-domain.beta.kubernetes.io/zone",
		} {
			if line := <-lines; !strings.Contains(line, want) {
				t.Errorf("logged %q, want %q", line, want)
			}
		}
		for line := range lines {
			t.Errorf("logged %q, too", line)
		}
	})
}
