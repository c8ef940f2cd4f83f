package managertest

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// scraped returns the values of a metric of taint_manager by their labels.
func scraped(t *testing.T, r prometheus.Gatherer, name string) map[string]float64 {
	t.Helper()
	families, err := r.Gather()
	must(t, err)
	values := map[string]float64{}
	for _, family := range families {
		if family.GetName() != "taint_manager_"+name {
			continue
		}
		for _, m := range family.GetMetric() {
			label := ""
			for _, pair := range m.GetLabel() {
				label += pair.GetValue()
			}
			values[label] = m.GetGauge().GetValue() + m.GetCounter().GetValue()
		}
	}
	return values
}

// wantScraped wants exactly these values, and 0 for all others.
func wantScraped(t *testing.T, when string, r prometheus.Gatherer, name string, want map[string]float64) {
	t.Helper()
	got := scraped(t, r, name)
	for label, n := range got {
		if want[label] != n {
			t.Errorf("%s: %s is %v, want %v", when, name, got, want)
			return
		}
	}
	if len(got) < len(want) {
		t.Errorf("%s: %s is %v, want %v", when, name, got, want)
	}
}

// byName answers calls by the beginning of the pod's name: it is an outcome's kind, or goes.
type byName struct{}

func (byName) Evict(ctx context.Context, e taintmanager.Eviction) taintmanager.Outcome {
	switch kind, _, _ := strings.Cut(e.Pod.Name, "-"); kind {
	case "blocked":
		return taintmanager.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB}
	case "refused":
		return taintmanager.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission}
	case "delayed":
		return taintmanager.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer}
	case "hangs":
		<-ctx.Done()
		return taintmanager.Outcome{Kind: eviction.Interrupted, NothingDeleted: true}
	}
	return taintmanager.Outcome{Kind: eviction.Accepted}
}

// inEachState returns a cluster and options under which evictions come into many states.
func inEachState(r prometheus.Registerer) (*fake.Clientset, taintmanager.Options) {
	quarantined := podOn("node", "held")
	quarantined.Labels = map[string]string{"held": ""}
	dear := podOn("expensive", "rate-1")
	node := taintedNode()
	node.Name, node.UID, node.Spec.Taints[0].Key = "expensive", "expensive", "rare"
	client := fake.NewClientset(taintedNode(), node, quarantined, dear, podOn("expensive", "rate-2"), podOn("node", "blocked-1"),
		podOn("node", "blocked-2"), podOn("node", "refused"), podOn("node", "delayed"), podOn("node", "goes"), podOn("node", "hangs"),
		podOn("node", "later", bears(3600)))
	return client, taintmanager.Options{
		Evictor: byName{}, Registerer: r,
		Policies: []policy.Policy{{
			Name: "quarantine", Method: policy.Hold,
			Match: policy.Match{PodSelector: labelled("held", "")},
		}},
		Guards: policy.Guards{
			Rates:    []policy.Rate{{Name: "few", Taints: []policy.TaintKey{{Key: "rare"}}, EvictionsPerSecond: 0.001, Burst: 1}},
			Breakers: []policy.Breaker{{Name: "zones", Taints: []policy.TaintKey{{Key: "zone-taint"}}, MaxNodes: intstr.FromString("50%")}},
		},
	}
}

func TestEachEvictionCountsInOneStateOfTheLeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		client, options := inEachState(registry)
		r := start(t, client, options)
		time.Sleep(2*time.Minute + time.Millisecond)
		states := map[string]float64{ // with the causes of waits
			"scheduled": 1, "dueturn": 1, "duerate": 2, "blocked": 2, "refused": 1, "delayed": 1, "held": 1, "terminating": 1,
		}
		wantScraped(t, "it leads", registry, "pending_evictions", states)
		oldest := scraped(t, registry, "oldest_due_seconds")
		for state := range states {
			if age := oldest[state]; state != "scheduled" && (age < 115 || age > 121) || state == "scheduled" && age != 0 {
				t.Errorf("the oldest of state %s is %v s old", state, age)
			}
		}
		wantScraped(t, "it leads", registry, "rate_waiting", map[string]float64{"few": 2})
		wantScraped(t, "it leads", registry, "rate_tokens", map[string]float64{"few": 0})
		wantScraped(t, "it leads", registry, "leading", map[string]float64{"": 1})
		wantScraped(t, "it leads", registry, "breaker_tripped_groups", map[string]float64{"zones": 0})
		wantScraped(t, "it leads", registry, "policy_decisions_total", map[string]float64{"Enforce": 6, "HoldEnforcequarantine": 1})

		p := r.InForce()
		p.Paused, p.Policies = true, nil
		r.set(t, p)
		time.Sleep(10 * time.Second)
		for _, state := range []string{"duerate", "held", "dueturn", "delayed"} {
			delete(states, state)
		}
		states["duepause"], states["delayedpause"] = 4, 1
		wantScraped(t, "it is paused", registry, "pending_evictions", states)
		oldest = scraped(t, registry, "oldest_due_seconds")
		if oldest["dueturn"] != 0 || oldest["delayed"] != 0 || oldest["held"] != 0 || oldest["duepause"] < 125 {
			t.Errorf("it is paused: the oldest are %v", oldest)
		}
		wantScraped(t, "it is paused", registry, "paused", map[string]float64{"": 1})
		wantScraped(t, "it has no policies", registry, "policy_decisions_total", map[string]float64{"Enforce": 6, "HoldEnforcequarantine": 1})

		r.lead()
		synctest.Wait()
		wantScraped(t, "it does not lead", registry, "pending_evictions", nil)
		wantScraped(t, "it does not lead", registry, "oldest_due_seconds", nil)
		wantScraped(t, "it does not lead", registry, "leading", nil)
	})
}

func TestADryRunHasNothingPending(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		client, options := inEachState(registry)
		options.Evictor, options.DryRun = nil, true
		start(t, client, options)
		time.Sleep(time.Minute)
		wantScraped(t, "it leads", registry, "pending_evictions", nil)
		wantScraped(t, "it leads", registry, "leading", nil)
		wantScraped(t, "it leads", registry, "dry_run", map[string]float64{"": 1})
	})
}
