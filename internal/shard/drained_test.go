package shard_test

import (
	"slices"
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

// The pod a goes at once, and b after 30 s. c stays.
func TestANodeIsDrainedWhenItsLastPodToGoIsGone(t *testing.T) {
	for name, c := range map[string]struct {
		key  string
		play func(p *play)
		want []string
	}{
		"both are gone": {"gpu", func(p *play) {
			p.terminate(1, "a")
			p.vanish(2, "a")
			p.terminate(30, "b")
			p.vanish(31, "b")
		}, []string{"n"}},
		"one is deleted and not gone": {"gpu", func(p *play) {
			p.terminate(1, "a")
			p.terminate(2, "b")
			p.vanish(3, "b")
		}, nil},
		"one is still to go": {"gpu", func(p *play) {
			p.terminate(1, "a")
			p.vanish(2, "a")
		}, nil},
		"nobody sees their deletion": {"gpu", func(p *play) {
			p.vanish(1, "a")
			p.vanish(2, "b")
		}, []string{"n"}},
		"the call of one ends after both are gone": {"gpu", func(p *play) {
			p.wantStart(1, "a")
			p.vanish(2, "a")
			p.vanish(3, "b")
			p.ended(4, "a", eviction.Outcome{Kind: eviction.NotFound})
		}, []string{"n"}},
		"another pod is being deleted": {"gpu", func(p *play) {
			p.terminate(1, "c")
			p.vanish(2, "a")
			p.vanish(3, "b")
		}, nil},
		"another pod was being deleted, and is gone": {"gpu", func(p *play) {
			p.terminate(1, "c")
			p.vanish(2, "a")
			p.vanish(3, "b")
			p.podChanged(4, "c")
			p.vanish(5, "c")
		}, []string{"n"}},
		"a finalizer keeps a pod that has finished": {"gpu", func(p *play) {
			p.change("b", func(pod *taint.Pod) { pod.Phase = v1.PodFailed })
			p.terminate(1, "b")
			p.vanish(2, "a")
		}, nil},
		"what stays is deleted": {"gpu", func(p *play) {
			p.terminate(1, "c")
			p.vanish(2, "c")
		}, nil},
		"a late pod goes, too": {"gpu", func(p *play) {
			p.vanish(1, "a")
			p.vanish(2, "b")
			p.add("late", bears("gpu", 0))
			p.podChanged(3, "late")
			p.terminate(4, "late")
			p.vanish(5, "late")
		}, []string{"n", "n"}},
		"the taint is lifted meanwhile": {"gpu", func(p *play) {
			p.vanish(1, "a")
			p.terminate(2, "b")
			p.lift("gpu")
			p.nodeChanged(3)
			p.vanish(4, "b")
		}, nil},
		"the taint is lifted meanwhile, and another one stays that all tolerate": {"gpu", func(p *play) {
			p.taint("all", 0)
			p.nodeChanged(0)
			p.vanish(1, "a")
			p.terminate(2, "b")
			p.lift("gpu")
			p.nodeChanged(3)
			p.vanish(4, "b")
		}, nil},
		"the taint is lifted while the last pod that is being deleted stays by it": {"gpu", func(p *play) {
			p.taint("all", 0)
			p.nodeChanged(0)
			p.terminate(1, "c")
			p.vanish(2, "a")
			p.vanish(3, "b")
			p.lift("gpu")
			p.nodeChanged(4)
			p.vanish(5, "c")
		}, nil},
		"another taint drains the node instead": {"gpu", func(p *play) {
			p.vanish(1, "a")
			p.terminate(2, "b")
			p.lift("gpu")
			p.taint("disk", 3)
			p.nodeChanged(3)
			p.vanish(4, "b")
		}, []string{"n"}},
		"one is held": {"gpu", func(p *play) {
			p.judge = judgeOf(p.t, of("gpu", policy.Hold))
			p.nodeChanged(1)
			p.vanish(2, "a")
		}, nil},
		"the node is gone": {"gpu", func(p *play) {
			p.terminate(1, "a")
			p.terminate(1, "b")
			delete(p.nodes, "n")
			p.nodeChanged(2)
			p.vanish(3, "a")
			p.vanish(3, "b")
		}, nil},
		"the node is unreachable": {v1.TaintNodeUnreachable, func(p *play) {
			p.terminate(1, "a")
			p.vanish(2, "a")
			p.vanish(3, "b")
		}, nil},
		"the node is unreachable, and has another taint that all tolerate": {v1.TaintNodeUnreachable, func(p *play) {
			p.taint("all", 0)
			p.nodeChanged(0)
			p.terminate(1, "a")
			p.terminate(1, "b")
			p.vanish(2, "a")
			p.vanish(3, "b")
		}, nil},
	} {
		p := newPlay(t)
		all := v1.Toleration{Key: "all", Operator: v1.TolerationOpExists}
		p.add("a", all)
		p.add("b", all, bears("gpu", 30))
		p.add("c", v1.Toleration{Operator: v1.TolerationOpExists})
		p.taint(c.key, 0)
		p.nodeChanged(0)
		c.play(p)
		if !slices.Equal(p.drained, c.want) {
			t.Errorf("%s: drained %v, want %v", name, p.drained, c.want)
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
