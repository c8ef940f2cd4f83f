package managertest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// holdAll is a policy that holds every pod.
var holdAll = policy.Policy{Name: "hold", Method: policy.Hold}

func lasting(d time.Duration) *metav1.Duration { return &metav1.Duration{Duration: d} }

// set replaces the policies, and fails the test if they are refused.
func (r *running) set(t *testing.T, p taintmanager.Policies) policy.Diff {
	t.Helper()
	diff, err := r.SetPolicies(t.Context(), p)
	must(t, err)
	return diff
}

func wantEvicted(t *testing.T, when string, e *recorder, want ...string) {
	t.Helper()
	synctest.Wait()
	if got := e.names(); !slices.Equal(got, want) {
		t.Errorf("%s: evicted are %q, want %q", when, got, want)
	}
}

func TestTheMethodIgnoreEvictsByPoliciesAlone(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "pod")), taintmanager.Options{Evictor: evictor, Method: taintmanager.Ignore})
		time.Sleep(time.Minute)
		wantEvicted(t, "ignored", evictor)
		diff := r.set(t, taintmanager.Policies{Method: taintmanager.Ignore, Policies: []policy.Policy{{Name: "all", Method: policy.Evict}}})
		if want := (policy.Diff{Pods: 1, Due: 1}); diff != want {
			t.Errorf("the difference is %+v, want %+v", diff, want)
		}
		time.Sleep(time.Second)
		wantEvicted(t, "by a policy", evictor, "pod")
	})
}

func TestPoliciesThatAreRefusedChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "pod")), taintmanager.Options{Evictor: evictor, Policies: []policy.Policy{holdAll}})
		for _, p := range []taintmanager.Policies{
			{Policies: []policy.Policy{{Name: "b", Method: "Drain"}}}, {Workers: -1}, {Method: "drain"},
		} {
			if _, err := r.SetPolicies(t.Context(), p); err == nil {
				t.Errorf("%+v was taken in", p)
			}
		}
		time.Sleep(time.Minute)
		wantEvicted(t, "after a minute", evictor)
	})
}

// Policies change all the time while pods become due. Each pod is evicted once, and none of those that are held.
func TestReloadsInABurstLoseNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{lasts: 3 * time.Millisecond}
		client := fake.NewClientset()
		var want []string
		for i := range 300 {
			node := taintedNode()
			node.Name, node.UID = fmt.Sprintf("node-%d", i%10), types.UID(fmt.Sprint(i%10))
			if i < 10 {
				must(t, client.Tracker().Add(node))
			}
			pod := podOn(node.Name, fmt.Sprintf("pod-%03d", i))
			if i%3 == 0 {
				pod.Namespace = "held"
			} else {
				want = append(want, pod.Name)
			}
			must(t, client.Tracker().Add(pod))
		}
		held := policy.Policy{Name: "held", Method: policy.Hold, Match: policy.Match{Namespaces: []string{"held"}}}
		r := start(t, client, taintmanager.Options{Evictor: evictor, Policies: []policy.Policy{held, holdAll}})
		time.Sleep(time.Second)
		for i := range 100 {
			next := taintmanager.Policies{Workers: 1 + i%7, Policies: []policy.Policy{held}}
			if i%2 == 0 {
				next.Policies = append(next.Policies, holdAll)
			}
			next.Paused = i%5 == 0
			if i%3 == 0 {
				next.Guards.Breakers = []policy.Breaker{zoneOutage()}
			}
			r.set(t, next)
			time.Sleep(time.Duration(i%4) * time.Millisecond)
		}
		r.set(t, taintmanager.Policies{Policies: []policy.Policy{held}})
		time.Sleep(time.Minute)
		wantEvicted(t, "in the end", evictor, want...)
	})
}

// zoneOutage trips above half of a zone.
func zoneOutage() policy.Breaker {
	return policy.Breaker{
		Name: "zone-outage", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "key"}},
		MaxNodes: intstr.Parse("50%"), Settle: lasting(time.Second), ResetAfter: lasting(time.Minute),
	}
}

