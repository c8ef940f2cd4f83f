package shard_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
)

func TestViewsTellTheStateOfEachEviction(t *testing.T) {
	blocked := eviction.Outcome{Kind: eviction.Blocked, Cause: "pdb", Message: "the budget says no"}
	for _, c := range []struct {
		name string
		play func(p *play)
		at   float64
		want eviction.State
		next float64 // seconds; -1: none
	}{
		{"before its deadline", func(*play) {}, 3, eviction.Scheduled, 4},
		{"from its deadline on", func(*play) {}, 4, eviction.Due, 4},
		{"while a call is under way", func(p *play) { p.wantStart(4, "a") }, 5, eviction.InFlight, -1},
		{"when it was accepted and the pod is still there", func(p *play) {
			p.wantStart(4, "a")
			p.ended(4, "a", eviction.Outcome{Kind: eviction.Accepted})
		}, 5, eviction.Done, -1},
		{"when a budget blocks it", func(p *play) {
			p.wantStart(4, "a")
			p.ended(4, "a", blocked)
		}, 4.1, eviction.Delayed, 4.375},
		{"after one failure", func(p *play) {
			p.wantStart(4, "a")
			p.ended(4, "a", eviction.Outcome{Kind: eviction.Failed})
		}, 4.01, eviction.Due, 4.075},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			p.add("a", bears("gpu", 4))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			c.play(p)
			views := p.core.Views(at(c.at))
			if len(views) != 1 {
				t.Fatalf("got %+v", views)
			}
			v := views[0]
			if v.State != c.want || v.Pod.UID != "a" || !v.Verdict.At.Equal(at(4)) || v.Verdict.Taint.Key != "gpu" {
				t.Errorf("got %+v", v)
			}
			if c.next >= 0 && !v.Next.Equal(at(c.next)) || c.next < 0 && !v.Next.IsZero() {
				t.Errorf("next try at %v", v.Next)
			}
		})
	}
}

func TestAViewCarriesTheLastOutcome(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	refused := eviction.Outcome{Kind: eviction.Refused, Cause: "admission", Message: "frozen"}
	p.wantStart(0, "a")
	p.ended(0, "a", refused)
	if v := p.core.Views(at(0))[0]; v.Last != refused || v.Attempts != 1 {
		t.Errorf("got %+v", v)
	}
}

func TestWhatIsGoneIsInNoView(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.remove("a")
	p.podChanged(1, "a")
	if views := p.core.Views(at(1)); len(views) != 0 {
		t.Errorf("got %+v", views)
	}
}

func TestARunningShardAnswersForItsViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld()
		w.add("a", bears("gpu", 3600))
		w.taint("gpu", 0)
		s := running(t, w, newSlots(1, time.Second))
		s.NodeChanged("n")
		synctest.Wait()
		views, err := s.Views(t.Context())
		if err != nil || len(views) != 1 {
			t.Errorf("got %+v, %v", views, err)
		}
	})
}

func TestAShardThatDoesNotRunHasNoViews(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := shard.New(shard.Options{Reader: newWorld(), MaxInFlight: 1})
		ctx, cancel := context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err := s.Views(ctx); err == nil {
			t.Error("got no error")
		}
	})
}
