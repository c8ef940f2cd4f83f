package shard_test

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAPodGoesAtItsDeadlineAndNotEarlier(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 1)
	p.nodeChanged(1)
	p.wantNone(4.999)
	if e := p.wantStart(5, "a"); !e.Verdict.At.Equal(at(5)) {
		t.Errorf("got %+v", e)
	}
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
	p := newTaintedPlay(t, 4)
	p.lift("gpu")
	p.nodeChanged(2)
	p.wantNone(10)
	note := p.notes[0]
	if note.Stays != taint.NotTainted || !note.Verdict.At.Equal(at(4)) || !note.Verdict.Start.Equal(at(0)) || note.Verdict.Taint.Key != "gpu" {
		t.Errorf("got %+v, want the verdict that is cancelled", note)
	}
	p.wantNotes(eviction.EvictionCancelled)
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
		{"the toleration is lengthened", func(p *play) { p.tolerate("a", bears("gpu", 40), bears("net", 40)) }, 40},
		{"the toleration is shortened", func(p *play) { p.tolerate("a", bears("gpu", 3), bears("net", 3)) }, 3},
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
			p.wantNotes()
		})
	}
}

// The dispatcher has the eviction since second 4, and learns of a change that concerns it as soon as the shard does.
func TestAnEvictionThatIsOfferedFollowsEveryChange(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(p *play)
		due      float64 // -1: it is taken back for good
		priority int32
	}{
		"nothing changes":          {func(*play) {}, 4, 0},
		"the taint is lifted":      {func(p *play) { p.lift("gpu") }, -1, 0},
		"the pod is gone":          {func(p *play) { p.remove("a") }, -1, 0},
		"the pod terminates":       {func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) }, -1, 0},
		"it is held":               {func(p *play) { p.step(10, shard.Reconfigured{Judge: judgeOf(p.t, of("gpu", policy.Hold))}) }, -1, 0},
		"the toleration is longer": {func(p *play) { p.tolerate("a", bears("gpu", 50)) }, 50, 0},
		"the toleration is less":   {func(p *play) { p.tolerate("a", bears("gpu", 2)) }, 2, 0},
		"another taint is earlier": {func(p *play) { p.taint("disk", 3) }, 3, 0},
		"its priority":             {func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Priority = 7 }) }, 4, 7},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTaintedPlay(t, 4)
			p.pass(4)
			if got, offered := p.waiting["a"]; !offered || !got.Deadline.Equal(at(4)) || got.Namespace != "ns" || got.Node != "n" {
				t.Fatalf("offered %v: %+v", offered, got)
			}
			c.change(p)
			p.podChanged(10, "a")
			p.nodeChanged(10)
			p.pass(11)
			if got, offered := p.waiting["a"]; offered != (0 <= c.due && c.due <= 11) || offered && (!got.Deadline.Equal(at(c.due)) || got.Priority != c.priority) {
				t.Errorf("offered %v: %+v", offered, got)
			}
			p.pass(100)
			if got, offered := p.waiting["a"]; offered != (c.due >= 0) || offered && !got.Deadline.Equal(at(c.due)) {
				t.Errorf("later, offered %v: %+v", offered, got)
			}
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

func TestNoCallStartsBeforeTheOutcomeOfTheLastIsTakenIn(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.wantStart(0, "a")
	p.nodeChanged(1)
	p.podChanged(1, "a")
	p.wantNone(100)
	outcome := p.end("a", failed(eviction.CauseServer))
	p.nodeChanged(101)
	p.podChanged(101, "a")
	p.wantNone(102)
	p.step(103, outcome)
	p.wantStart(104, "a")
}

func TestNoCallStartsOnceOneWasAccepted(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.wantStart(0, "a")
	p.ended(1, "a", accepted)
	p.nodeChanged(2)
	p.wantNone(100)

	// Nor when the taint comes back before the watch has shown the pod's end.
	p.lift("gpu")
	p.nodeChanged(101)
	p.taint("gpu", 102)
	p.nodeChanged(102)
	p.wantNone(1000)
	p.wantNotes()
}

func TestWhatHappensAfterEachOutcome(t *testing.T) {
	for _, c := range []struct {
		name    string
		outcome eviction.Outcome
		next    float64 // seconds until the next call may start, with jitter 0.5; 0: at once
	}{
		{"not found: the watch has 5 s to show it", eviction.Outcome{Kind: eviction.NotFound}, 5},
		{"unavailable: the dispatcher itself holds calls back", eviction.Outcome{Kind: eviction.Unavailable}, 0},
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
			p := newTaintedPlay(t, 0)
			if e := p.tried(1, "a", c.outcome); e.Attempt != 1 || !e.First || e.AfterRefusal {
				t.Errorf("got %+v", e)
			}
			if c.next > 0 {
				p.wantNone(1 + c.next - 0.001)
			}
			e := p.wantStart(1+c.next, "a")
			if e.Attempt != 2 || e.First || e.AfterRefusal != (c.outcome.Kind == eviction.Refused || c.outcome.PreflightFirst) {
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
		p := newTaintedPlay(t, 0)
		now := 0.0
		for _, wait := range c.want {
			p.tried(now, "a", eviction.Outcome{Kind: c.kind})
			if wait > 0 {
				p.wantNone(now + wait - 0.001)
			}
			now += wait
		}
	}
}

// The server is unavailable for all then; the dispatcher holds calls back until it is there again.
func TestANodeThatCantBeReadMakesNoPodWait(t *testing.T) {
	p := newTaintedPlay(t, 0)
	for range 10 {
		p.tried(0, "a", eviction.Outcome{Kind: eviction.Unavailable, NodeRead: true})
	}
	p.wantStart(0, "a")
}

func TestJudgingAgainNeverShortensAWait(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.tried(0, "a", eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 60 * time.Second})
	p.nodeChanged(1)
	p.podChanged(2, "a")
	p.wantNone(59)
	p.wantStart(60, "a")
}

