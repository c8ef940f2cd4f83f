package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"slices"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// world is a cluster in which pods come and go; the same flags make the same cluster.
type world struct {
	history status.History
	scene   string
	rate    float64
	start   time.Time
	spread  time.Duration // how far ahead the latest deadline is

	mu     sync.Mutex
	random *rand.Rand
	views  []eviction.View
	nodes  []*taint.Node
	made   int
	added  int // since the start

	admitted int // since the start
}

var (
	taints = []v1.Taint{
		{Key: "node.kubernetes.io/unreachable", Effect: v1.TaintEffectNoExecute},
		{Key: "maintenance", Value: "kernel", Effect: v1.TaintEffectNoExecute},
		{Key: "gpu", Value: "degraded", Effect: v1.TaintEffectNoExecute},
	}
	apps       = []string{"web", "api", "worker", "cache", "search", "ingest", "billing", "auth"}
	namespaces = []string{"default", "shop", "payments", "data", "platform"}
)

func newWorld(scheduled, nodes int, rate float64, scene string) *world {
	w := &world{scene: scene, rate: rate, start: time.Now(), random: rand.New(rand.NewPCG(1, 2))}
	for i := range nodes {
		since := w.start.Add(-time.Duration(w.random.IntN(3600)) * time.Second)
		history := taint.History{{Taint: taints[i%len(taints)], Since: since}}
		w.nodes = append(w.nodes, &taint.Node{
			Name: fmt.Sprintf("node-%03d", i), UID: types.UID(fmt.Sprint("node-", i)),
			Taints: []taint.History{history},
		})
	}
	w.spread = 900 * time.Second
	if rate > 0 {
		w.spread = time.Duration(float64(scheduled) / rate * float64(time.Second))
	}
	for i := range scheduled {
		w.add(w.start.Add(w.spread * time.Duration(i+1) / time.Duration(scheduled)))
	}
	if scene == "backlog" {
		w.dueNow()
		return w
	}
	w.past(min(int(rate*1800), 30000))
	if scene != "calm" {
		w.hinder()
	}
	if scene == "policies" {
		w.decide()
	}
	return w
}

// dueNow makes all evictions due, ten seconds ago.
func (w *world) dueNow() {
	for i := range w.views {
		w.views[i].Verdict.At = w.start.Add(-10 * time.Second)
		w.views[i].Next = w.views[i].Verdict.At
		w.views[i].State = eviction.StateDue
	}
}

// admits reports whether one more eviction may start: in the scene with a backlog, the rate limits them.
func (w *world) admits(now time.Time) bool {
	if w.scene != "backlog" {
		return true
	}
	if float64(w.admitted) >= now.Sub(w.start).Seconds()*w.rate {
		return false
	}
	w.admitted++
	return true
}

// add schedules one more eviction; the busiest nodes get the most.
func (w *world) add(deadline time.Time) {
	node := w.nodes[int(float64(len(w.nodes))*w.random.Float64()*w.random.Float64())]
	grace := int64(300)
	app := apps[w.random.IntN(len(apps))]
	hash := fmt.Sprintf("%08x", len(app)*91125)
	t := &node.Taints[0][0].Taint
	w.made++
	w.views = append(w.views, eviction.View{
		Pod: &taint.Pod{
			UID:       types.UID(fmt.Sprintf("%08x-0000-4000-8000-%012x", w.random.Uint32(), w.made)),
			Namespace: namespaces[w.random.IntN(len(namespaces))],
			Name:      fmt.Sprintf("%s-%s-%05x", app, hash, w.random.IntN(1<<20)), Node: node.Name,
			Labels:     map[string]string{"pod-template-hash": hash},
			Controller: &taint.Owner{Kind: "ReplicaSet", Name: app + "-" + hash},
		},
		Verdict: taint.Verdict{
			Evict: true, At: deadline, Start: deadline.Add(-300 * time.Second), Node: node.Name, Taint: t,
			Toleration: &v1.Toleration{
				Key: t.Key, Operator: v1.TolerationOpExists, Effect: t.Effect, TolerationSeconds: &grace,
			},
		},
		State: eviction.StateScheduled, Next: deadline,
	})
}

// past adds evictions that ended before the start.
func (w *world) past(n int) {
	for i := range n {
		v := w.views[i%max(len(w.views), 1)]
		ago := time.Duration(float64(n-i) / w.rate * float64(time.Second))
		v.Verdict.At = w.start.Add(-ago)
		pod := *v.Pod
		pod.UID = types.UID(fmt.Sprint("past-", i))
		v.Pod = &pod
		w.end(v, v.Verdict.At.Add(time.Duration(5+w.random.IntN(40)+i%700)*time.Millisecond))
	}
}

func (w *world) end(v eviction.View, at time.Time) {
	w.history.Ended(eviction.Request{Pod: v.Pod, Verdict: v.Verdict, Attempt: 1},
		eviction.Outcome{Kind: eviction.Accepted}, at)
}

