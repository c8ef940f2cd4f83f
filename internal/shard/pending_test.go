package shard_test

import (
	"cmp"
	"maps"
	"slices"
	"testing"

	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
)

// statesOf returns the number of evictions in each state.
func statesOf(p shard.Pending) map[eviction.State]int {
	states := map[eviction.State]int{}
	for class, count := range p.Counts {
		states[class.State] += count.N
	}
	return states
}

// checkCounts compares how many evictions the shard counts in which state, and shows, with what follows from each pod
// alone.
func (m *machine) checkCounts(rt *rapid.T) {
	want := map[eviction.State]int{}
	for _, uid := range someUIDs {
		if is := m.pendingOf(uid); is != "" {
			want[is]++
			m.states[is]++
			if view := m.view(m.now, uid); m.calls[uid] == nil && view.State != is {
				rt.Fatalf("the view of %s has the state %q, want %q", uid, view.State, is)
			}
		}
	}
	pending := m.core.Pending(at(m.now))
	if got := statesOf(pending); !maps.Equal(got, want) {
		rt.Fatalf("counted are %v, want %v", got, want)
	}
	for class := range pending.Counts {
		if !slices.Contains(shard.Classes(), class) {
			rt.Fatalf("the class %+v is not among all", class)
		}
	}
}

// judged forgets the outcomes of a pod that was judged to stay, or to be held.
func (m *machine) judged(uid types.UID) {
	pod, node := m.Pod(uid)
	if m.calls[uid] != nil {
		return
	}
	if pod == nil {
		delete(m.met, uid)
	} else if verdict := m.judge.Decide(pod, node); !verdict.Evicts() {
		delete(m.met, uid)
	}
}

// forgetMet forgets the outcomes of pods that a timer has judged to stay, or to be held, before the node was told.
func (m *machine) forgetMet() {
	for uid := range m.met {
		if m.view(m.now, uid).Attempts == 0 {
			m.judged(uid)
		}
	}
}

// callsFail makes calls for a pod that fail one after the other in the same way.
func (m *machine) callsFail(rt *rapid.T) {
	kind := rapid.SampledFrom([]eviction.Kind{eviction.Failed, eviction.Failed, eviction.Blocked, eviction.Refused}).Draw(rt, "kind")
	for range rapid.IntRange(1, 4).Draw(rt, "calls") {
		start := m.start(m.now)
		if start == nil {
			return
		}
		m.end(start.Pod.UID, eviction.Outcome{Kind: kind})
		m.takeIn(start.Pod.UID)
		m.now += 61 // longer than any backoff
	}
}

// callAccepted makes a call that the API server accepts, in a third of the cases, as no other follows for the pod.
func (m *machine) callAccepted(rt *rapid.T) {
	if rapid.IntRange(0, 2).Draw(rt, "skips") > 0 {
		return
	}
	if start := m.start(m.now); start != nil {
		m.end(start.Pod.UID, eviction.Outcome{Kind: eviction.Accepted})
		m.takeIn(start.Pod.UID)
	}
}

// pendingOf returns the state in which the eviction of a pod counts; "" if there is none.
func (m *machine) pendingOf(uid types.UID) eviction.State {
	pod, node := m.Pod(uid)
	m.judged(uid)
	switch {
	case pod != nil:
	case m.calls[uid] != nil:
		return cmp.Or(m.stuck(uid), eviction.StateDue)
	default:
		return ""
	}
	verdict := m.judge.Decide(pod, node)
	_, first := verdict.Earliest()
	switch {
	case m.accepted[uid]:
		return eviction.StateTerminating
	case m.calls[uid] == nil && !verdict.Evicts():
		if verdict.Held.By != 0 {
			return eviction.StateHeld
		}
		return ""
	}
	if m.calls[uid] == nil && first.At.After(at(m.now)) {
		return eviction.StateScheduled
	}
	return cmp.Or(m.stuck(uid), eviction.StateDue)
}

// stuck returns the state after the last outcomes of a pod's calls; "" if the eviction is not stuck.
func (m *machine) stuck(uid types.UID) eviction.State {
	met := m.met[uid]
	if len(met) == 0 {
		return ""
	}
	last := met[len(met)-1]
	alike := 0
	for i := len(met) - 1; i >= 0 && met[i].Outcome.Kind == last.Outcome.Kind && met[i].Request.Method == last.Request.Method; i-- {
		alike++
	}
	switch kind := last.Outcome.Kind; {
	case kind == eviction.Blocked:
		return eviction.StateBlocked
	case kind == eviction.Refused:
		return eviction.StateRefused
	case kind == eviction.Failed && alike >= 3, kind == eviction.Unconfirmed && alike >= 7:
		return eviction.StateDelayed
	}
	return ""
}

func TestTheOldestDeadlineOfEachStateIsThatOfWhatWaits(t *testing.T) {
	p := newPlay(t)
	for i, uid := range someUIDs {
		p.add(uid, bears("gpu", int64(i)))
	}
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.tried(1.5, blocked)
	want := map[shard.Class]shard.Count{
		{State: eviction.StateBlocked}: {N: 1, Oldest: at(0)}, {State: eviction.StateDue}: {N: 1, Oldest: at(1)},
		{State: eviction.StateScheduled}: {N: 1},
	}
	if got := p.core.Pending(at(1.5)).Counts; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := p.core.Pending(at(2.5)).Counts[shard.Class{State: eviction.StateDue}]; got != (shard.Count{N: 2, Oldest: at(1)}) {
		t.Errorf("of two that are due, got %v", got)
	}
	p.tried(2.5, accepted)
	if got := p.core.Pending(at(2.5)).Counts[shard.Class{State: eviction.StateTerminating}]; got != (shard.Count{N: 1, Oldest: at(0)}) {
		t.Errorf("of one that terminates, got %v", got)
	}
}

func TestPendingAsksOnlyForWhatIsOffered(t *testing.T) {
	p := newPlay(t)
	for i, uid := range []types.UID{"blocked", "offered", "also", "scheduled"} {
		p.add(uid, bears("gpu", int64(i)))
	}
	p.tolerate("scheduled", bears("gpu", 3600))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(3, "blocked")
	p.ended(3, "blocked", blocked)
	for _, second := range []float64{3, 5} { // at 5, the blocked one is offered again
		p.pass(second)
		p.asked = nil
		p.core.Pending(at(second))
		if slices.Sort(p.asked); !slices.Equal(p.asked, []types.UID{"also", "offered"}) {
			t.Errorf("second %v: asked for %v", second, p.asked)
		}
	}
}

func TestDuringAPauseWhatIsDueOrDelayedWaitsForItsEnd(t *testing.T) {
	p := newPlay(t)
	for i, uid := range []types.UID{"a", "due", "scheduled"} {
		p.add(uid, bears("gpu", int64(100*i)))
	}
	p.taint("gpu", 0)
	p.nodeChanged(0)
	for i := range 3 {
		p.tried(float64(10*i), failed(""))
	}
	p.judge = pausedJudge(p.judge)
	want := map[shard.Class]shard.Count{
		{State: eviction.StateDelayed, Waits: eviction.WaitsForPause}: {N: 1, Oldest: at(0)},
		{State: eviction.StateDue, Waits: eviction.WaitsForPause}:     {N: 1, Oldest: at(100)},
		{State: eviction.StateScheduled}:                              {N: 1},
	}
	if got := p.core.Pending(at(150)).Counts; !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
