package shard_test

import (
	"slices"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestACancelledEvictionIsReportedWithItsVerdict(t *testing.T) {
	for name, play := range map[string]func(p *play){
		"scheduled":               func(*play) {},
		"offered":                 func(p *play) { p.pass(5) },
		"blocked":                 func(p *play) { p.tried(4, blocked) },
		"its call is under way":   func(p *play) { p.wantStart(4, "a") },
		"its second call is":      func(p *play) { p.tried(4, blocked); p.wantStart(5, "a") },
		"its taint was set again": func(p *play) { p.pass(5); p.taint("gpu", 0); p.nodeChanged(5) },
	} {
		p := newPolicyPlay(t, evicting(30*time.Second))
		play(p)
		p.lift("gpu")
		p.nodeChanged(6)
		p.pass(50)
		if p.calls["a"] != nil {
			p.ended(51, "a", failed("")) // only then it is acted on
		}
		p.wantNone(100)
		n := p.notes[len(p.notes)-1]
		if n.Kind != eviction.EvictionCancelled || n.Stays != taint.NotTainted.String() || n.Policy != "gpu" || n.Method != policy.Evict ||
			!n.Verdict.At.Equal(at(4)) || !n.Verdict.Start.Equal(at(0)) || n.Verdict.Taint.Key != "gpu" {
			t.Errorf("%s: got %+v", name, n)
		}
	}
}

// The pod is due at second 10. What changes is known at second 2, or at second 12, when the dispatcher has the
// eviction. The original never moves a countdown once it runs.
func TestAnEvictionIsPlannedAnewAtEveryChange(t *testing.T) {
	for name, c := range map[string]struct {
		change   func(p *play)
		due      float64 // -1: never
		priority int32
	}{
		"nothing changes":                     {func(*play) {}, 10, 0},
		"another taint is tolerated for less": {func(p *play) { p.taint("disk", 2) }, 6, 0},
		"the toleration is longer":            {func(p *play) { p.tolerate("a", bears("gpu", 40), bears("net", 40)) }, 40, 0},
		"the toleration is shorter":           {func(p *play) { p.tolerate("a", bears("gpu", 3), bears("net", 3)) }, 3, 0},
		"the first taint is lifted":           {func(p *play) { p.lift("net") }, 30, 0},
		"all taints are lifted":               {func(p *play) { p.lift("net"); p.lift("gpu") }, -1, 0},
		"the pod is gone":                     {func(p *play) { p.remove("a") }, -1, 0},
		"the pod terminates":                  {func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) }, -1, 0},
		"the pod is held": {func(p *play) {
			p.judge = judgeOf(p.t, of("gpu", policy.Hold), of("net", policy.Hold))
		}, -1, 0},
		"its priority": {func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Priority = 7 }) }, 10, 7},
	} {
		for _, known := range []float64{2, 12} {
			p := newPlay(t)
			p.add("a", bears("gpu", 30), bears("net", 10), bears("disk", 4))
			p.taint("gpu", 0)
			p.taint("net", 0)
			p.nodeChanged(0)
			p.pass(known)
			c.change(p)
			p.nodeChanged(known)
			p.podChanged(known, "a")
			for _, second := range []float64{known, max(c.due-0.001, known), max(c.due, known), 100} {
				p.pass(second)
				got, offered := p.waiting["a"]
				if offered != (0 <= c.due && c.due <= second) || offered && (!got.Deadline.Equal(at(c.due)) || got.Priority != c.priority || got.Node != "n") {
					t.Errorf("%s, known at %v, second %v: offered %v: %+v", name, known, second, offered, got)
				}
			}
		}
	}
}

// The jitter is 0.5: a wait that doubles is three quarters of its full length. Judging again never shortens a wait.
func TestATimerThatFiresForNothingChangesNothing(t *testing.T) {
	newPlay(t).step(0, shard.TimePassed{})
	p := newTaintedPlay(t, 4)
	p.step(3, shard.TimePassed{})
	p.wantNone(3.999)
	p.wantStart(4, "a")
}

