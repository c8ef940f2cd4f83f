package shard_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// newDaemonPlay returns a play with a pod of a DaemonSet that tolerates no taint and is held, or not a DaemonSet's.
func newDaemonPlay(t *testing.T, daemon bool) *play {
	p := newPolicyPlay(t, of("gpu", policy.Hold))
	p.change("a", func(pod *taint.Pod) { pod.Tolerations, pod.Daemon = nil, daemon })
	p.nodeChanged(1)
	return p
}

func TestTheNoteAboutAHeldPodThatIsDeletedSaysWhoProbablyDidIt(t *testing.T) {
	p := newDaemonPlay(t, true)
	p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
	p.podChanged(2, "a")
	if n := p.notes[len(p.notes)-1]; n.Kind != eviction.EvictionCancelled || n.Held.Name != "gpu" ||
		n.WhyStays() != "the pod is already being deleted, probably by the DaemonSet controller" {
		t.Errorf("%+v: %s", n, n.WhyStays())
	}

	p = newDaemonPlay(t, false)
	p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
	p.podChanged(2, "a")
	if n := p.notes[len(p.notes)-1]; n.Kind != eviction.EvictionHeld {
		t.Errorf("a pod of another controller: %+v", n)
	}

	p = newPolicyPlay(t, of("gpu", policy.Delete))
	p.change("a", func(pod *taint.Pod) { pod.Tolerations, pod.Daemon, pod.Terminating = nil, true, true })
	p.podChanged(2, "a")
	p.wantNotes() // it was not held
}

func TestThePageDoesNotCallAPodHeldThatTheDaemonSetControllerDeletes(t *testing.T) {
	v := newDaemonPlay(t, true).core.Views(at(1))[0]
	if v.Word() != eviction.WordDue || v.DeletedBy != "the DaemonSet controller" || v.Held.By != 0 {
		t.Errorf("%s: %+v", v.Word(), v)
	}
	if v := newDaemonPlay(t, false).core.Views(at(1))[0]; v.Word() != eviction.WordHeld || v.DeletedBy != "" {
		t.Errorf("a pod of another controller: %s: %+v", v.Word(), v)
	}
}

func TestTheNoteAboutACancelledEvictionNamesAStartOfKubeControllerManager(t *testing.T) {
	for _, test := range []struct {
		name   string
		outage bool
		change func(p *play)
		want   string
	}{
		{"the NoSchedule taint stays", true, func(p *play) { p.lift(v1.TaintNodeUnreachable) }, eviction.OutageSpared},
		{"both taints go", false, func(p *play) { p.lift(v1.TaintNodeUnreachable) }, ""},
		{"not-ready comes, which it tolerates", true, func(p *play) {
			p.lift(v1.TaintNodeUnreachable)
			p.taint(v1.TaintNodeNotReady, 2)
		}, ""},
		{"the pod is edited", true, func(p *play) {
			p.tolerate("a", v1.Toleration{Operator: v1.TolerationOpExists})
		}, ""},
	} {
		p := newPlay(t)
		p.add("a", v1.Toleration{Key: v1.TaintNodeNotReady, Operator: v1.TolerationOpExists}, bears(v1.TaintNodeUnreachable, 300))
		p.taint(v1.TaintNodeUnreachable, 1)
		p.nodeChanged(1)
		test.change(p)
		node := p.nodes["n"]
		node.Outage = test.outage
		p.nodes["n"] = node
		p.step(2, shard.NodeChanged{Name: "n"})
		if len(p.notes) != 1 || p.notes[0].Kind != eviction.EvictionCancelled || p.notes[0].Probably != test.want {
			t.Errorf("%s: %+v", test.name, p.notes)
		}
	}
}
