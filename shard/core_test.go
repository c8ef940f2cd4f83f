package shard_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAPodGoesAtItsDeadlineAndNotEarlier(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 1)
	p.nodeChanged(1)
	p.wantNone(4.999)
	e := p.wantStart(5, "a")
	if !e.Verdict.At.Equal(at(5)) || e.Attempt != 1 || e.AfterRefusal {
		t.Errorf("got %+v", e)
	}
	p.wantNotes(eviction.EvictionStarted)
}

func TestAPodThatComesToATaintedNodeIsJudgedToo(t *testing.T) {
	p := newPlay(t)
	p.taint("gpu", 1)
	p.nodeChanged(1)
	p.add("a")
	p.podChanged(2, "a")
	p.wantStart(2, "a")
}

func TestALiftedTaintCancelsTheEviction(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.lift("gpu")
	p.nodeChanged(2)
	p.wantNone(10)
	note := p.notes[0]
	if note.Stays != taint.NotTainted || !note.Verdict.At.Equal(at(4)) || !note.Verdict.Start.Equal(at(0)) || note.Verdict.Taint.Key != "gpu" {
		t.Errorf("got %+v, want the verdict that is cancelled", note)
	}
	p.wantNotes(eviction.EvictionCancelled)
}

// The cache may know what the shard has not been told yet.
func TestAnEvictionIsJudgedOnceMoreWhenItsSlotIsGranted(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.lift("gpu")
	p.wantNone(5)
	p.wantNotes(eviction.EvictionCancelled)
}

func TestADeadlineThatHasMovedIsKeptWhenTheSlotIsGranted(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.change("a", func(pod *taint.Pod) { pod.Tolerations = []v1.Toleration{bears("gpu", 20)} })
	p.wantNone(5)
	p.wantNone(19.9)
	p.wantStart(20, "a")
	p.wantNotes(eviction.EvictionStarted)
}

// Each of these is wrong in the original, which never moves a countdown once it runs.
func TestACountdownIsPlannedAnewAtEveryChange(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(p *play)
		due    float64
	}{
		{"a second taint with a shorter toleration", func(p *play) { p.taint("disk", 2) }, 6},
		{"the taint with the shortest toleration is lifted", func(p *play) { p.lift("net") }, 30},
		{"the toleration is lengthened", func(p *play) {
			p.change("a", func(pod *taint.Pod) { pod.Tolerations = []v1.Toleration{bears("gpu", 40), bears("net", 40)} })
		}, 40},
		{"the toleration is shortened", func(p *play) {
			p.change("a", func(pod *taint.Pod) { pod.Tolerations = []v1.Toleration{bears("gpu", 3), bears("net", 3)} })
		}, 3},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			p.add("a", bears("gpu", 30), bears("net", 10), bears("disk", 4))
			p.taint("gpu", 0)
			p.taint("net", 0)
			p.nodeChanged(0)
			c.change(p)
			p.nodeChanged(2)
			p.podChanged(2, "a")
			p.wantNone(c.due - 0.001)
			p.wantStart(c.due, "a")
			p.wantNotes(eviction.EvictionStarted)
		})
	}
}