// decide adds policies: every third eviction is held, others wait for a rate or have a policy.
func (w *world) decide() {
	for i := range w.views {
		v := &w.views[i]
		switch {
		case v.State != eviction.StateScheduled:
		case i%3 == 0:
			v.Policy, v.State = "quarantine", eviction.StateHeld
			v.Held = policy.Held{By: policy.HeldByPolicy, Name: v.Policy, Policy: v.Policy, Verdict: v.Verdict}
		case i%3 == 1:
			v.Policy, v.Method, v.DeleteAt = "maintenance-databases", policy.Evict, v.Verdict.At.Add(90*time.Minute)
		case i < len(w.views)/4:
			v.Method, v.State = policy.Delete, eviction.StateDue
			v.Waits = eviction.Wait{Cause: eviction.WaitsForRate, Rate: "dead-nodes-by-zone"}
			v.Verdict.At = w.start.Add(-time.Duration(i) * time.Second)
		}
	}
}

// hinder makes some evictions blocked, refused or failed.
func (w *world) hinder() {
	outcomes := []eviction.Outcome{
		{Kind: eviction.Blocked, Cause: "pdb", Message: "Cannot evict pod as it would violate the pod's disruption budget. The disruption budget web needs 3 healthy pods and has 3 currently"},
		{
			Kind: eviction.Refused, Cause: "admission",
			Message: `admission webhook "freeze.example.com" denied the request: changes are frozen until Monday`,
		},
		{Kind: eviction.Failed, Cause: "timeout", Message: "the server did not answer within 35s"},
	}
	for i := range min(7, len(w.views)) {
		v := &w.views[i*len(w.views)/40]
		v.Verdict.At = w.start.Add(-time.Duration(20+i*11) * time.Second)
		v.Verdict.Start = v.Verdict.At.Add(-300 * time.Second)
		v.State, v.Last, v.Attempts = outcomes[i%3].Stuck(), outcomes[i%3], 3+i
		v.Next = w.start.Add(time.Duration(4+9*i) * time.Second)
	}
}

// step advances the world: the number of evictions that end equals the number that are added.
func (w *world) step(context.Context) {
	w.mu.Lock()
	defer w.mu.Unlock()
	now := time.Now()
	for i := range w.views {
		v := &w.views[i]
		switch {
		case v.Last.Kind != 0 && now.After(v.Next):
			v.Attempts++
			v.Next = now.Add(15 * time.Second)
		case v.Held.By != 0 || v.Waits.Cause != "":
		case v.State == eviction.StateScheduled && now.After(v.Verdict.At):
			v.State = eviction.StateDue
		case v.State == eviction.StateDue && w.admits(now):
			v.State, v.Attempts, v.Next = eviction.StateInFlight, 1, time.Time{}
		}
	}
	w.views = slices.DeleteFunc(w.views, func(v eviction.View) bool {
		over := v.State == eviction.StateInFlight && now.Sub(v.Verdict.At) > 300*time.Millisecond
		if over {
			w.end(v, now)
		}
		return over
	})
	if w.rate > 0 && w.scene != "backlog" {
		gap := time.Duration(float64(time.Second) / w.rate)
		for ; now.Sub(w.start) > time.Duration(w.added)*gap; w.added++ {
			w.add(now.Add(w.spread))
		}
	}
}

// Earliest returns the views of at most this many evictions, and the number of the others.
func (w *world) Earliest(_ context.Context, most int) (views []eviction.View, left int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	shown := min(most, len(w.views))
	return slices.Clone(w.views[:shown]), len(w.views) - shown, nil
}

// Tainted returns all nodes.
func (w *world) Tainted() []*taint.Node { return w.nodes }

// manager returns what the scene shows of the manager.
func (w *world) manager() status.Manager {
	const self, other = "taint-manager-6c9f7-x2k4p_7d0c", "taint-manager-6c9f7-b8w1z_91aa"
	m := status.Manager{
		Identity: self, Role: status.Leading, Leader: self, Version: "v0.0.0-synthetic", Cluster: "prod-eu-1",
		EvictionMethod: "evict", Synced: w.scene != "starting", DryRun: w.scene == "dry-run",
	}
	switch w.scene {
	case "standby":
		m.Role, m.Leader = status.Standby, other
	case "trouble":
		m.Trouble = "pods can't be watched since " + taint.Stamp(w.start) + ": connection refused"
	case "original":
		f := builtin.Finding{Pod: "shop/web-0", Node: "node-0", Writer: "kube-controller-manager", At: w.start}
		m.Warning = f.Warning([]string{"policy quarantine (method: Hold)"})
	case "policies":
		m.Paused, m.Policies = true, []string{"quarantine", "maintenance-databases"}
		m.Trips = []status.Trip{{Breaker: "zone-outage", Group: "eu-1a", Since: w.start}}
		m.Idle = []string{"breaker databases can never trip: its nodeSelector selects no node"}
	}
	return m
}
