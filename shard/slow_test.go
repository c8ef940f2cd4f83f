package shard_test

import (
	"fmt"
	"maps"
	"testing"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// slowPlay has pods "slow-0", "slow-1", … with the label app=slow, and pods "other-0", … without it, all
// due at second 0.
func slowPlay(t *testing.T, slow, others int) *play {
	p := newPlay(t)
	for i := range slow {
		uid := types.UID(fmt.Sprint("slow-", i))
		p.add(uid)
		p.change(uid, func(pod *taint.Pod) { pod.Labels = map[string]string{"app": "slow"} })
	}
	for i := range others {
		p.add(types.UID(fmt.Sprint("other-", i)))
	}
	p.taint("gpu", 0)
	p.nodeChanged(0)
	return p
}

// workloads returns those of these pods.
func (p *play) workloads(uids ...types.UID) shard.SlowWorkloads {
	slow := shard.SlowWorkloads{}
	for _, uid := range uids {
		pod, _ := p.Pod(uid)
		slow[shard.WorkloadOf(pod)] = true
	}
	return slow
}

// permitSlot permits a slot while these workloads are slow, and returns who starts; "" is nobody.
func (p *play) permitSlot(second float64, slow shard.SlowWorkloads) types.UID {
	return p.permitted(second, shard.Permitted{Slow: slow})
}

func (p *play) permitPlace(second float64, slow shard.SlowWorkloads) types.UID {
	return p.permitted(second, shard.Permitted{Slow: slow, SlowPlace: true})
}

func (p *play) permitted(second float64, in shard.Permitted) types.UID {
	if start := p.step(second, in); start != nil {
		return start.Pod.UID
	}
	return ""
}

func TestAWorkloadIsItsNamespaceAndLabelsWithoutThoseThatNameASinglePod(t *testing.T) {
	pod := func(namespace string, labels map[string]string) shard.Workload {
		return shard.WorkloadOf(&taint.Pod{Namespace: namespace, Labels: labels})
	}
	web := pod("shop", map[string]string{"app": "web", "tier": "1"})
	for name, other := range map[string]shard.Workload{
		"a pod of a StatefulSet": pod("shop", map[string]string{
			"app": "web", "tier": "1", "statefulset.kubernetes.io/pod-name": "web-3", "apps.kubernetes.io/pod-index": "3",
		}),
		"a pod of an indexed Job": pod("shop", map[string]string{"app": "web", "tier": "1", "batch.kubernetes.io/job-completion-index": "7"}),
	} {
		if other != web {
			t.Errorf("%s: %q, want %q", name, other, web)
		}
	}
	for name, other := range map[string]shard.Workload{
		"another namespace": pod("bar", map[string]string{"app": "web", "tier": "1"}),
		"another value":     pod("shop", map[string]string{"app": "web", "tier": "2"}),
		"a label less":      pod("shop", map[string]string{"app": "web"}),
		"no label":          pod("shop", nil),
	} {
		if other == web {
			t.Errorf("%s is the same workload", name)
		}
	}
}

func TestAPodLikeASlowCallWaitsForASlowPlaceAndTheOthersGoOn(t *testing.T) {
	p := slowPlay(t, 3, 2)
	slow := p.workloads("slow-0")
	got := map[types.UID]bool{p.permitSlot(1, slow): true, p.permitSlot(1, slow): true}
	if want := map[types.UID]bool{"other-0": true, "other-1": true}; !maps.Equal(got, want) {
		t.Errorf("started %v in slots, want %v", got, want)
	}
	if uid := p.permitSlot(1, slow); uid != "" {
		t.Errorf("started %s in a slot", uid)
	}
	if n := p.core.WaitingForSlowPlace(); n != 3 {
		t.Errorf("%d wait for a slow place, want 3", n)
	}
	for range 3 {
		if uid := p.permitPlace(2, slow); uid == "" {
			t.Error("nobody started in a slow place")
		}
	}
	if uid := p.permitPlace(2, slow); uid != "" || p.core.Scheduled() != 0 {
		t.Errorf("started %q, %d are scheduled", uid, p.core.Scheduled())
	}
}

func TestWaitingForASlowPlaceIsNoAttempt(t *testing.T) {
	p := slowPlay(t, 1, 0)
	slow := p.workloads("slow-0")
	p.permitSlot(1, slow)
	views := p.core.Views(at(1))
	if len(views) != 1 || views[0].State != eviction.Due || views[0].Attempts != 0 || !views[0].SlowPlace {
		t.Errorf("views %+v, want one that is due, waits for a slow place, and was not tried", views)
	}
	if h := p.core.Tracked("slow-0"); !h.Queued || h.Attempts != 0 || p.core.Scheduled() != 1 {
		t.Errorf("holds %+v, %d scheduled", h, p.core.Scheduled())
	}
	p.wantNotes()
	start := p.step(2, shard.Permitted{Slow: slow, SlowPlace: true})
	if start == nil || start.Attempt != 1 {
		t.Errorf("started %+v, want attempt 1", start)
	}
	p.wantNotes(eviction.EvictionStarted)
}

func TestWhatWaitsForASlowPlaceIsCancelledAndMovedLikeAllElse(t *testing.T) {
	for name, c := range map[string]struct {
		change    func(p *play)
		scheduled int
	}{
		"the taint is lifted": {func(p *play) { p.lift("gpu"); p.nodeChanged(2) }, 0},
		"the pod is gone":     {func(p *play) { p.remove("slow-0"); p.podChanged(2, "slow-0") }, 0},
		"the pod terminates": {func(p *play) {
			p.change("slow-0", func(pod *taint.Pod) { pod.Terminating = true })
			p.podChanged(2, "slow-0")
		}, 0},
		"the toleration is longer": {func(p *play) {
			p.change("slow-0", func(pod *taint.Pod) { pod.Tolerations = append(pod.Tolerations, bears("gpu", 50)) })
			p.podChanged(2, "slow-0")
		}, 1},
		"the taint is lifted, not told yet": {func(p *play) { p.lift("gpu") }, 1},
	} {
		t.Run(name, func(t *testing.T) {
			p := slowPlay(t, 1, 0)
			slow := p.workloads("slow-0")
			p.permitSlot(1, slow)
			c.change(p)
			if n := p.core.Scheduled(); n != c.scheduled {
				t.Errorf("%d are scheduled, want %d", n, c.scheduled)
			}
			if uid := p.permitPlace(3, slow); uid != "" {
				t.Errorf("started %s", uid)
			}
			if n := p.core.WaitingForSlowPlace(); n != 0 {
				t.Errorf("%d still wait for a slow place", n)
			}
		})
	}
}

func TestAPodThatIsJudgedAgainGoesOnWaitingForASlowPlace(t *testing.T) {
	p := slowPlay(t, 2, 0)
	slow := p.workloads("slow-0")
	p.permitSlot(1, slow)
	p.nodeChanged(2)
	if n := p.core.WaitingForSlowPlace(); n != 2 || p.core.Scheduled() != 2 {
		t.Errorf("%d of %d wait for a slow place, want 2 of 2", n, p.core.Scheduled())
	}
}

func TestAWorkloadThatIsNoLongerSlowGoesBackToTheSlots(t *testing.T) {
	p := slowPlay(t, 3, 0)
	p.change("slow-2", func(pod *taint.Pod) { pod.Labels = map[string]string{"app": "slower"} })
	slow := p.workloads("slow-0", "slow-2")
	p.permitSlot(1, slow)
	p.step(2, shard.SlowChanged{Slow: p.workloads("slow-2")})
	if n := p.core.WaitingForSlowPlace(); n != 1 {
		t.Fatalf("%d wait for a slow place, want the one whose workload is still slow", n)
	}
	for range 2 {
		if uid := p.permitSlot(2, p.workloads("slow-2")); uid != "slow-0" && uid != "slow-1" {
			t.Errorf("started %q", uid)
		}
	}
	p.step(3, shard.SlowChanged{})
	if uid := p.permitSlot(3, nil); uid != "slow-2" {
		t.Errorf("started %q, want slow-2", uid)
	}
}

// A workload that was slow by chance would wait for the slow places of others for half a minute.
func TestTheOnlyCallOfASlowWorkloadMayStartInASlot(t *testing.T) {
	p := slowPlay(t, 3, 0)
	w := shard.WorkloadOf(&taint.Pod{Namespace: "ns", Labels: map[string]string{"app": "slow"}})
	busy, idle := shard.SlowWorkloads{w: true}, shard.SlowWorkloads{w: false}
	p.permitSlot(1, busy)
	p.step(2, shard.SlowChanged{Slow: idle})
	if n := p.core.WaitingForSlowPlace(); n != 2 {
		t.Fatalf("%d wait for a slow place, want all but one", n)
	}
	if uid := p.permitSlot(2, idle); uid != "slow-0" {
		t.Errorf("started %q, want slow-0", uid)
	}
	if uid := p.permitSlot(2, busy); uid != "" {
		t.Errorf("started %s, while another call is under way", uid)
	}
	if uid := p.permitPlace(2, idle); uid != "slow-1" {
		t.Errorf("started %q in a slow place, want slow-1", uid)
	}
}

// A permit may be on its way while the workload turns quick.
func TestASlowPlaceIsNotTakenByAPodOfAWorkloadThatIsNotSlow(t *testing.T) {
	p := slowPlay(t, 1, 0)
	p.permitSlot(1, p.workloads("slow-0"))
	if uid := p.permitPlace(2, nil); uid != "" {
		t.Errorf("started %s in a slow place", uid)
	}
	if uid := p.permitSlot(2, nil); uid != "slow-0" {
		t.Errorf("started %q in a slot, want slow-0", uid)
	}
}

func TestARetryOfASlowPodWaitsForItsTimeAndThenForASlowPlace(t *testing.T) {
	p := slowPlay(t, 1, 0)
	slow := p.workloads("slow-0")
	p.wantStart(0, "slow-0")
	p.ended(34, "slow-0", eviction.Outcome{Kind: eviction.Failed, Cause: "timeout"})
	if uid := p.permitSlot(34, slow); uid != "" || p.core.WaitingForSlowPlace() != 0 {
		t.Errorf("before its time: started %q, %d wait", uid, p.core.WaitingForSlowPlace())
	}
	if uid := p.permitSlot(34.1, slow); uid != "" || p.core.WaitingForSlowPlace() != 1 {
		t.Errorf("at its time: started %q, %d wait", uid, p.core.WaitingForSlowPlace())
	}
	if uid := p.permitPlace(34.1, slow); uid != "slow-0" {
		t.Errorf("started %q", uid)
	}
}

// A thousand of them are moved once, not at each permit.
func TestAGrantDoesNotVisitThoseThatWaitForASlowPlace(t *testing.T) {
	p := slowPlay(t, 1000, 100)
	slow := p.workloads("slow-0")
	for i := range 100 {
		p.change(types.UID(fmt.Sprint("other-", i)), func(pod *taint.Pod) { pod.Priority = -1 })
	}
	p.nodeChanged(0)
	p.permitSlot(1, slow)
	reads := p.reads
	for range 99 {
		if p.permitSlot(1, slow) == "" {
			t.Fatal("nobody started")
		}
	}
	if n := p.reads - reads; n != 99 {
		t.Errorf("%d pods were read for 99 permits", n)
	}
	if n := p.core.WaitingForSlowPlace(); n != 1000 {
		t.Fatalf("%d wait, want 1000", n)
	}
	reads = p.reads
	for range 64 {
		p.permitPlace(1, slow)
	}
	if n := p.reads - reads; n != 64 {
		t.Errorf("%d pods were read for 64 slow places", n)
	}
}