func TestAReplacedPodHasItsOwnCountdown(t *testing.T) {
	p := newPlay(t)
	p.add("old", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.remove("old")
	p.add("new", bears("gpu", 4))
	p.change("new", func(pod *taint.Pod) { pod.Name, pod.Bound = "old", at(3) })
	p.podChanged(3, "old")
	p.podChanged(3, "new")
	p.wantNone(6.9)
	p.wantStart(7, "new")
}

func TestNoCallStartsWhileOneIsUnderWay(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.nodeChanged(1)
	p.podChanged(1, "a")
	p.wantNone(100)
}

func TestNoCallStartsOnceOneWasAccepted(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.ended(1, "a", eviction.Outcome{Kind: eviction.Accepted})
	p.nodeChanged(2)
	p.wantNone(100)

	// Nor when the taint comes back before the watch has shown the pod's end.
	p.lift("gpu")
	p.nodeChanged(101)
	p.taint("gpu", 102)
	p.nodeChanged(102)
	p.wantNone(1000)
	p.wantNotes(eviction.EvictionStarted)
}

func TestWhatHappensAfterEachOutcome(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome eviction.Outcome
		next    float64 // seconds until the next call may start, with jitter 0.5; 0: at once
	}{
		{"not found: the watch has 5 s to show it", eviction.Outcome{Kind: eviction.NotFound}, 5},
		{"unavailable: the evictor itself holds calls back", eviction.Outcome{Kind: eviction.Unavailable}, 0},
		{"unavailable, found when the node was read", eviction.Outcome{Kind: eviction.Unavailable, NodeRead: true}, 0},
		{"interrupted: a quarter of a second, so that nothing spins", eviction.Outcome{Kind: eviction.Interrupted}, 0.25},
		{"throttled: when the server says", eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 7 * time.Second}, 7},
		{"failed: 100 ms, less the jitter", eviction.Outcome{Kind: eviction.Failed}, 0.075},
		{"blocked: half a second, less the jitter", eviction.Outcome{Kind: eviction.Blocked}, 0.375},
		{"refused: a second, less the jitter", eviction.Outcome{Kind: eviction.Refused}, 0.75},
		{"unconfirmed: 50 ms, less the jitter", eviction.Outcome{Kind: eviction.Unconfirmed}, 0.0375},
		{"unconfirmed after the condition was patched", eviction.Outcome{Kind: eviction.Unconfirmed, PreflightFirst: true}, 0.0375},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			p.add("a")
			p.taint("gpu", 0)
			p.nodeChanged(0)
			p.wantStart(0, "a")
			p.ended(1, "a", c.outcome)
			if c.next > 0 {
				p.wantNone(1 + c.next - 0.001)
			}
			e := p.wantStart(1+c.next, "a")
			if e.Attempt != 2 || e.AfterRefusal != (c.outcome.Kind == eviction.Refused || c.outcome.PreflightFirst) {
				t.Errorf("got %+v", e)
			}
		})
	}
}

func TestWaitsDoubleUpToTheirLimit(t *testing.T) {
	for _, c := range []struct {
		kind eviction.Kind
		want []float64 // with jitter 0.5: three quarters of the full wait
	}{
		{eviction.Unavailable, []float64{0, 0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 22.5, 22.5}},
		{eviction.Failed, []float64{0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 22.5, 22.5}},
		{eviction.Blocked, []float64{0.375, 0.75, 1.5, 3, 6, 11.25, 11.25}},
		{eviction.Refused, []float64{0.75, 1.5, 3, 6, 12, 24, 45, 45}},
		{eviction.Unconfirmed, []float64{0.0375, 0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 3.75, 3.75}},
	} {
		p := newPlay(t)
		p.add("a")
		p.taint("gpu", 0)
		p.nodeChanged(0)
		now := 0.0
		for _, wait := range c.want {
			p.wantStart(now, "a")
			p.ended(now, "a", eviction.Outcome{Kind: c.kind})
			if wait > 0 {
				p.wantNone(now + wait - 0.001)
			}
			now += wait
		}
	}
}

// The server is unavailable for all then; the evictor holds calls back until it is there again.
func TestANodeThatCantBeReadMakesNoPodWait(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	for range 10 {
		p.wantStart(0, "a")
		p.ended(0, "a", eviction.Outcome{Kind: eviction.Unavailable, NodeRead: true})
	}
	p.wantStart(0, "a")
}

func TestJudgingAgainNeverShortensAWait(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.ended(0, "a", eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 60 * time.Second})
	p.nodeChanged(1)
	p.podChanged(2, "a")
	p.wantNone(59)
	p.wantStart(60, "a")
}

func TestABlockedEvictionIsToldOncePerCause(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	now := 0.0
	for _, cause := range []string{"pdb", "pdb", "admission", "pdb"} {
		p.wantStart(now, "a")
		p.ended(now, "a", eviction.Outcome{Kind: eviction.Blocked, Cause: cause})
		now += 60
	}
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionDelayed, eviction.EvictionDelayed)
}