// A few failures in a row are no news, nor is a node watch that lags for a moment.
func TestADelayedEvictionIsReportedOncePerCause(t *testing.T) {
	times := func(n int, o eviction.Outcome) (all []eviction.Outcome) {
		for range n {
			all = append(all, o)
		}
		return all
	}
	refused := denied
	refused.Cause = eviction.CauseRBAC
	for name, c := range map[string]struct {
		outcomes []eviction.Outcome
		notes    int
	}{
		"blocked, denied and blocked again": {[]eviction.Outcome{blocked, blocked, denied, blocked}, 2},
		"refused for two causes":            {[]eviction.Outcome{denied, refused, denied}, 2},
		"a few failures":                    {times(2, failed(eviction.CauseServer)), 0},
		"many failures":                     {times(5, failed(eviction.CauseServer)), 1},
		"failures with others in between":   {append(times(2, failed(eviction.CauseServer)), eviction.Outcome{Kind: eviction.Unavailable}, failed(eviction.CauseServer)), 0},
		"unconfirmed a few times":           {times(6, eviction.Outcome{Kind: eviction.Unconfirmed}), 0},
		"unconfirmed many times":            {times(9, eviction.Outcome{Kind: eviction.Unconfirmed}), 1},
	} {
		p := newTaintedPlay(t, 0)
		for i, o := range c.outcomes {
			p.tried(float64(60*i), "a", o)
		}
		for _, note := range p.notes {
			if note.Kind != eviction.EvictionDelayed || note.Outcome.Kind == 0 || !note.Verdict.At.Equal(at(0)) {
				t.Errorf("%s: got %+v", name, note)
			}
		}
		if len(p.notes) != c.notes {
			t.Errorf("%s: got %d notes, want %d", name, len(p.notes), c.notes)
		}
	}
}

func TestABlockedEvictionIsCancelledWhenTheTaintIsLifted(t *testing.T) {
	p := newTaintedPlay(t, 4)
	p.tried(4, "a", blocked)
	p.lift("gpu")
	p.nodeChanged(5)
	p.wantNone(100)
	if got := p.notes[1].Verdict.At; !got.Equal(at(4)) {
		t.Errorf("the cancelled deadline is %v, want that of the verdict, not of the next try", got)
	}
	p.wantNotes(eviction.EvictionDelayed, eviction.EvictionCancelled)
}

func TestATaintLiftedWhileTheCallIsUnderWayIsActedOnAfterIt(t *testing.T) {
	p := newTaintedPlay(t, 0)
	p.wantStart(0, "a")
	p.lift("gpu")
	p.nodeChanged(1)
	p.wantNotes()
	p.ended(2, "a", failed(""))
	p.wantNone(100)
	p.wantNotes(eviction.EvictionCancelled)
}

func TestAPodThatGoesByItselfIsForgottenWithoutANote(t *testing.T) {
	for name, goes := range map[string]func(p *play){
		"deleted by somebody": func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) },
		"finished":            func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded }) },
		"gone":                func(p *play) { p.remove("a") },
		"its node gone":       func(p *play) { delete(p.nodes, "n") },
	} {
		for _, when := range []string{"before its deadline", "during its call"} {
			t.Run(name+" "+when, func(t *testing.T) {
				p := newTaintedPlay(t, 4)
				if when == "during its call" {
					p.wantStart(4, "a")
				}
				goes(p)
				p.podChanged(5, "a")
				p.nodeChanged(5)
				if when == "during its call" {
					p.ended(6, "a", failed(""))
				}
				if n := p.core.Tracks(); n != 0 || p.core.Scheduled() != 0 {
					t.Errorf("%d evictions are tracked, %d are scheduled, want none", n, p.core.Scheduled())
				}
				p.wantNone(100)
				p.wantNotes()
			})
		}
	}
}

func TestADryRunIsMadeOncePerPodThatIsDue(t *testing.T) {
	p := newTaintedPlay(t, 4)
	p.tried(4, "a", eviction.Outcome{Kind: eviction.DryRun})
	p.nodeChanged(5)
	p.wantNone(100)

	// What moves into the future is due again then.
	p.tolerate("a", bears("gpu", 200))
	p.podChanged(100, "a")
	if e := p.tried(200, "a", eviction.Outcome{Kind: eviction.DryRun}); !e.First {
		t.Error("it is not reported again")
	}
	p.lift("gpu")
	p.nodeChanged(300)
	p.wantNotes(eviction.EvictionCancelled)
}
