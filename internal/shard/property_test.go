package shard_test

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// machine plays a shard against random changes and outcomes, and holds what a shard promises.
type machine struct {
	*play
	now      float64
	accepted map[types.UID]bool
	refused  map[types.UID]float64           // when a request was first refused
	met      map[types.UID][]*dispatch.Ended // of the present eviction
	states   map[eviction.State]int          // how often a check has seen each

	rated  bool // by the judge
	untold bool // the node has not been judged by this judge, or with these taints, yet
}

var (
	someUIDs = []types.UID{"a", "b", "c"}
	someKeys = []string{"gpu", "disk"}
)

func TestAShardKeepsItsPromises(t *testing.T) {
	states := map[eviction.State]int{}
	for rounds := 0; rounds == 0 || len(states) < 7 && rounds < 20; rounds++ {
		playHistories(t, states)
	}
	if len(states) < 7 {
		t.Errorf("the histories are too calm: only these states were seen: %v", states)
	}
}

// playHistories plays random histories, and counts the states that it has seen.
func playHistories(t *testing.T, states map[eviction.State]int) {
	rapid.Check(t, func(rt *rapid.T) {
		m := &machine{
			play: newPlay(t), accepted: map[types.UID]bool{}, refused: map[types.UID]float64{},
			met: map[types.UID][]*dispatch.Ended{}, states: states,
		}
		m.settled = m.meets
		rt.Repeat(map[string]func(*rapid.T){
			"time passes": func(rt *rapid.T) { m.now += rapid.Float64Range(0.001, 10).Draw(rt, "seconds") },
			"taint": func(rt *rapid.T) {
				m.taint(rapid.SampledFrom(someKeys).Draw(rt, "key"), m.now)
				m.told()
			},
			"lift": func(rt *rapid.T) {
				m.lift(rapid.SampledFrom(someKeys).Draw(rt, "key"))
				m.tell(rt)
			},
			"pod":          m.podComes,
			"pod gone":     m.podGoes,
			"pod ends":     m.podEnds,
			"call":         m.call,
			"call ends":    m.callEnds,
			"take outcome": func(rt *rapid.T) { m.takeIn(rapid.SampledFrom(someUIDs).Draw(rt, "uid")) },
			"calls fail":   m.callsFail,
			"fail again":   m.callsFail,
			"accepted":     m.callAccepted,
			"policies":     m.reconfigure,
			"":             m.check,
		})
		m.drain(rt)
	})
}

func (m *machine) told() {
	m.untold = false
	m.nodeChanged(m.now)
}

// tell has the node judged now, or by the next event.
func (m *machine) tell(rt *rapid.T) {
	m.untold = true
	if rapid.Bool().Draw(rt, "told") {
		m.told()
	}
}

func (m *machine) reconfigure(rt *rapid.T) {
	var list []policy.Policy
	for i := range rapid.IntRange(0, 3).Draw(rt, "policies") {
		list = append(list, drawPolicy(rt, fmt.Sprintf("p%d", i)))
	}
	var guards policy.Guards
	if m.rated = rapid.Bool().Draw(rt, "rates"); m.rated {
		guards.Rates = []policy.Rate{{Name: "all", EvictionsPerSecond: 1, Burst: 1}}
	}
	m.judge = judgeWith(m.t, guards, list...)
	m.tell(rt)
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
		p.GracePeriod = &policy.GracePeriod{Max: *duration("grace", 20)}
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
		m.tolerate(uid, tolerations...)
	} else if m.calls[uid] != nil || m.accepted[uid] {
		return // a UID does not come back
	} else {
		m.add(uid, tolerations...)
	}
	m.change(uid, func(pod *taint.Pod) { pod.Priority = rapid.Int32Range(0, 1).Draw(rt, "priority") })
	m.podChanged(m.now, uid)
	m.judged(uid)
}

func (m *machine) podGoes(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	m.remove(uid)
	m.podChanged(m.now, uid)
	m.judged(uid)
}

