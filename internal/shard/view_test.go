package shard_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func TestViewsTellTheStateOfEachEviction(t *testing.T) {
	for _, c := range []struct {
		name     string
		play     func(p *play)
		at       float64
		want     eviction.State
		next     float64 // seconds; -1: none
		attempts int
		last     eviction.Outcome
	}{
		{"before its deadline", func(*play) {}, 3, eviction.StateScheduled, 4, 0, eviction.Outcome{}},
		{"from its deadline on", func(*play) {}, 4, eviction.StateDue, 4, 0, eviction.Outcome{}},
		{"once it is offered", func(p *play) { p.pass(4) }, 5, eviction.StateDue, 4, 0, eviction.Outcome{}},
		{"while a call is under way", func(p *play) { p.wantStart(4, "a") }, 5, eviction.StateInFlight, -1, 1, eviction.Outcome{}},
		{"while a call is under way, and the taint is lifted", func(p *play) { p.wantStart(4, "a"); p.lift("gpu"); p.nodeChanged(5) }, 5, eviction.StateInFlight, -1, 1, eviction.Outcome{}},
		{"when its call has ended, which is not taken in", func(p *play) { p.wantStart(4, "a"); p.end("a", blocked) }, 5, eviction.StateInFlight, -1, 1, eviction.Outcome{}},
		{"when it was accepted and the pod is still there", func(p *play) { p.tried(4, accepted) }, 5, eviction.StateTerminating, -1, 1, accepted},
		{"when a budget blocks it", func(p *play) { p.tried(4, blocked) }, 4.1, eviction.StateBlocked, 4.375, 1, blocked},
		{"when a budget blocks it, and it is offered again", func(p *play) { p.tried(4, blocked); p.pass(5) }, 5, eviction.StateBlocked, 4.375, 1, blocked},
		{"after one failure", func(p *play) { p.tried(4, failed("")) }, 4.01, eviction.StateDue, 4.075, 1, failed("")},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTaintedPlay(t, 4)
			c.play(p)
			views := p.core.Views(at(c.at))
			if len(views) != 1 {
				t.Fatalf("got %+v", views)
			}
			v := views[0]
			if v.State != c.want || v.Pod.UID != "a" || !v.Verdict.At.Equal(at(4)) || v.Verdict.Taint.Key != "gpu" || v.Attempts != c.attempts || v.Last != c.last {
				t.Errorf("got %+v", v)
			}
			if c.next >= 0 && !v.Next.Equal(at(c.next)) || c.next < 0 && !v.Next.IsZero() {
				t.Errorf("next try at %v", v.Next)
			}
		})
	}
}

func TestAViewNamesThePolicyAndWhenThePodIsDeleted(t *testing.T) {
	p := newPolicyPlay(t, evicting(90*time.Second))
	want := func(second float64, m policy.Method, deleteAt float64) {
		t.Helper()
		v := p.core.Views(at(second))[0]
		if v.Policy != "gpu" || v.Method != m || !v.DeleteAt.Equal(at(deleteAt)) || !v.Verdict.At.Equal(at(4)) {
			t.Errorf("second %v: got %+v", second, v)
		}
	}
	want(1, policy.Evict, 94)
	p.tried(50, blocked)
	want(51, policy.Evict, 110)
	want(110, policy.Delete, 110)
	p.wantStart(110, "a")
	if v := p.core.Views(at(110))[0]; v.State != eviction.StateInFlight || v.Method != policy.Delete || v.Attempts != 2 {
		t.Errorf("during the deletion: got %+v", v)
	}
}

func TestAViewOfADeletionHasNoTimeOfAnother(t *testing.T) {
	if v := newPolicyPlay(t, of("gpu", policy.Delete)).view(1, "a"); !v.DeleteAt.IsZero() {
		t.Errorf("got %+v", v)
	}
}

// The deadline has moved, and the shard has not judged the pod again.
func TestAViewByACacheThatIsNewerThanTheShardHasTheNewDeadline(t *testing.T) {
	p := newPolicyPlay(t, evicting(90*time.Second))
	p.tolerate("a", bears("gpu", 3600))
	if v := p.view(4, "a"); v.Method != policy.Evict || !v.Verdict.At.Equal(at(3600)) {
		t.Errorf("got %+v", v)
	}
}

func TestTheNextTryIsTheEndOfTheWaitOrTheDeletionThatMayNeedNoToken(t *testing.T) {
	for _, c := range []struct {
		cause  eviction.WaitCause
		policy policy.Policy
		want   float64
	}{
		{eviction.WaitsForRate, evicting(90 * time.Second), 94},
		{eviction.WaitsForServer, evicting(90 * time.Second), 100},
		{eviction.WaitsForRate, of("gpu", policy.Evict), 100},
	} {
		p := newPolicyPlay(t, c.policy)
		p.tried(4, blocked)
		p.pass(10)
		p.waits, p.until = eviction.Wait{Cause: c.cause}, at(100)
		if v := p.view(10, "a"); !v.Next.Equal(at(c.want)) {
			t.Errorf("%s, deleteAfter %v: next at %v, want second %v", c.cause, c.policy.DeleteAfter, v.Next, c.want)
		}
	}
}

func TestOfManyEvictionsTheEarliestAreShown(t *testing.T) {
	p := newTaintedPlay(t, 4)
	for i := range 500 {
		p.add(types.UID(fmt.Sprint("p", i)), bears("gpu", int64(5+i*7919%500)))
	}
	p.nodeChanged(0)
	all := len(p.core.Views(at(1)))
	for _, most := range []int{1, 2, 100, 249, 250, 251, 501, 502, 1000, math.MaxInt} {
		views, left := p.core.Earliest(at(1), most)
		if len(views) != min(most, all) || left != all-len(views) {
			t.Errorf("at most %d: got %d, left %d of %d", most, len(views), left, all)
		}
		for _, v := range views {
			if v.Verdict.At.After(at(float64(3 + min(most, all)))) { // one is due in each second from the fourth on
				t.Errorf("at most %d: one is due at %v", most, v.Verdict.At)
			}
		}
	}
}
