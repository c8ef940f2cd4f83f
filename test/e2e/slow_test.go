package e2e

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
	"github.com/taint-manager/taint-manager/test/testcluster"
)

// A webhook delays the deletions of one workload for 30 s; if two do so one after the other, the API server gives
// up after 34 s. Pods of other workloads in the same namespace are not affected.
func TestASlowWorkloadSlowsNobodyElse(t *testing.T) {
	w := newWorld(t, testcluster.Options{WithoutNodes: true, WithoutScheduler: true, WithoutControllerManager: true})
	for _, c := range []slowCase{
		{name: "one-40", pods: 40},
		{name: "two-200", pods: 200, twice: true, together: true, untilTimeout: true},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, w) })
	}
}

type slowCase struct {
	name         string
	pods         int  // that are slow
	twice        bool // two webhooks one after the other
	together     bool // slow and other pods become due at the same instant; otherwise the slow ones later
	untilTimeout bool // continues until the API server has given up the first of the slow deletions
}

// noise is how much longer a single round may take on two cores that also run the API server, etcd and the
// webhooks: rounds of the same load differ from each other by more than 100 ms.
const noise = 250 * time.Millisecond

// The slow pods are on slowNodes nodes. At most calls evictions are under way at a time.
const slowNodes, calls = 20, 64

// slowRounds is the number of other loads that are measured alone, and beside the slow pods.
const slowRounds = 3

func (s slowCase) run(t *testing.T, w *world) {
	slow, quick := s.slowPods(t, w), s.quickPods(t, w)
	hook := newHoldingWebhook(t)
	hook.register(t, w, s.twice, slow.pods[0])
	alone, first, beside := s.others(t, w, "alone", slowRounds), s.others(t, w, "first", 2), s.others(t, w, "beside", slowRounds)
	m := w.manage(t, "--leader-elect=false")

	var without, with []latency
	for _, pods := range alone {
		without = append(without, w.latencyOf(t, pods))
	}
	t.Logf("alone: %v", without)

	// The API server is occupied with the slow pods, too, before it asks the webhook. So the others are compared with
	// what they take beside pods that are not slow.
	_, usual := s.begin(t, w, quick, first[0])
	quick.gone(t, w.deletions, 0)
	t.Logf("with as many quick ones at the same time or later: %v", usual)
	began, got := s.begin(t, w, slow, first[1])
	t.Logf("with the slow ones at the same time or later: %v", got)
	// If other work makes calls slow, too, these times show nothing. The second comparison has three rounds.
	busy, tooBusy := slowest(without).p99 > time.Second, quickest(without).p99 > time.Second
	t.Logf("busy machine: %v, too busy to compare any times: %v", busy, tooBusy)
	more := time.Second + noise
	if !busy && (got.median > usual.median+more || got.p99 > usual.p99+more) {
		t.Errorf("they took %v, want at most a second more than beside quick ones: %v", got, usual)
	}
	pauseUntil(t, began.Add(2*time.Second))
	for i, pods := range beside {
		if s.untilTimeout && i == slowRounds-1 {
			pauseUntil(t, began.Add(36*time.Second))
		}
		with = append(with, w.latencyOf(t, pods))
	}
	t.Logf("beside the slow ones: %v", with)
	if got, usual := quickest(with), quickest(without); !tooBusy && (2*got.median > 3*usual.median || got.p99 > 2*usual.p99) {
		t.Errorf("beside the slow ones they took %v, want at most 1.5 times the median and twice the 99th percentile of %v", got, usual)
	}
	if n := hook.Held(); n < min(s.pods, 40) && !tooBusy { // calls that are slow on their own take slow places, too
		t.Errorf("the webhook was asked for %d deletions: it held nobody up", n)
	}
	s.inspect(t, w, m)
	hook.Release()
	released := time.Now()
	last := slow.gone(t, w.deletions, 0)
	t.Logf("once the webhook let them go, the slow ones were gone within %v", last.Sub(released).Round(time.Millisecond))
}

// slowPods returns the pods of one StatefulSet, on nodes of their own. The webhook delays their deletion.
func (s slowCase) slowPods(t *testing.T, w *world) *podLoad {
	t.Helper()
	return newPodLoadOf(t, w.admin, "slow-"+s.name, slowNodes, s.pods/slowNodes, func(i int) map[string]string {
		return map[string]string{"app": "slow", load.HeldLabel: "yes", "apps.kubernetes.io/pod-index": strconv.Itoa(i)}
	})
}

// quickPods returns as many pods, but no more than the calls that begin at once. Nothing delays their deletion.
func (s slowCase) quickPods(t *testing.T, w *world) *podLoad {
	t.Helper()
	return newPodLoad(t, w.admin, "quick-"+s.name, slowNodes, min(s.pods, calls)/slowNodes)
}

// others returns loads of 100 pods each on 10 nodes.
func (s slowCase) others(t *testing.T, w *world, name string, n int) (list []*podLoad) {
	t.Helper()
	for i := range n {
		list = append(list, newPodLoad(t, w.admin, fmt.Sprintf("%s-%s-%d", name, s.name, i), 10, 10))
	}
	return list
}

