package shard_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// wantOvertaken wants the evictions of exactly these pods to have been overtaken, each with its deadline.
func (p *play) wantOvertaken(deadlines map[string]float64) {
	p.t.Helper()
	if len(p.overtaken) != len(deadlines) {
		p.t.Errorf("%d evictions were overtaken, want %d", len(p.overtaken), len(deadlines))
	}
	for _, o := range p.overtaken {
		if want, ok := deadlines[o.Pod.Name]; !ok || !o.Deadline.Equal(at(want)) {
			p.t.Errorf("the eviction of %s, due at %v, was overtaken, want %v", o.Pod.Name, o.Deadline, deadlines)
		}
	}
}

func TestAnEvictionThatWaitsIsOvertakenWhenAnotherClientDeletesThePod(t *testing.T) {
	terminate := func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) }
	for _, c := range []struct {
		name  string
		until func(p *play)
		want  map[string]float64
	}{
		{"scheduled", terminate, map[string]float64{"a": 4}},
		{"blocked by a budget, with its own deadline and not that of the next try", func(p *play) {
			p.wantStart(4, "a")
			p.ended(4, "a", eviction.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB})
			terminate(p)
		}, map[string]float64{"a": 4}},
		{"its call is under way", func(p *play) { p.wantStart(4, "a"); terminate(p) }, nil},
		{"its deletion was accepted", func(p *play) {
			p.wantStart(4, "a")
			p.ended(4, "a", eviction.Outcome{Kind: eviction.Accepted})
			terminate(p)
		}, nil},
		{"the taint was lifted before", func(p *play) { p.lift("gpu"); p.nodeChanged(2); terminate(p) }, nil},
		{"the pod has finished", func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded }) }, nil},
		{"the pod is gone", func(p *play) { p.remove("a") }, nil},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlay(t)
			p.add("a", bears("gpu", 4))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			c.until(p)
			p.podChanged(5, "a")
			p.podChanged(6, "a")
			p.wantOvertaken(c.want)
		})
	}
}

func TestAnEvictionIsOvertakenWhenAnotherClientHasMarkedThePodBeforeItsFirstCall(t *testing.T) {
	p := newPlay(t)
	p.add("a", bears("gpu", 4))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.change("a", func(pod *taint.Pod) { pod.Disrupted = true })
	p.wantStart(4, "a")
	p.ended(4, "a", eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission})
	p.wantStart(400, "a")
	p.wantOvertaken(map[string]float64{"a": 4})
}

func TestAnEvictionThatIsHeldIsOvertakenToo(t *testing.T) {
	for name, c := range map[string]struct {
		then func(p *play)
		want int
	}{
		"the pod terminates":      {func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) }, 1},
		"the taint is lifted":     {func(p *play) { p.lift("gpu") }, 0},
		"the pod is gone at once": {func(p *play) { p.remove("a") }, 0},
	} {
		t.Run(name, func(t *testing.T) {
			p := newPolicyPlay(t, of("gpu", policy.Hold))
			p.taint("gpu", 0)
			p.nodeChanged(0)
			c.then(p)
			p.nodeChanged(1)
			p.podChanged(1, "a")
			if len(p.overtaken) != c.want || c.want > 0 && !p.overtaken[0].Deadline.IsZero() {
				t.Errorf("overtaken: %+v, want %d, without a deadline", p.overtaken, c.want)
			}
		})
	}
}

// A call may patch the condition, and the deletion may fail.
func TestAnEvictionIsNotOvertakenByItsOwnCalls(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.wantStart(0, "a")
	p.change("a", func(pod *taint.Pod) { pod.Disrupted = true })
	p.ended(0, "a", eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer})
	p.wantStart(400, "a")
	p.wantOvertaken(nil)
}
