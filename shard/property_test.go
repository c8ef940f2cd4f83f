package shard_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

func podUID(s string) types.UID { return types.UID(s) }

// machine plays a shard against random changes and outcomes, and holds what a shard promises.
type machine struct {
	*play
	now      float64
	inFlight map[types.UID]bool
	accepted map[types.UID]bool
	slow     shard.SlowWorkloads
}

var (
	someUIDs = []types.UID{"a", "b", "c"}
	someKeys = []string{"gpu", "disk"}
)

func TestAShardKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{play: newPlay(t), inFlight: map[types.UID]bool{}, accepted: map[types.UID]bool{}}
		rt.Repeat(map[string]func(*rapid.T){
			"time passes": func(rt *rapid.T) { m.now += rapid.Float64Range(0.001, 10).Draw(rt, "seconds") },
			"taint": func(rt *rapid.T) {
				m.taint(rapid.SampledFrom(someKeys).Draw(rt, "key"), m.now)
				m.nodeChanged(m.now)
			},
			"lift": func(rt *rapid.T) {
				m.lift(rapid.SampledFrom(someKeys).Draw(rt, "key"))
				m.nodeChanged(m.now)
			},
			"lift, not told yet": func(rt *rapid.T) { m.lift(rapid.SampledFrom(someKeys).Draw(rt, "key")) },
			"pod":                m.podComes,
			"pod gone":           m.podGoes,
			"permit":             m.permit,
			"slow workloads":     m.slowChange,
			"outcome":            m.outcome,
			"":                   func(*rapid.T) {},
		})
		m.drain(rt)
	})
}

func (m *machine) podComes(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	var tolerations []v1.Toleration
	for _, key := range someKeys {
		if rapid.Bool().Draw(rt, "bears "+key) {
			tolerations = append(tolerations, bears(key, rapid.Int64Range(-1, 20).Draw(rt, "seconds")))
		}
	}
	if _, there := m.pods[uid]; there {
		m.change(uid, func(pod *taint.Pod) { pod.Tolerations = tolerations })
	} else if m.inFlight[uid] || m.accepted[uid] {
		return // a UID does not come back
	} else {
		m.add(uid, tolerations...)
	}
	if rapid.Bool().Draw(rt, "labelled") {
		m.change(uid, func(pod *taint.Pod) { pod.Labels = map[string]string{"app": string(uid)} })
	}
	m.podChanged(m.now, uid)
}

// slowChange lets other workloads be slow. Shards may hear of it, or not before the next permit.
func (m *machine) slowChange(rt *rapid.T) {
	m.slow = shard.SlowWorkloads{}
	for _, uid := range someUIDs {
		if pod, _ := m.Pod(uid); pod != nil && rapid.Bool().Draw(rt, "slow "+string(uid)) {
			m.slow[shard.WorkloadOf(pod)] = rapid.Bool().Draw(rt, "busy")
		}
	}
	if rapid.Bool().Draw(rt, "heard") {
		m.step(m.now, shard.SlowChanged{Slow: m.slow})
	}
}

func (m *machine) podGoes(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	m.remove(uid)
	m.podChanged(m.now, uid)
}

// permit requires that a call starts, once, if and only if a pod is due now.
func (m *machine) permit(rt *rapid.T) {
	in := shard.Permitted{Slow: m.slow, SlowPlace: rapid.Bool().Draw(rt, "slow place")}
	start := m.step(m.now, in)
	if start == nil {
		m.wantNothingDue(rt)
		return
	}
	uid := start.Pod.UID
	pod, node := m.Pod(uid)
	if pod == nil {
		rt.Fatalf("a call for %s, which is gone", uid)
	}
	if busy, slow := m.slow[shard.WorkloadOf(pod)]; in.SlowPlace && !slow || !in.SlowPlace && busy {
		rt.Fatalf("a call for %s, slow: %v, busy: %v, in a slow place: %v", uid, slow, busy, in.SlowPlace)
	}
	verdict := taint.Decide(pod, node, taint.Rules{})
	if !verdict.Evict || verdict.At.After(at(m.now)) {
		rt.Fatalf("a call for %s at second %v, which %v", uid, m.now, verdict)
	}
	if m.inFlight[uid] || m.accepted[uid] {
		rt.Fatalf("a second call for %s", uid)
	}
	m.inFlight[uid] = true
}

// wantNothingDue wants a reason for every pod that is due and not started: a call was accepted, is
// under way, or has left a wait behind, which Scheduled shows.
func (m *machine) wantNothingDue(rt *rapid.T) {
	for uid := range m.pods {
		pod, node := m.Pod(uid)
		verdict := taint.Decide(pod, node, taint.Rules{})
		due := verdict.Evict && !verdict.At.After(at(m.now))
		if due && !m.inFlight[uid] && !m.accepted[uid] && m.core.Scheduled() == 0 {
			rt.Fatalf("%s is due, and nothing is scheduled", uid)
		}
	}
}

func (m *machine) outcome(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	if !m.inFlight[uid] {
		return
	}
	kind := rapid.SampledFrom([]eviction.Kind{
		eviction.Accepted, eviction.NotFound, eviction.Unavailable, eviction.Throttled, eviction.Failed, eviction.Blocked, eviction.Refused, eviction.Interrupted,
	}).Draw(rt, "kind")
	delete(m.inFlight, uid)
	m.accepted[uid] = kind == eviction.Accepted
	m.ended(m.now, uid, eviction.Outcome{Kind: kind})
}

// drain accepts every deletion from now on. It requires that all due pods are evicted, and that the shard is empty
// then.
func (m *machine) drain(rt *rapid.T) {
	for uid := range m.inFlight {
		m.ended(m.now, uid, eviction.Outcome{Kind: eviction.Failed})
	}
	m.inFlight = map[types.UID]bool{}
	m.nodeChanged(m.now)
	m.now += 1000
	m.step(m.now, shard.SlowChanged{})
	for {
		start := m.step(m.now, shard.Permitted{})
		if start == nil {
			break
		}
		m.accepted[start.Pod.UID] = true
		m.ended(m.now, start.Pod.UID, eviction.Outcome{Kind: eviction.Accepted})
	}
	for uid := range m.pods {
		pod, node := m.Pod(uid)
		if verdict := taint.Decide(pod, node, taint.Rules{}); verdict.Evict && !m.accepted[uid] {
			rt.Fatalf("%s was never evicted: %v", uid, verdict)
		}
	}
	if n := m.core.Scheduled(); n != 0 {
		rt.Fatalf("%d evictions are still scheduled", n)
	}
}