// begin taints the nodes of the slow pods and of the others. It returns when it began, and the latency of the others.
func (s slowCase) begin(t *testing.T, w *world, slow, others *podLoad) (time.Time, latency) {
	t.Helper()
	began := time.Now()
	if s.together {
		var nodes []string
		for i, node := range slow.nodes { // in turn
			nodes = append(nodes, node)
			if i < len(others.nodes) {
				nodes = append(nodes, others.nodes[i])
			}
		}
		both := &podLoad{admin: w.admin, nodes: nodes}
		both.taint(t, true)
	} else {
		others.taint(t, true)
		slow.taint(t, true)
	}
	return began, w.latencySince(t, others, began)
}

// inspect checks the metrics of the manager and the API server.
func (s slowCase) inspect(t *testing.T, w *world, m *testcluster.Manager) {
	t.Helper()
	ours := w.managerMetrics(t, m)
	for _, name := range []string{"taint_manager_outage_backoff", `taint_manager_eviction_pauses_total{cause="unavailable"}`} {
		if got := load.Sum(ours, name); got != 0 {
			t.Errorf("%s is %v", name, got)
		}
	}
	if got, most := load.Sum(ours, "taint_manager_slow_evictions_in_flight"), float64(min(64, s.pods)); got == 0 || got > most {
		t.Errorf("%v slow calls are in flight, want some, and %v at most", got, most)
	}
	if got := load.Sum(ours, `taint_manager_pending_evictions{state="waiting_slow"}`); s.pods > 64 && got == 0 {
		t.Error("no eviction waits for a slow place")
	}
	t.Logf("%v calls kept their slots", load.Sum(ours, "taint_manager_slow_evictions_in_slots_total"))
	if timeouts := load.Sum(ours, `taint_manager_eviction_calls_total{cause="timeout",outcome="failed"}`); s.untilTimeout && timeouts == 0 {
		t.Error("the API server has given up no deletion")
	}
	theirs, err := w.admin.CoreV1().RESTClient().Get().AbsPath("/metrics").DoRaw(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if got := load.Sum(string(theirs), "apiserver_flowcontrol_rejected_requests_total", `priority_level="workload-high"`); got != 0 {
		t.Errorf("the API server has rejected %v requests of workload-high", got)
	}
	if got := load.Sum(string(theirs), "apiserver_flowcontrol_nominal_limit_seats", `priority_level="workload-high"`); got != 98 {
		t.Errorf("workload-high has %v seats, and ADR 0005 says 98", got)
	}
}

// latency is the time from the taint to the deletion of the pods of a load.
type latency struct{ median, p99 time.Duration }

func (l latency) String() string {
	return fmt.Sprintf("median %v, 99th percentile %v", l.median.Round(time.Millisecond), l.p99.Round(time.Millisecond))
}

// quickest and slowest return the minimum and the maximum of each. Other work on the machine only adds to a time,
// so the minimum of some rounds can be compared.
func quickest(list []latency) latency {
	least := list[0]
	for _, l := range list {
		least = latency{min(least.median, l.median), min(least.p99, l.p99)}
	}
	return least
}

func slowest(list []latency) (most latency) {
	for _, l := range list {
		most = latency{max(most.median, l.median), max(most.p99, l.p99)}
	}
	return most
}

// latencyOf taints the nodes of a load and returns its latency.
func (w *world) latencyOf(t *testing.T, c *podLoad) latency {
	t.Helper()
	began := time.Now()
	c.taint(t, true)
	return w.latencySince(t, c, began)
}

func (w *world) latencySince(t *testing.T, c *podLoad, began time.Time) latency {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	times, err := w.deletions.Wait(ctx, c.identities(), 0)
	if err != nil {
		t.Error(err)
	}
	var took []time.Duration
	for _, at := range times {
		took = append(took, at.Sub(began))
	}
	for len(took) < len(c.pods) {
		took = append(took, time.Since(began)) // at least
	}
	slices.Sort(took)
	return latency{took[len(took)/2], took[len(took)*99/100]}
}

func pauseUntil(t *testing.T, moment time.Time) {
	select {
	case <-time.After(time.Until(moment)): //nolint:forbidigo // the control plane runs in real time
	case <-t.Context().Done():
	}
}

// afterwards returns a context for a test's cleanup.
func afterwards(t *testing.T) context.Context { return context.WithoutCancel(t.Context()) }

// managerMetrics returns the metrics of a manager.
func (w *world) managerMetrics(t *testing.T, m *testcluster.Manager) string {
	t.Helper()
	code, body := 0, ""
	for range 50 { // the authority of client certificates comes from the API server, moments after the start
		if code, body = ask(t, w.adminTLS(t), "https://"+m.Address()+"/metrics"); code == 200 {
			return body
		}
		<-time.After(100 * time.Millisecond) //nolint:forbidigo // for the authority of client certificates, which a real API server tells
	}
	t.Fatalf("/metrics: %d %s", code, body)
	return ""
}