func TestABlockedEvictionIsCancelledWhenTheTaintIsLifted(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(4, "a")
	p.ended(4, "a", eviction.Outcome{Kind: eviction.Blocked, Cause: "pdb"})
	p.lift("gpu")
	p.nodeChanged(5)
	p.wantNone(100)
	if got := p.notes[2].Verdict.At; !got.Equal(at(4)) {
		t.Errorf("the cancelled deadline is %v, want that of the verdict, not of the next try", got)
	}
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionDelayed, eviction.EvictionCancelled)
}

func TestATaintLiftedWhileTheCallIsUnderWayIsActedOnAfterIt(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.lift("gpu")
	p.nodeChanged(1)
	p.ended(2, "a", eviction.Outcome{Kind: eviction.Failed})
	p.wantNone(100)
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionCancelled)
}

func TestAnEvictionThatFailsAgainAndAgainIsTold(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	for now := range 5 {
		p.wantStart(float64(60*now), "a")
		p.ended(float64(60*now), "a", eviction.Outcome{Kind: eviction.Failed, Cause: "webhook"})
	}
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionDelayed)
}

// A node watch that lags for a moment is usual.
func TestAnEvictionThatStaysUnconfirmedIsTold(t *testing.T) {
	for times, want := range map[int][]eviction.NoteKind{
		6: {eviction.EvictionStarted},
		9: {eviction.EvictionStarted, eviction.EvictionDelayed},
	} {
		p := newPlay(t)
		p.add("a")
		p.taint("gpu", 0)
		p.nodeChanged(0)
		for now := range times {
			p.wantStart(float64(60*now), "a")
			p.ended(float64(60*now), "a", eviction.Outcome{Kind: eviction.Unconfirmed})
		}
		p.wantNotes(want...)
	}
}

func TestAPodThatGoesByItselfIsForgottenWithoutANote(t *testing.T) {
	for name, goes := range map[string]func(p *play){
		"deleted by somebody": func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) },
		"finished":            func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded }) },
		"gone":                func(p *play) { p.remove("a") },
		"its node gone":       func(p *play) { delete(p.nodes, "n") },
	} {
		t.Run(name, func(t *testing.T) {
			p := newPlay(t)
			p.add("a", bears("gpu", 4))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			goes(p)
			p.podChanged(1, "a")
			p.nodeChanged(1)
			if n := p.core.Scheduled(); n != 0 {
				t.Errorf("%d evictions are scheduled, want none", n)
			}
			p.wantNone(100)
			p.wantNotes()
		})
	}
}

func TestADryRunLogsOncePerPodThatIsDue(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(4, "a")
	p.ended(4, "a", eviction.Outcome{Kind: eviction.DryRun})
	p.nodeChanged(5)
	p.wantNone(100)

	// What moves into the future is due again then.
	p.change("a", func(pod *taint.Pod) { pod.Tolerations = []v1.Toleration{bears("gpu", 200)} })
	p.podChanged(100, "a")
	p.wantStart(200, "a")
	p.ended(200, "a", eviction.Outcome{Kind: eviction.DryRun})

	p.lift("gpu")
	p.nodeChanged(300)
	p.wantNotes(eviction.EvictionStarted, eviction.EvictionStarted, eviction.EvictionCancelled)
}

func TestAnOutcomeForAPodThatIsGoneIsDropped(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.remove("a")
	p.podChanged(1, "a")
	p.ended(2, "a", eviction.Outcome{Kind: eviction.Failed})
	p.ended(3, "a", eviction.Outcome{Kind: eviction.Failed})
	p.wantNone(100)
}

func TestNodesTakeTurnsAndTheEarliestDeadlineGoesFirst(t *testing.T) {
	p := newPlay(t)
	p.add("n1", bears("gpu", 2))
	p.add("n2", bears("gpu", 1))
	p.add("n3", bears("gpu", 3))
	p.add("other")
	p.change("other", func(pod *taint.Pod) { pod.Node, pod.Bound = "m", at(9) })
	p.taint("gpu", 0)
	p.taintNode("m", "gpu", at(0))
	p.nodeChanged(0)
	p.step(0, shard.NodeChanged{Name: "m"})
	p.wantStart(10, "n2")
	p.wantStart(10, "n1")
	p.wantStart(10, "other")
	p.wantStart(10, "n3")
}
