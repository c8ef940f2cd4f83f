package shard_test

import (
	"cmp"
	"slices"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// checkCounts compares how many evictions the shard counts in which state with what follows from each pod alone.
func (m *machine) checkCounts(rt *rapid.T) {
	var want eviction.PendingCounts
	for _, uid := range someUIDs {
		if is := m.pendingOf(uid); is != 0 {
			want[is]++
			m.states[is]++
		}
	}
	if got := m.core.Pending(at(m.now)).Counts; got != want {
		rt.Fatalf("counted are %v, want %v", got, want)
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

// pendingOf returns the state in which the eviction of a pod counts; 0 if there is none.
func (m *machine) pendingOf(uid types.UID) eviction.Pending {
	pod, node := m.Pod(uid)
	m.judged(uid)
	switch {
	case pod != nil:
	case m.calls[uid] != nil:
		return cmp.Or(m.stuck(uid), eviction.PendingDue)
	default:
		return 0
	}
	verdict := m.judge.Decide(pod, node)
	_, first := verdict.Earliest()
	switch {
	case m.accepted[uid]:
		return eviction.PendingTerminating
	case m.calls[uid] == nil && !verdict.Evicts():
		if verdict.Held.By != 0 {
			return eviction.PendingHeld
		}
		return 0
	}
	if m.calls[uid] == nil && first.At.After(at(m.now)) {
		return eviction.PendingScheduled
	}
	return cmp.Or(m.stuck(uid), eviction.PendingDue)
}

// stuck returns the state after the last outcomes of a pod's calls; 0 if they do not count as delayed.
func (m *machine) stuck(uid types.UID) eviction.Pending {
	met := m.met[uid]
	if len(met) == 0 {
		return 0
	}
	last := met[len(met)-1]
	alike := 0
	for i := len(met) - 1; i >= 0 && met[i].Outcome.Kind == last.Outcome.Kind && met[i].Request.Method == last.Request.Method; i-- {
		alike++
	}
	switch kind := last.Outcome.Kind; {
	case kind == eviction.Blocked:
		return eviction.PendingBlocked
	case kind == eviction.Refused:
		return eviction.PendingRefused
	case kind == eviction.Failed && alike >= 3, kind == eviction.Unconfirmed && alike >= 7:
		return eviction.PendingDelayed
	}
	return 0
}

func TestAnEvictionWhoseDeadlineComesDuringABackoffIsDueFromThenOn(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.tried(0.95, failed("")) // the next call is at 1.025
	p.tolerate("a", bears("gpu", 1))
	p.podChanged(0.96, "a")
	if got := p.core.Pending(at(0.96)).Counts; got[eviction.PendingScheduled] != 1 {
		t.Errorf("before its deadline: counted are %v", got)
	}
	p.pass(1)
	if got := p.core.Pending(at(1)).Counts; got[eviction.PendingDue] != 1 || len(p.waiting) != 0 {
		t.Errorf("at its deadline: counted are %v, %d are offered", got, len(p.waiting))
	}
	p.wantStart(1.03, "a")
}

func TestTheOldestDeadlineOfEachStateIsThatOfWhatWaits(t *testing.T) {
	p := newPlay(t)
	for i, uid := range someUIDs {
		p.add(uid, bears("gpu", int64(i)))
	}
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.tried(1.5, blocked)
	var want eviction.PendingTimes
	want[eviction.PendingBlocked], want[eviction.PendingDue] = at(0), at(1)
	if got := p.core.Pending(at(1.5)).Oldest; got != want {
		t.Errorf("got %v, want %v", got, want)
	}
}

func TestAnEvictionThatIsNoLongerDueIsScheduledAlsoAfterABlockedCall(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.tried(0.95, blocked)
	p.tolerate("a", bears("gpu", 3600))
	p.podChanged(2, "a")
	want := func(second float64, is eviction.Pending, state eviction.State) {
		t.Helper()
		p.pass(second)
		views := p.core.Views(at(second))
		got := p.core.Pending(at(second))
		if got.Counts[is] != 1 || len(views) != 1 || views[0].State != state {
			t.Errorf("at %v counted are %v, views are %+v", second, got, views)
		}
		if is == eviction.PendingScheduled && got.Oldest != (eviction.PendingTimes{}) {
			t.Errorf("at %v the oldest are %v", second, got.Oldest)
		}
	}
	want(30, eviction.PendingScheduled, eviction.Scheduled)
	want(3599, eviction.PendingScheduled, eviction.Scheduled)
	want(3600, eviction.PendingBlocked, eviction.Delayed)
}

func TestAnAcceptedEvictionCountsUntilThePodIsGone(t *testing.T) {
	for name, change := range map[string]func(*taint.Pod){
		"terminates":              func(pod *taint.Pod) { pod.Terminating = true },
		"terminates, and is done": func(pod *taint.Pod) { pod.Terminating, pod.Phase = true, v1.PodSucceeded },
	} {
		p := newTaintedPlay(t, 0)
		p.tried(0.95, accepted)
		p.change("a", change)
		p.podChanged(1, "a")
		p.lift("gpu")
		p.nodeChanged(2)
		p.taint("gpu", 3)
		p.nodeChanged(3)
		p.wantNone(1000)
		if got := p.core.Pending(at(1000)); got.Counts[eviction.PendingTerminating] != 1 || !got.Oldest[eviction.PendingTerminating].Equal(at(0)) {
			t.Errorf("%s: counted are %v", name, got)
		}
		p.wantNotes()
		p.remove("a")
		p.podChanged(1001, "a")
		if got := p.core.Pending(at(1001)).Counts; got != (eviction.PendingCounts{}) || p.core.Tracks() != 0 {
			t.Errorf("%s: it is gone, and counted are %v", name, got)
		}
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
	p.asked = nil
	p.core.Pending(at(3))
	if slices.Sort(p.asked); !slices.Equal(p.asked, []types.UID{"also", "offered"}) {
		t.Errorf("asked for %v", p.asked)
	}
}