// zone returns a cluster with one pod on each of the nodes of a zone, the first of which are tainted.
func zone(t *testing.T, nodes, tainted int) *fake.Clientset {
	t.Helper()
	client := fake.NewClientset()
	for i := range nodes {
		node := taintedNode()
		node.Name, node.UID, node.Labels = nodeOf(i), types.UID(fmt.Sprint(i)), map[string]string{"zone": "a"}
		if i >= tainted {
			node.Spec.Taints = nil
		}
		must(t, errors.Join(client.Tracker().Add(node), client.Tracker().Add(podOn(node.Name, fmt.Sprintf("pod-%d", i)))))
	}
	return client
}

func nodeOf(i int) string { return fmt.Sprintf("node-%d", i) }

// updateNode changes a node.
func updateNode(t *testing.T, client *fake.Clientset, name string, change func(*v1.Node)) {
	t.Helper()
	node, err := client.CoreV1().Nodes().Get(t.Context(), name, metav1.GetOptions{})
	must(t, err)
	node = node.DeepCopy()
	change(node)
	_, err = client.CoreV1().Nodes().Update(t.Context(), node, metav1.UpdateOptions{})
	must(t, err)
}

func paint(t *testing.T, client *fake.Clientset, name string, taints []v1.Taint) {
	t.Helper()
	updateNode(t, client, name, func(n *v1.Node) { n.Spec.Taints = taints })
}

func TestABreakerHoldsAZoneAndIsReset(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		sink := &sink{}
		client := zone(t, 4, 0)
		r := start(t, client, taintmanager.Options{Evictor: evictor, Events: sink, Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}}})
		time.Sleep(time.Second)
		taints := taintedNode().Spec.Taints
		for i := range 3 {
			paint(t, client, nodeOf(i), taints)
		}
		time.Sleep(10 * time.Minute)
		wantEvicted(t, "three of four nodes are out", evictor)
		if trips := r.Trips(); len(trips) != 1 || trips[0].Breaker != "zone-outage" || trips[0].Group != "a" {
			t.Errorf("got the trips %+v", trips)
		}
		if got := sink.about("BreakerTripped"); !slices.Equal(got, []string{"node-0", "node-1", "node-2"}) {
			t.Errorf("events of a trip are on %q", got)
		}
		paint(t, client, "node-0", nil)
		time.Sleep(2 * time.Minute)
		wantEvicted(t, "two of four", evictor, "pod-1", "pod-2")
		if len(r.Trips()) != 0 {
			t.Errorf("got the trips %+v", r.Trips())
		}
	})
}

// A reload adds a breaker while a zone is out: it trips by the nodes as they are.
func TestABreakerThatAReloadAddsKnowsAllNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, zone(t, 4, 3), taintmanager.Options{Evictor: evictor, Paused: true})
		time.Sleep(time.Minute)
		diff := r.set(t, taintmanager.Policies{Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}}})
		if want := (policy.Diff{Pods: 3, Held: 3}); diff != want {
			t.Errorf("the difference is %+v, want %+v", diff, want)
		}
		time.Sleep(time.Minute)
		wantEvicted(t, "held by the new breaker", evictor)
		diff = r.set(t, taintmanager.Policies{})
		if want := (policy.Diff{Pods: 3, Due: 3}); diff != want {
			t.Errorf("the difference is %+v, want %+v", diff, want)
		}
		time.Sleep(time.Second)
		wantEvicted(t, "without it", evictor, "pod-0", "pod-1", "pod-2")
	})
}

func TestARateThatAReloadAddsCountsAtOnceAndUntilItIsRemoved(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, zone(t, 4, 3), taintmanager.Options{Evictor: evictor, Paused: true})
		time.Sleep(time.Minute)
		r.set(t, taintmanager.Policies{Guards: policy.Guards{Rates: []policy.Rate{{Name: "slow", EvictionsPerSecond: 0.001, Burst: 1}}}})
		time.Sleep(time.Minute)
		wantEvicted(t, "under the new rate", evictor)
		r.set(t, taintmanager.Policies{})
		time.Sleep(time.Second)
		wantEvicted(t, "without it", evictor, "pod-0", "pod-1", "pod-2")
	})
}

