package shard_test

import (
	"context"
	"fmt"
	"maps"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
)

func TestAShardOffersEachEvictionAtItsDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.Options{})
		r.put("n", "", 3)
		r.bears("n-0", bears("gpu", 4))
		r.bears("n-1", bears("gpu", 2))
		r.bears("n-2")
		r.wantGone(60, "n-0 at 4", "n-1 at 2", "n-2 at 0")
	})
}

func TestWhatIsReportedBeforeRunIsNotLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReal(t, dispatch.Options{}, shard.Options{})
		r.put("n", "", 2)
		r.NodeChanged("n")
		r.PodChanged("n-1")
		r.sleep(5)
		r.background(r.Run)
		r.wantGone(10, "n-0 at 5", "n-1 at 5")
	})
}

func TestNoOutcomeWaitsForTheShardAndNoneIsLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w, d, busy := newWorld(), newTurns(t), make(chan struct{})
		s := shard.New(shard.Options{Reader: w, Dispatcher: d, Seed: seed(), Notify: func(eviction.Note) { <-busy }})
		for i := range 1000 {
			w.add(types.UID(fmt.Sprint(i)))
		}
		w.add("late", bears("gpu", 3600))
		w.taint("gpu", 0)
		s.NodeChanged("n")
		go s.Run(t.Context())
		synctest.Wait()
		offered := maps.Clone(d.waiting)
		for e := d.start(); e != nil; e = d.start() {
			d.ended[e.Pod.UID] = true
		}
		w.tolerate("late", v1.Toleration{Operator: v1.TolerationOpExists})
		s.PodChanged("late")
		synctest.Wait() // the shard reports that, and takes nothing in meanwhile
		for _, c := range offered {
			c.Done(dispatch.Ended{Request: c.Ways[0].Request, Outcome: accepted})
		}
		close(busy)
		synctest.Wait()
		if len(offered) != 1000 || len(d.calls) != 0 {
			t.Errorf("%d of %d outcomes are not settled", len(d.calls), len(offered))
		}
	})
}

func TestANewJudgeCountsBeforeTheEventsThatFollowIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.Options{})
		r.put("n", "", 1)
		r.bears("n-0", bears("gpu", 10))
		r.sleep(1)
		r.SetJudge(judgeOf(t, of("gpu", policy.Delete)))
		r.SetJudge(judgeOf(t, of("gpu", policy.Hold)))
		if v := r.view("n-0"); v.Held.Name != "gpu" {
			t.Errorf("got %+v", v)
		}
		r.NodeChanged("n")
		r.wantGone(60)
		if r.Scheduled() != 0 || r.Held() != 1 {
			t.Errorf("scheduled %d, held %d, want one held", r.Scheduled(), r.Held())
		}
		r.SetJudge(policy.Judge{})
		r.NodeChanged("n")
		r.wantGone(100, "n-0 at 60")
		if r.Held() != 0 {
			t.Errorf("held %d", r.Held())
		}
	})
}

func TestAnEvictorOfACallersOwnChoosesItsMethodWhereNoPolicyDecides(t *testing.T) {
	for name, c := range map[string]struct {
		own    bool
		policy string
		want   policy.Method
	}{
		"the options choose":  {false, "disk", policy.Delete},
		"the evictor chooses": {true, "disk", ""},
		"a policy chooses":    {true, "gpu", policy.Evict},
	} {
		inBubble(t, name, func(t *testing.T) {
			r := newReal(t, dispatch.Options{}, shard.Options{Judge: judgeOf(t, of(c.policy, policy.Evict)), OwnMethod: c.own})
			r.background(r.Run)
			r.answer = func(e eviction.Request) eviction.Outcome {
				if e.Method != c.want || e.First != (e.Attempt == 1) {
					t.Errorf("call %d: got %q, first %v, want %q", e.Attempt, e.Method, e.First, c.want)
				}
				return blocked
			}
			r.put("n", "", 1)
			r.sleep(5)
			if r.calls() < 2 {
				t.Errorf("%d calls", r.calls())
			}
		})
	}
}

func TestAnIdleShardSleeps(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := running(t, dispatch.Options{})
		r.put("n", "", 1)
		r.bears("n-0", bears("gpu", 3600))
		// In a bubble, virtual time only goes on once every goroutine waits: a shard that spins
		// would keep this from ever returning.
		r.wantGone(60)
		if r.Scheduled() != 1 {
			t.Errorf("scheduled %d", r.Scheduled())
		}
	})
}

func TestAShardThatDoesNotRunHasNoViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := newReal(t, dispatch.Options{}, shard.Options{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := r.Views(ctx); err == nil {
			t.Error("got no error")
		}
	})
}

func TestNodesAreSpreadOverShardsAndStayWhereTheyAre(t *testing.T) {
	if got := shard.Index("node-1", 8); got != 3 {
		t.Errorf("node-1 is owned by shard %d, want 3 as ever", got)
	}
	count := map[int]int{}
	for i := range 1000 {
		count[shard.Index(fmt.Sprint("node-", i), 8)]++
	}
	for i := range 8 {
		if count[i] < 60 {
			t.Errorf("shard %d owns %d of 1000 nodes", i, count[i])
		}
	}
}