func TestHowLongAPodWaitsAfterEachOutcome(t *testing.T) {
	for name, c := range map[string]struct {
		outcome eviction.Outcome
		waits   []float64
	}{
		"not found: the watch has 5 s to show it":             {eviction.Outcome{Kind: eviction.NotFound}, []float64{5, 5}},
		"interrupted: so that nothing spins":                  {eviction.Outcome{Kind: eviction.Interrupted}, []float64{0.25, 0.25}},
		"throttled: as the server says":                       {eviction.Outcome{Kind: eviction.Throttled, RetryAfter: 7 * time.Second}, []float64{7, 7}},
		"unavailable: the dispatcher itself holds calls back": {eviction.Outcome{Kind: eviction.Unavailable}, []float64{0, 0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 22.5, 22.5}},
		"unavailable, found when the node was read":           {eviction.Outcome{Kind: eviction.Unavailable, NodeRead: true}, make([]float64, 10)},
		"failed":      {eviction.Outcome{Kind: eviction.Failed}, []float64{0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 4.8, 9.6, 19.2, 22.5, 22.5}},
		"blocked":     {blocked, []float64{0.375, 0.75, 1.5, 3, 6, 11.25, 11.25}},
		"refused":     {denied, []float64{0.75, 1.5, 3, 6, 12, 24, 45, 45}},
		"unconfirmed": {eviction.Outcome{Kind: eviction.Unconfirmed}, []float64{0.0375, 0.075, 0.15, 0.3, 0.6, 1.2, 2.4, 3.75, 3.75}},
		"unconfirmed after the condition was patched": {eviction.Outcome{Kind: eviction.Unconfirmed, PreflightFirst: true}, []float64{0.0375}},
	} {
		t.Run(name, func(t *testing.T) {
			p := newTaintedPlay(t, 0)
			now := 0.0
			for i, wait := range c.waits {
				e := p.tried(now, c.outcome)
				afterRefusal := i > 0 && (c.outcome.Kind == eviction.Refused || c.outcome.PreflightFirst)
				first := i == 0 || c.outcome.Kind == eviction.Interrupted // which may not have begun
				if e.Attempt != i+1 || e.First != first || e.AfterRefusal != afterRefusal {
					t.Errorf("call %d: got %+v", i, e)
				}
				if wait > 0 {
					p.nodeChanged(now)
					p.podChanged(now+wait/2, "a")
					p.wantNone(now + wait - 0.001)
				}
				now += wait
			}
			p.pass(now)
			if got := p.waiting["a"]; !got.Deadline.Equal(at(0)) || got.Requests[0].AfterRefusal != (c.outcome.Kind == eviction.Refused || c.outcome.PreflightFirst) {
				t.Errorf("got %+v", got)
			}
		})
	}
}

// A few failures in a row are no news, nor is a node watch that lags for a moment.
func TestAStuckEvictionIsReportedOncePerCause(t *testing.T) {
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
			p.tried(float64(60*i), o)
		}
		for _, note := range p.notes {
			if note.Kind != eviction.EvictionStuck || note.Outcome.Kind == 0 || !note.Verdict.At.Equal(at(0)) {
				t.Errorf("%s: got %+v", name, note)
			}
		}
		if len(p.notes) != c.notes {
			t.Errorf("%s: got %d notes, want %d", name, len(p.notes), c.notes)
		}
	}
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
				if p.pods["a"].Name == "" && len(p.core.Views(at(5))) != 0 {
					t.Error("a pod that is gone has a view")
				}
				if when == "during its call" {
					if p.core.Tracks() != 1 {
						t.Error("the call under way is not tracked")
					}
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
	p.tried(4, eviction.Outcome{Kind: eviction.DryRun})
	p.nodeChanged(5)
	p.wantNone(100)

	// What moves into the future is due again then.
	p.tolerate("a", bears("gpu", 200))
	p.podChanged(100, "a")
	if e := p.tried(200, eviction.Outcome{Kind: eviction.DryRun}); !e.First {
		t.Error("it is not reported again")
	}
	p.lift("gpu")
	p.nodeChanged(300)
	p.wantNotes(eviction.EvictionCancelled)
}

func TestAnEvictionThatWaitsOrIsHeldIsOvertakenWhenAnotherClientDeletesThePod(t *testing.T) {
	terminate := func(p *play) {
		p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
		p.podChanged(5, "a")
	}
	finish := func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded }) }
	hold := func(p *play) { p.reconfigured(0, of("gpu", policy.Hold)) }
	deadline, none := []time.Time{at(4)}, []time.Time{{}}
	for name, c := range map[string]struct {
		until func(p *play)
		want  []time.Time // the deadlines of what is overtaken
	}{
		"scheduled": {terminate, deadline},
		"offered":   {func(p *play) { p.pass(5); terminate(p) }, deadline},
		"blocked by a budget, with its own deadline and not that of the next try": {
			func(p *play) { p.tried(4, blocked); terminate(p) }, deadline,
		},
		"its call is under way": {func(p *play) { p.wantStart(4, "a"); terminate(p) }, nil},
		"its call has failed after it": {
			func(p *play) { p.wantStart(4, "a"); terminate(p); p.ended(5, "a", failed("")) }, nil,
		},
		"its deletion was accepted":     {func(p *play) { p.tried(4, accepted); terminate(p) }, nil},
		"the taint was lifted before":   {func(p *play) { p.lift("gpu"); p.nodeChanged(2); terminate(p) }, nil},
		"the pod has finished":          {finish, nil},
		"the pod is gone":               {func(p *play) { p.remove("a") }, nil},
		"held":                          {func(p *play) { hold(p); terminate(p) }, none},
		"held, and the taint is lifted": {func(p *play) { hold(p); p.lift("gpu"); p.nodeChanged(1) }, nil},
		"held, and the pod is gone":     {func(p *play) { hold(p); p.remove("a") }, nil},
	} {
		p := newTaintedPlay(t, 4)
		c.until(p)
		p.podChanged(5, "a")
		p.podChanged(6, "a")
		var got []time.Time
		for _, o := range p.overtaken {
			got = append(got, o.Deadline)
		}
		if !slices.EqualFunc(got, c.want, time.Time.Equal) {
			t.Errorf("%s: overtaken: %+v, want %v", name, p.overtaken, c.want)
		}
	}
}