// A reload makes a NoSchedule taint a trigger, which the cache has not kept before.
func TestAReloadThatNeedsMoreDataWaitsForThem(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		node := draining()
		node.Labels = map[string]string{"pool": "db"}
		r := start(t, fake.NewClientset(node, prodNamespace(), replica("pod")), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		match := prod()
		match.NodeSelector = labelled("pool", "db")
		diff := r.set(t, taintmanager.Policies{Policies: []policy.Policy{maintenance(match)}})
		if want := (policy.Diff{Pods: 1, Earlier: 1}); diff != want {
			t.Errorf("the difference is %+v, want %+v", diff, want)
		}
		time.Sleep(50 * time.Second)
		wantEvicted(t, "within the time that pods may stay", evictor)
		time.Sleep(15 * time.Second)
		wantEvicted(t, "after it", evictor, "pod")
	})
}

// The policy after it decides.
func TestAnAuditIsCountedAndChangesNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor, registry := &recorder{}, prometheus.NewRegistry()
		trial := policy.Policy{Name: "trial", Mode: policy.Audit, Method: policy.Hold}
		start(t, fake.NewClientset(taintedNode(), podOn("node", "a"), podOn("node", "b")),
			taintmanager.Options{Evictor: evictor, Registerer: registry, Policies: []policy.Policy{trial}})
		time.Sleep(time.Minute)
		wantEvicted(t, "after a minute", evictor, "a", "b")
		wantScraped(t, "after a minute", registry, "policy_decisions_total", map[string]float64{"HoldAudittrial": 2, "Enforce": 2})
	})
}

func TestAnAuditIsLoggedWithItsDeletion(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log := &logged{}
		trial := policy.Policy{Name: "trial", Mode: policy.Audit, Method: policy.Evict, DeleteAfter: lasting(time.Hour)}
		deleteAt := taint.Stamp(time.Now().Add(time.Hour))
		start(t, fake.NewClientset(taintedNode(), podOn("node", "a")), taintmanager.Options{Evictor: &recorder{}, Logger: log.logger(), Policies: []policy.Policy{trial}})
		synctest.Wait()
		if log.count("A policy in mode Audit would decide") != 1 || log.count(`"deleteAt"="`+deleteAt+`"`) != 1 {
			t.Errorf("want a deletion at %s:\n%s", deleteAt, log.text.String())
		}
	})
}

// An error means that nothing has changed, whenever the context ends.
func TestPoliciesWhoseContextEndsChangeNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, fake.NewClientset(taintedNode(), podOn("node", "pod", bears(60))), taintmanager.Options{Evictor: evictor})
		time.Sleep(time.Second)
		ended, cancel := context.WithCancel(t.Context())
		cancel()
		refused := 0
		for range 100 {
			if _, err := r.SetPolicies(ended, taintmanager.Policies{Paused: true, Policies: []policy.Policy{holdAll}}); err == nil {
				r.set(t, taintmanager.Policies{})
				continue
			}
			refused++
		}
		time.Sleep(2 * time.Minute)
		if refused == 0 || r.Paused() {
			t.Errorf("%d were refused, and paused is %v", refused, r.Paused())
		}
		wantEvicted(t, "all were refused", evictor, "pod")
	})
}

// A standby takes in the same policies, and holds what it has to from the moment on at which it leads.
func TestAHoldOutlivesTheLossOfLeadership(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor := &recorder{}
		r := start(t, zone(t, 4, 3), taintmanager.Options{Evictor: evictor, Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}}})
		time.Sleep(time.Minute)
		r.lead()
		must(t, <-r.led)
		ctx, stop := context.WithCancel(t.Context())
		defer stop()
		led := make(chan error, 1)
		go func() { led <- r.Lead(ctx) }()
		time.Sleep(time.Minute)
		wantEvicted(t, "leading again", evictor)
		r.set(t, taintmanager.Policies{})
		time.Sleep(time.Second)
		wantEvicted(t, "without the breaker", evictor, "pod-0", "pod-1", "pod-2")
		stop()
		must(t, <-led)
	})
}

