package shard_test

import (
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// newDaemonPlay returns a play by this judge with a pod of a DaemonSet that tolerates no taint, or not a DaemonSet's.
func newDaemonPlay(t *testing.T, judge policy.Judge, daemon bool) *play {
	p := newPlay(t)
	p.judge = judge
	p.add("a")
	p.change("a", func(pod *taint.Pod) { pod.Daemon = daemon })
	p.taint("gpu", 0)
	p.nodeChanged(1)
	return p
}

func pausedJudge(j policy.Judge) policy.Judge {
	return policy.Judge{Set: j.Set, Facts: &policy.Facts{Paused: true}}
}

// trippedJudge returns a judge with a breaker that has tripped for gpu.
func trippedJudge(t *testing.T) policy.Judge {
	tripped := judgeWith(t, policy.Guards{Breakers: []policy.Breaker{{
		Name: "outage", Taints: []policy.TaintKey{{Key: "gpu"}}, MaxNodes: intstr.FromString("50%"),
	}}})
	tripped.Facts.Tripped = map[policy.Trip]bool{{Breaker: "outage"}: true}
	return tripped
}

func TestTheNoteAboutAPodThatIsKeptAndDeletedSaysWhoProbablyDidIt(t *testing.T) {
	holds, deletes := judgeOf(t, of("gpu", policy.Hold)), judgeOf(t, of("gpu", policy.Delete))
	paused, tripped := pausedJudge(deletes), trippedJudge(t)
	const cause = "the pod is already being deleted, probably by the DaemonSet controller"
	for _, test := range []struct {
		name   string
		judge  policy.Judge
		daemon bool
		held   string
		want   string // "" without a note
	}{
		{"a policy holds it", holds, true, "gpu", cause},
		{"a policy holds a pod of another controller", holds, false, "", ""},
		{"a breaker holds it", tripped, true, "outage", cause},
		{"a breaker holds a pod of another controller", tripped, false, "", ""},
		{"a pause keeps it", paused, true, "", cause},
		{"a pause keeps a pod of another controller", paused, false, "", ""},
		{"nothing keeps it", deletes, true, "", ""},
	} {
		p := newDaemonPlay(t, test.judge, test.daemon)
		p.notes = nil
		p.change("a", func(pod *taint.Pod) { pod.Terminating = true })
		p.podChanged(2, "a")
		if test.want == "" {
			p.wantNotes()
			continue
		}
		if len(p.notes) != 1 || p.notes[0].Kind != eviction.EvictionCancelled || p.notes[0].Held.Name != test.held ||
			p.notes[0].WhyStays() != test.want {
			t.Errorf("%s: %+v", test.name, p.notes)
		}
	}
}

func TestThePageSaysWhichPodsTheDaemonSetControllerDeletes(t *testing.T) {
	const by = "the DaemonSet controller"
	ends := func(o eviction.Outcome) func(*play) { return func(p *play) { p.tried(1, o) } }
	rated := func(p *play) { p.waits = eviction.Wait{Cause: eviction.WaitsForRate, Rate: "slow"} }
	waits, dryRun := func(*play) {}, ends(eviction.Outcome{Kind: eviction.DryRun})
	blocked := ends(eviction.Outcome{Kind: eviction.Blocked, Cause: "pdb"})
	holds, deletes := judgeOf(t, of("gpu", policy.Hold)), judgeOf(t, of("gpu", policy.Delete))
	ignores, evicts := judgeOf(t, of("gpu", policy.Ignore)), judgeOf(t, of("gpu", policy.Evict))
	for _, test := range []struct {
		name   string
		judge  policy.Judge
		daemon bool
		play   func(*play)
		state  eviction.State
		who    string
	}{
		{"held", holds, true, waits, eviction.StateDue, by},
		{"held, of another controller", holds, false, waits, eviction.StateHeld, ""},
		{"held by a breaker", trippedJudge(t), true, waits, eviction.StateDue, by},
		{"paused", pausedJudge(deletes), true, waits, eviction.StateDue, by},
		{"blocked by a budget", evicts, true, blocked, eviction.StateDue, by},
		{"blocked, of another controller", evicts, false, blocked, eviction.StateBlocked, ""},
		{"delayed by a rate", deletes, true, rated, eviction.StateDue, by},
		{"delayed by a rate, of another controller", deletes, false, rated, eviction.StateDue, ""},
		{"ignored", ignores, true, waits, eviction.StateDue, by},
		{"in dry run", deletes, true, dryRun, eviction.StateDue, by},
		{"in dry run, of another controller", deletes, false, dryRun, eviction.StateTerminating, ""},
		{"deleted by taint-manager first", deletes, true, ends(accepted), eviction.StateTerminating, ""},
	} {
		p := newDaemonPlay(t, test.judge, test.daemon)
		test.play(p)
		v := p.view(1, "a")
		if n := len(p.core.Views(at(1))); n != 1 {
			t.Errorf("%s: %d views", test.name, n)
		}
		if v.State != test.state || v.DeletedBy != test.who || (v.Held.By != 0 || v.Waits.Cause != "") && test.who != "" {
			t.Errorf("%s: %+v", test.name, v)
		}
	}
}

func TestThePageListsAnIgnoredPodWhileTheDaemonSetControllerDeletesIt(t *testing.T) {
	ignores := judgeOf(t, of("gpu", policy.Ignore))
	for name, test := range map[string]struct {
		daemon bool
		then   func(*play)
		want   int
	}{
		"it is there":            {true, func(*play) {}, 1},
		"another controller's":   {false, func(*play) {}, 0},
		"it terminates":          {true, func(p *play) { p.change("a", func(pod *taint.Pod) { pod.Terminating = true }) }, 0},
		"it tolerates the taint": {true, func(p *play) { p.tolerate("a", v1.Toleration{Operator: v1.TolerationOpExists}) }, 0},
		"the taint is lifted":    {true, func(p *play) { p.lift("gpu") }, 0},
		"it is gone":             {true, func(p *play) { delete(p.pods, "a") }, 0},
	} {
		p := newDaemonPlay(t, ignores, test.daemon)
		test.then(p)
		p.podChanged(2, "a")
		if got := p.core.Views(at(3)); len(got) != test.want {
			t.Errorf("%s: %+v", name, got)
		}
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