// podEnds has a pod terminate or finish, which may be because of an accepted call, or not.
func (m *machine) podEnds(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	finishes := rapid.IntRange(0, 3).Draw(rt, "finishes") == 0
	m.change(uid, func(pod *taint.Pod) {
		if pod.Terminating = true; finishes {
			pod.Phase = v1.PodFailed
		}
	})
	m.podChanged(m.now, uid)
	m.judged(uid)
}

// call starts a call, if a candidate waits.
func (m *machine) call(rt *rapid.T) {
	start := m.start(m.now)
	if start != nil && m.accepted[start.Pod.UID] {
		rt.Fatalf("a call for %s after one was accepted", start.Pod.UID)
	}
}

func (m *machine) callEnds(rt *rapid.T) {
	uid := rapid.SampledFrom(someUIDs).Draw(rt, "uid")
	kind := rapid.SampledFrom([]eviction.Kind{
		eviction.Accepted, eviction.NotFound, eviction.Unavailable, eviction.Throttled, eviction.Failed, eviction.Blocked, eviction.Refused, eviction.Interrupted,
	}).Draw(rt, "kind")
	if m.calls[uid] != nil && m.turns.ended[uid] == nil {
		m.end(uid, eviction.Outcome{Kind: kind})
	}
}

// takeIn has the shard take in the outcome of a call that has ended.
func (m *machine) takeIn(uid types.UID) {
	if m.turns.ended[uid] != nil {
		m.podChanged(m.now, uid)
		m.judged(uid)
	}
}

// meets notes what the shard takes in.
func (m *machine) meets(o *dispatch.Ended) {
	uid := o.Request.Pod.UID
	m.accepted[uid] = o.Outcome.Kind == eviction.Accepted
	m.met[uid] = append(m.met[uid], o)
	if _, before := m.refused[uid]; o.Outcome.Kind == eviction.Blocked && o.Request.Method == policy.Evict && !before {
		m.refused[uid] = m.now
	}
}

// mayStart returns the method of the call that may start now, and because of which action; empty if none may.
func (m *machine) mayStart(uid types.UID, v *policy.Verdict) (policy.Method, *policy.Action) {
	refusedAt, refused := m.refused[uid]
	due := func(a *policy.Action) bool { return a.Evict && !a.At.After(at(m.now)) }
	long := refused && !at(refusedAt).Add(v.Delete.RefusedFor).After(at(m.now))
	switch {
	case due(&v.Delete) && (v.Delete.RefusedFor == 0 || long):
		return policy.Delete, &v.Delete
	case due(&v.Unconditional) && v.Delete.RefusedFor > 0:
		return policy.Delete, &v.Unconditional
	case due(&v.Request):
		return policy.Evict, &v.Request
	}
	return "", nil
}

// checkRequest requires that a request is the one that may start, with what its policy says.
func (m *machine) checkRequest(rt *rapid.T, r *eviction.Request, v *policy.Verdict) {
	method, action := m.mayStart(r.Pod.UID, v)
	if r.Method != method {
		rt.Fatalf("%s is offered by %q, want %q: %+v", r.Pod.UID, r.Method, method, v)
	}
	byRefusal := method == policy.Delete && v.Delete.RefusedFor > 0 // then an earlier one may be permitted as well
	grace := policy.GracePeriodSeconds(nil, action.GracePeriod)
	same := r.Verdict.At.Equal(action.At) && r.Verdict.Taint.Key == action.Taint.Key && r.Policy == action.Policy
	if !byRefusal && (!same || !ptr.Equal(r.GracePeriodSeconds, grace)) {
		rt.Fatalf("%s is offered as %+v, want %+v", r.Pod.UID, r, action)
	}
}

