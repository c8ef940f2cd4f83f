package shard_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
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

	judge   policy.Judge
	untold  bool                        // the node has not been judged by this judge yet
	methods map[types.UID]policy.Method // of the calls under way
	refused map[types.UID]float64       // when a request was first refused
}

var (
	someUIDs = []types.UID{"a", "b", "c"}
	someKeys = []string{"gpu", "disk"}
)

func TestAShardKeepsItsPromises(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		m := newMachine(t)
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
			"policies":           m.reconfigure,
			"":                   func(*rapid.T) { m.forgetRefusals() },
		})
		m.drain(rt)
	})
}

func newMachine(t *testing.T) *machine {
	return &machine{
		play: newPlay(t), inFlight: map[types.UID]bool{}, accepted: map[types.UID]bool{},
		methods: map[types.UID]policy.Method{}, refused: map[types.UID]float64{},
	}
}

// reconfigure replaces the policies. The node is judged again by them now, or by the next event.
func (m *machine) reconfigure(rt *rapid.T) {
	var list []policy.Policy
	for i := range rapid.IntRange(0, 3).Draw(rt, "policies") {
		list = append(list, drawPolicy(rt, fmt.Sprintf("p%d", i)))
	}
	m.judge = judgeOf(m.t, list...)
	m.judge.Facts.Paused = rapid.IntRange(0, 4).Draw(rt, "paused") == 0
	m.step(m.now, shard.Reconfigured{Judge: m.judge})
	m.untold = true
	if rapid.Bool().Draw(rt, "told") {
		m.nodeChanged(m.now)
	}
}

func (m *machine) nodeChanged(second float64) {
	m.untold = false
	m.play.nodeChanged(second)
}

// drawPolicy draws a policy for some of the taints.
func drawPolicy(rt *rapid.T, name string) policy.Policy {
	duration := func(label string, most int64) *metav1.Duration {
		return &metav1.Duration{Duration: time.Duration(rapid.Int64Range(1, most).Draw(rt, label)) * time.Second}
	}
	p := policy.Policy{Name: name, Method: rapid.SampledFrom([]policy.Method{policy.Delete, policy.Evict, policy.Evict, policy.Hold, policy.Ignore}).Draw(rt, "method")}
	if rapid.IntRange(0, 4).Draw(rt, "audits") == 0 {
		p.Mode = policy.Audit
	}
	for _, key := range someKeys {
		if rapid.Bool().Draw(rt, "matches "+key) {
			p.Match.Taints = append(p.Match.Taints, policy.Taint{Key: key})
		}
	}
	if p.Method == policy.Evict && rapid.Bool().Draw(rt, "deletes") {
		p.DeleteAfter = duration("delete after", 90)
	}
	if (p.Method == policy.Evict || p.Method == policy.Delete) && rapid.Bool().Draw(rt, "tolerates") {
		p.Tolerations = &policy.Tolerations{Absent: duration("absent", 20), Unlimited: duration("unlimited", 20)}
	}
	return p
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
	if verdict := m.judge.Decide(pod, node); m.mayStart(uid, &verdict) != start.Method {
		rt.Fatalf("a call of method %q for %s at second %v, first refused at %v; want %q: %+v", start.Method, uid, m.now, m.refused[uid], m.mayStart(uid, &verdict), verdict)
	}
	m.methods[uid] = start.Method
	if m.inFlight[uid] || m.accepted[uid] {
		rt.Fatalf("a second call for %s", uid)
	}
	m.inFlight[uid] = true
}

// first returns the verdict of the earliest action.
func (m *machine) first(pod *taint.Pod, node *taint.Node) taint.Verdict {
	v := m.judge.Decide(pod, node)
	return v.First()
}

// mayStart returns the method of the call that may start now; empty if none may.
func (m *machine) mayStart(uid types.UID, v *policy.Verdict) policy.Method {
	refusedAt, refused := m.refused[uid]
	due := func(a *policy.Action) bool { return a.Evict && !a.At.After(at(m.now)) }
	long := refused && !at(refusedAt).Add(v.Delete.RefusedFor).After(at(m.now))
	switch {
	case due(&v.Delete) && (v.Delete.RefusedFor == 0 || long), due(&v.Unconditional) && v.Delete.RefusedFor > 0:
		return policy.Delete
	case due(&v.Evict):
		return policy.Evict
	}
	return ""
}

// forgetRefusals forgets the refusals of pods that are not to go any longer.
func (m *machine) forgetRefusals() {
	for uid := range m.refused {
		pod, node := m.Pod(uid)
		if pod == nil {
			delete(m.refused, uid)
		} else if v := m.judge.Decide(pod, node); !v.Goes() && !m.core.Tracked(uid).Queued && !m.inFlight[uid] {
			delete(m.refused, uid)
		}
	}
}

// wantNothingDue wants a reason for every pod that is due and not started: a call was accepted, is
// under way, or has left a wait behind, which Scheduled shows.
func (m *machine) wantNothingDue(rt *rapid.T) {
	if m.untold {
		return
	}
	for uid := range m.pods {
		pod, node := m.Pod(uid)
		verdict := m.first(pod, node)
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
	if _, before := m.refused[uid]; kind == eviction.Blocked && m.methods[uid] == policy.Evict && !before {
		m.refused[uid] = m.now
	}
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
		if verdict := m.first(pod, node); verdict.Evict && !m.accepted[uid] {
			rt.Fatalf("%s was never evicted: %v", uid, verdict)
		}
	}
	if n := m.core.Scheduled(); n != 0 {
		rt.Fatalf("%d evictions are still scheduled", n)
	}
}
