package shard_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAnEvictionThatWaitsIsOvertakenWhenAnotherClientDeletesThePod(t *testing.T) {
	terminate := func(p *play) {
		p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
		p.podChanged(5, "a")
	}
	for _, c := range []struct {
		name  string
		until func(p *play)
		want  bool
	}{
		{"scheduled", terminate, true},
		{"offered", func(p *play) { p.pass(5); terminate(p) }, true},
		{"blocked by a budget, with its own deadline and not that of the next try", func(p *play) { p.tried(4, "a", blocked); terminate(p) }, true},
		{"its call is under way", func(p *play) { p.wantStart(4, "a"); terminate(p) }, false},
		{"its call has failed after it", func(p *play) { p.wantStart(4, "a"); terminate(p); p.ended(5, "a", failed("")) }, false},
		{"its deletion was accepted", func(p *play) { p.tried(4, "a", accepted); terminate(p) }, false},
		{"the taint was lifted before", func(p *play) { p.lift("gpu"); p.nodeChanged(2); terminate(p) }, false},
		{"the pod has finished", func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded }) }, false},
		{"the pod is gone", func(p *play) { p.remove("a") }, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newTaintedPlay(t, 4)
			c.until(p)
			p.podChanged(5, "a")
			p.podChanged(6, "a")
			if got := len(p.overtaken) == 1; got != c.want || got && !p.overtaken[0].Deadline.Equal(at(4)) {
				t.Errorf("overtaken: %+v, want %v", p.overtaken, c.want)
			}
		})
	}
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
			c.then(p)
			p.nodeChanged(1)
			p.podChanged(1, "a")
			if len(p.overtaken) != c.want || c.want > 0 && !p.overtaken[0].Deadline.IsZero() {
				t.Errorf("overtaken: %+v, want %d, without a deadline", p.overtaken, c.want)
			}
		})
	}
}
