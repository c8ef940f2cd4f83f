package shard_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/permutations"
)

// A change is one thing that happens to the cluster, together with the input that the shard receives for it.
type change struct {
	name string
	do   func(p *play)
}

// Whatever the order in which these arrive, the end is the same: what is due, and when.
func TestEveryOrderOfTheSameEventsEndsInOneState(t *testing.T) {
	notify := func(p *play) { p.nodeChanged(5) }
	podTold := func(p *play, uid types.UID) { p.podChanged(5, uid) }
	for _, c := range []struct {
		name    string
		changes []change
		want    []string
	}{
		{
			"all that happens is notified late and twice",
			[]change{
				{"gpu set", func(p *play) { p.taint("gpu", 1) }},
				{"disk set", func(p *play) { p.taint("disk", 2) }},
				{"net lifted", func(p *play) { p.lift("net"); notify(p); notify(p) }},
				{"a bears more", func(p *play) { p.tolerate("a", bears("net", 10), bears("disk", 40), bears("gpu", 60)); podTold(p, "a") }},
				{"b finishes", func(p *play) {
					p.change("b", func(pod *taint.Pod) { pod.Phase = v1.PodSucceeded })
					podTold(p, "b")
				}},
				{"notified", func(p *play) { notify(p) }},
			},
			// gpu since 1: a bears it for 60 s; disk since 2: for 40 s.
			[]string{"a at 42"},
		},
		{
			"taints, pods and policies come and go",
			[]change{
				{"gpu set", func(p *play) { p.taint("gpu", 1); notify(p) }},
				{"disk set", func(p *play) { p.taint("disk", 2); notify(p) }},
				{"net lifted", func(p *play) { p.lift("net"); notify(p) }},
				{"policies", func(p *play) {
					evict, absent := of("disk", policy.Evict), metav1.Duration{Duration: time.Minute}
					evict.Tolerations = &policy.Tolerations{Absent: &absent}
					p.judge = judgeOf(p.t, of("gpu", policy.Hold), evict)
					notify(p)
				}},
				{"b is deleted", func(p *play) { p.remove("b"); podTold(p, "b") }},
				{"c and d come", func(p *play) {
					p.add("c", bears("", 50))
					p.add("d")
					podTold(p, "c")
					podTold(p, "d")
				}},
			},
			// gpu is held; disk since 2: a bears it for 40 s, c for 50 s, d for the minute of the policy.
			[]string{"a at 42", "c at 52", "d at 62"},
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			orders := 0
			for order := range permutations.Of(c.changes) {
				orders++
				if diff := cmp.Diff(c.want, playOut(t, order)); diff != "" {
					t.Fatalf("order %v: %s", names(order), diff)
				}
			}
			t.Logf("%d orders", orders)
		})
	}
}

// playOut makes the changes, then a last look at the node, and says which pods go and when.
func playOut(t *testing.T, order []change) (goes []string) {
	p := newPlay(t)
	p.add("a", bears("net", 10), bears("disk", 40))
	p.add("b", bears("net", 10), bears("disk", 20))
	p.taint("net", 0)
	p.nodeChanged(0)
	for _, c := range order {
		c.do(p)
	}
	p.nodeChanged(5)
	for second := range 100 {
		for start := p.start(float64(second)); start != nil; start = p.start(float64(second)) {
			goes = append(goes, fmt.Sprintf("%s at %d", start.Pod.UID, start.Verdict.At.Unix()-zero.Unix()))
		}
	}
	return goes
}

func names(order []change) (list []string) {
	for _, c := range order {
		list = append(list, c.name)
	}
	return list
}