// check compares what is offered with what may start: all that is due, has no call and does not wait after a call.
func (m *machine) check(rt *rapid.T) {
	m.forgetRefusals()
	m.pass(m.now)
	for _, note := range m.notes {
		if note.Kind == eviction.EvictionCancelled && m.accepted[note.Pod.UID] {
			rt.Fatalf("the eviction of %s was accepted, and is cancelled: %+v", note.Pod.UID, note)
		}
	}
	m.notes = nil
	if m.untold {
		m.forgetMet()
		return
	}
	m.checkCounts(rt)
	for uid := range m.pods {
		pod, node := m.Pod(uid)
		verdict := m.judge.Decide(pod, node)
		method, _ := m.mayStart(uid, &verdict)
		view := m.view(m.now, uid)
		candidate, offered := m.waiting[uid]
		switch {
		case m.calls[uid] != nil, m.accepted[uid]:
			if offered || queued(&view) {
				rt.Fatalf("%s is offered while a call is under way, or after one was accepted", uid)
			}
		case method != "" && !queued(&view):
			rt.Fatalf("%s is due, and does not wait", uid)
		case offered != (method != "" && queued(&view) && !view.Next.After(at(m.now))):
			rt.Fatalf("%s is offered: %v, though %q is due, at %v", uid, offered, method, view.Next)
		}
		for i := range candidate.Requests {
			request, verdict := &candidate.Requests[i], m.judge.Decide(pod, node)
			m.checkRequest(rt, request, &verdict)
			node = node.Without(request.Verdict.Taint.Key)
		}
		if offered && (!candidate.Deadline.Equal(candidate.Requests[0].Verdict.At) || candidate.Priority != pod.Priority || candidate.Node != pod.Node) {
			rt.Fatalf("%s is offered as %+v", uid, candidate)
		}
		verdict = m.judge.Decide(pod, node)
		more, _ := m.mayStart(uid, &verdict)
		if more == policy.Evict && len(m.met[uid]) > 0 {
			more = "" // the wait after the last call may not be over
		}
		if offered && (m.rated && more != "" || !m.rated && len(candidate.Requests) != 1) {
			rt.Fatalf("%s is offered in %d ways, rates: %v, and may go by %q, too", uid, len(candidate.Requests), m.rated, more)
		}
	}
	for uid := range m.waiting {
		if pod, _ := m.Pod(uid); pod == nil {
			rt.Fatalf("%s is offered, and is gone", uid)
		}
	}
}

// forgetRefusals forgets the refusals of pods that are not to go any longer.
func (m *machine) forgetRefusals() {
	for uid := range m.refused {
		pod, node := m.Pod(uid)
		if pod == nil {
			delete(m.refused, uid)
		} else if v, view := m.judge.Decide(pod, node), m.view(m.now, uid); !v.Evicts() && !queued(&view) && m.calls[uid] == nil {
			delete(m.refused, uid)
		}
	}
}

// drain accepts every deletion from now on. It requires that all due pods are evicted, and that the shard is empty once
// they are gone.
func (m *machine) drain(rt *rapid.T) {
	for _, uid := range someUIDs {
		m.takeIn(uid)
		if m.calls[uid] != nil {
			m.ended(m.now, uid, failed(""))
		}
	}
	m.told()
	m.now += 1000
	for start := m.start(m.now); start != nil; start = m.start(m.now) {
		m.accepted[start.Pod.UID] = true
		m.ended(m.now, start.Pod.UID, accepted)
	}
	for uid := range m.pods {
		pod, node := m.Pod(uid)
		if verdict := m.judge.Decide(pod, node); verdict.Evicts() && !m.accepted[uid] {
			rt.Fatalf("%s was never evicted: %v", uid, verdict)
		}
		m.remove(uid)
		m.podChanged(m.now, uid)
	}
	if m.core.Tracks() != 0 || m.core.Scheduled() != 0 || m.core.Held() != 0 || len(m.waiting) != 0 {
		rt.Fatalf("%d evictions are left, %d are scheduled, %d held, %d offered", m.core.Tracks(), m.core.Scheduled(), m.core.Held(), len(m.waiting))
	}
}