// A process that does not lead yet holds nothing, so what it would hold is reported once it leads.
func TestAStandbyReportsNoHolds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, sink, client := &logged{}, &sink{}, zone(t, 4, 3)
		other := taintedNode().Spec.Taints
		other[0].Key = "other"
		r := standby(t, client, taintmanager.Options{
			Evictor: &recorder{}, Events: sink, Logger: log.logger(), Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}},
			Policies: []policy.Policy{{Name: "hold", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "other"}}}}},
		})
		for _, taints := range [][]v1.Taint{other, nil, other} {
			paint(t, client, "node-3", taints)
			time.Sleep(time.Minute)
		}
		for _, text := range []string{"is held", "is cancelled", "is tripped"} {
			if n := log.count(text); n != 0 {
				t.Errorf("a standby has logged %q %d times", text, n)
			}
		}
		r.beginLead()
		time.Sleep(time.Minute)
		if log.count("is tripped") != 1 || log.count("is held") != 4 {
			t.Errorf("the leader has logged %s", log.text.String())
		}
		if got := sink.about("EvictionHeld"); !slices.Equal(got, []string{"pod-0", "pod-1", "pod-2", "pod-3"}) {
			t.Errorf("events of held evictions are on %q", got)
		}
		if got := sink.about("BreakerTripped"); !slices.Equal(got, []string{"node-0", "node-1", "node-2"}) {
			t.Errorf("events of a trip are on %q", got)
		}
	})
}

func TestANewLeaderReportsAHundredHeldPodsAndCountsTheOthers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		log, sink, client := &logged{}, &sink{}, zone(t, 4, 1)
		for i := range 150 {
			must(t, client.Tracker().Add(podOn("node-0", fmt.Sprintf("held-%d", i))))
		}
		r := standby(t, client, taintmanager.Options{
			Evictor: &recorder{}, Events: sink, Logger: log.logger(),
			Policies: []policy.Policy{{Name: "hold", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "key"}}}}},
		})
		time.Sleep(time.Minute)
		r.beginLead()
		time.Sleep(time.Minute)
		if n := len(sink.about("EvictionHeld")); n != 100 {
			t.Errorf("%d events of held evictions, want 100", n)
		}
		if log.count("is held") != 100 || log.count(`"pods"=51`) == 0 {
			t.Errorf("the log:\n%s", log.text.String())
		}
	})
}

// The zone has recovered while the process was restarted, so without the record nothing would trip.
func TestATripIsJournaledAndOutlivesARestart(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		evictor, book, client := &recorder{}, newNotebook(), zone(t, 4, 3)
		guarded := taintmanager.Options{Evictor: evictor, Journal: book, Guards: policy.Guards{Breakers: []policy.Breaker{zoneOutage()}}}
		before := start(t, client, guarded)
		time.Sleep(time.Minute)
		first := before.Trips()
		before.stop(t)
		paint(t, client, "node-0", nil)
		after := start(t, client, guarded)
		time.Sleep(30 * time.Second)
		wantEvicted(t, "half a minute after the restart", evictor)
		if trips := after.Trips(); len(trips) != 1 || !trips[0].Began.Equal(first[0].Began) {
			t.Errorf("got the trips %+v, want %+v", trips, first)
		}
		time.Sleep(time.Minute)
		wantEvicted(t, "a minute and a half", evictor, "pod-1", "pod-2")
	})
}

// A pause ends because of a restart without it: deleteAfter counts from the moment at which the next leader begins, and
// not from another restart after that.
func TestAPauseThatARestartEndsIsJournaled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		book, client := newNotebook(), aClient()
		lingering := taintmanager.Options{
			Evictor: budgeted{newClock()}, Journal: book, Policies: []policy.Policy{{Name: "lingering", Method: policy.Evict, DeleteAfter: lasting(time.Hour)}},
		}
		paused := lingering
		paused.Paused = true
		first := start(t, client, paused)
		time.Sleep(10 * time.Minute)
		first.stop(t)
		resumed := time.Now()
		second := start(t, client, lingering)
		time.Sleep(10 * time.Minute)
		second.stop(t)
		third := start(t, client, lingering)
		time.Sleep(time.Minute)
		views, err := third.Views(t.Context())
		if err != nil || len(views) != 1 || views[0].DeleteAt.Sub(resumed.Add(time.Hour)).Abs() > time.Second {
			t.Errorf("got %+v, %v; it is to be deleted an hour after %v", views, err, resumed)
		}
	})
}
