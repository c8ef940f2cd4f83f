package dispatch

import (
	"slices"
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// own adds a pod of this program that is due some time after the begin.
func (w *world) own(kind Own, due time.Duration) *evicted {
	p := w.pod("kube-system", 0, due, quickly)
	p.Own = kind
	return p
}

func TestTheProgramsPodsGoOnceNothingElseWaits(t *testing.T) {
	w := newWorld()
	var others []*evicted
	for range 100 {
		others = append(others, w.pod("others", 1, 500*time.Millisecond, quickly))
	}
	sibling := w.own(Sibling, 0)
	w.run([]*evicted{sibling}, time.Hour)
	for _, p := range others {
		if p.done.IsZero() || p.done.After(sibling.done) {
			t.Fatalf("another pod is gone at %v, and the sibling at %v", p.done, sibling.done)
		}
	}
}

func TestTheProgramsPodsWaitForAMinuteAtMost(t *testing.T) {
	w := newWorld()
	w.core.options.CallsPerSecond = 1
	w.core.pace = newPace(1)
	for range 1000 {
		w.pod("others", 1, 0, quickly)
	}
	sibling := w.own(Sibling, 0)
	w.run([]*evicted{sibling}, time.Hour)
	if late := sibling.done.Sub(sibling.Deadline); late < OwnAfter || late > OwnAfter+3*time.Second {
		t.Errorf("the sibling goes after %v, want about %v", late, OwnAfter)
	}
}

func TestTheNextPodOfTheProgramWaitsForAReadyReplicaOrAMinute(t *testing.T) {
	for _, row := range []struct {
		name        string
		ready       time.Duration // when another replica is Ready
		least, most time.Duration // between the two
	}{
		{"at once", 0, ownPatience, ownPatience + time.Second},
		{"after 20 s", 20 * time.Second, 19 * time.Second, 22 * time.Second},
		{"never", time.Hour, OwnGap, OwnGap + time.Second},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld()
			sibling, self := w.own(Sibling, 0), w.own(Self, 0)
			w.core.options.OtherReady = func(not ...types.UID) bool {
				if !slices.Equal(not, []types.UID{self.UID, sibling.UID}) {
					t.Errorf("asked for a replica other than %v", not)
				}
				return !w.now.Before(w.begin.Add(row.ready))
			}
			w.run([]*evicted{sibling, self}, time.Hour)
			if gap := self.done.Sub(sibling.done); gap < row.least || gap > row.most {
				t.Errorf("the pod of this process goes %v after its sibling, want %v to %v", gap, row.least, row.most)
			}
		})
	}
}

func TestAPodOfTheProgramThatABudgetKeepsDoesNotDelayTheNextOne(t *testing.T) {
	w := newWorld()
	failing := w.own(Sibling, 0)
	failing.behave = after(10*time.Millisecond, eviction.Outcome{Kind: eviction.Blocked})
	next := w.own(Self, 2*time.Second)
	w.run([]*evicted{next}, time.Hour)
	if late := next.done.Sub(next.Deadline); late > ownPatience+time.Second {
		t.Errorf("a pod that a budget keeps delays the next one by %v", late)
	}
}

func TestThePodsOfTheProgramGoOneAtATime(t *testing.T) {
	const takes = 10 * time.Second
	w := newWorld()
	w.core.options.OtherReady = func(...types.UID) bool { return true }
	sibling, self := w.own(Sibling, 0), w.own(Self, 0)
	sibling.behave, self.behave = after(takes, succeeds), after(takes, succeeds)
	w.at(w.after(5000), func() { w.step(TimePassed{}) })
	w.run([]*evicted{sibling, self}, time.Hour)
	if gap := self.done.Sub(sibling.done); gap < takes {
		t.Errorf("the second pod is gone %v after the first, although its call takes %v", gap, takes)
	}
}

// New rates move it from its queue back to those that wait.
func TestAPodOfTheProgramThatIsQueuedGoesAfterAChangeOfTheRates(t *testing.T) {
	w := newWorld()
	w.step(Paused{true})
	sibling := w.own(Sibling, 0)
	w.at(w.after(5000), func() { w.step(Configured{Workers: 32}) })
	w.at(w.after(6000), func() { w.step(Paused{false}) })
	w.run([]*evicted{sibling}, time.Hour)
	if late := sibling.done.Sub(sibling.Deadline); late < 6*time.Second || late > 8*time.Second {
		t.Errorf("the pod goes after %v, want about 6s", late)
	}
}
