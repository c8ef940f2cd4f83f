package shard_test

import (
	"slices"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// terminate shows that a pod is being deleted, and vanish that it is gone.
func (p *play) terminate(second float64, uid types.UID) {
	p.change(uid, func(pod *taint.Pod) { pod.Terminating = true })
	p.podChanged(second, uid)
}

func (p *play) vanish(second float64, uid types.UID) {
	p.remove(uid)
	p.podChanged(second, uid)
}

// does plays what happens, one thing each second.
func (p *play) does(all string) {
	for i, act := range strings.Split(all, ", ") {
		second := float64(i + 1)
		verb, what, _ := strings.Cut(act, " ")
		switch uid := types.UID(what); verb {
		case "terminates":
			p.terminate(second, uid)
		case "vanishes":
			p.vanish(second, uid)
		case "finishes":
			p.change(uid, func(pod *taint.Pod) { pod.Phase = v1.PodFailed })
		case "comes":
			p.add(uid, bears("gpu", 0))
			p.podChanged(second, uid)
		case "called":
			p.wantStart(second, uid)
		case "answered":
			p.ended(second, uid, eviction.Outcome{Kind: eviction.NotFound})
		case "lifted":
			p.lift(what)
			p.nodeChanged(second)
		case "tainted":
			p.taint(what, 0)
			p.nodeChanged(second)
		case "replaced":
			p.lift("gpu")
			p.taint(what, second)
			p.nodeChanged(second)
		case "held":
			p.judge = judgeOf(p.t, of(what, policy.Hold))
			p.nodeChanged(second)
		case "gone":
			delete(p.nodes, what)
			p.nodeChanged(second)
		}
	}
}

// The pod a goes at once, and b after 30 s. c stays.
func TestANodeIsDrainedWhenItsLastPodToGoIsGone(t *testing.T) {
	const gpu, unreachable = "gpu", v1.TaintNodeUnreachable
	for name, c := range map[string]struct {
		key     string
		play    string
		drained int // how often
	}{
		"both are gone":                              {gpu, "terminates a, vanishes a, terminates b, vanishes b", 1},
		"one is deleted and not gone":                {gpu, "terminates a, terminates b, vanishes b", 0},
		"one is still to go":                         {gpu, "terminates a, vanishes a", 0},
		"nobody sees their deletion":                 {gpu, "vanishes a, vanishes b", 1},
		"the call of one ends after both are gone":   {gpu, "called a, vanishes a, vanishes b, answered a", 1},
		"another pod is being deleted":               {gpu, "terminates c, vanishes a, vanishes b", 0},
		"another pod was being deleted, and is gone": {gpu, "terminates c, vanishes a, vanishes b, vanishes c", 1},
		"a finalizer keeps a pod that has finished":  {gpu, "finishes b, terminates b, vanishes a", 0},
		"what stays is deleted":                      {gpu, "terminates c, vanishes c", 0},
		"a late pod goes, too": {
			gpu, "vanishes a, vanishes b, comes late, terminates late, vanishes late", 2,
		},
		"the taint is lifted meanwhile": {gpu, "vanishes a, terminates b, lifted gpu, vanishes b", 0},
		"the taint is lifted meanwhile, and another one stays that all tolerate": {
			gpu, "tainted all, vanishes a, terminates b, lifted gpu, vanishes b", 0,
		},
		"the taint is lifted while the last pod that is being deleted stays by it": {
			gpu, "tainted all, terminates c, vanishes a, vanishes b, lifted gpu, vanishes c", 0,
		},
		"another taint drains the node instead": {gpu, "vanishes a, terminates b, replaced disk, vanishes b", 1},
		"one is held":                           {gpu, "held gpu, vanishes a", 0},
		"the node is gone":                      {gpu, "terminates a, terminates b, gone n, vanishes a, vanishes b", 0},
		"the node is unreachable":               {unreachable, "terminates a, vanishes a, vanishes b", 0},
		"the node is unreachable, and has another taint that all tolerate": {
			unreachable, "tainted all, terminates a, terminates b, vanishes a, vanishes b", 0,
		},
	} {
		p := newPlay(t)
		all := v1.Toleration{Key: "all", Operator: v1.TolerationOpExists}
		p.add("a", all)
		p.add("b", all, bears("gpu", 30))
		p.add("c", v1.Toleration{Operator: v1.TolerationOpExists})
		p.taint(c.key, 0)
		p.nodeChanged(0)
		p.does(c.play)
		if want := slices.Repeat([]string{"n"}, c.drained); !slices.Equal(p.drained, want) {
			t.Errorf("%s: drained %v, want %v", name, p.drained, want)
		}
	}
}

// A leader that begins while the last pod is being deleted has no eviction of it, and reports the node all the same.
func TestANodeIsDrainedThoughAnotherLeaderEvictedItsPods(t *testing.T) {
	p := newPlay(t)
	p.add("a")
	p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
	p.taint("gpu", 0)
	p.nodeChanged(0)
	p.vanish(1, "a")
	if !slices.Equal(p.drained, []string{"n"}) {
		t.Errorf("drained %v", p.drained)
	}
}
