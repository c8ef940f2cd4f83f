package dispatch

import (
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
)

// own adds a pod of this program that is due some time after the begin.
func (w *world) own(kind Own, due time.Duration) *evicted {
	p := w.pod("kube-system", 0, 9, due, quickly)
	p.Own = kind
	return p
}

func TestTheProgramsPodsGoOnceNothingElseCanStart(t *testing.T) {
	w := newWorld()
	var others []*evicted
	for range 100 {
		others = append(others, w.pod("others", 1, 1, 500*time.Millisecond, quickly))
	}
	sibling, self := w.own(Sibling, 0), w.own(Self, 0)
	w.run([]*evicted{sibling, self}, time.Hour)
	for _, p := range others {
		if p.done.IsZero() || p.done.After(sibling.done) {
			t.Fatalf("another pod is gone at %v, and the sibling at %v", p.done, sibling.done)
		}
	}
	if late := self.done.Sub(sibling.done); late < ownGap || late > ownGap+time.Second {
		t.Errorf("the pod of this process goes %v after its sibling, want %v", late, ownGap)
	}
}

func TestTheProgramsPodsWaitForAMinuteAtMost(t *testing.T) {
	w := newWorld()
	w.core.options.CallsPerSecond = 1
	w.core.pace = newPace(1)
	for range 1000 {
		w.pod("others", 1, 1, 0, quickly)
	}
	sibling := w.own(Sibling, 0)
	w.run([]*evicted{sibling}, time.Hour)
	if late := sibling.done.Sub(sibling.Deadline); late < ownAfter || late > ownAfter+2*time.Second {
		t.Errorf("the sibling goes after %v, want about %v", late, ownAfter)
	}
}

func TestALeaderYieldsForItsOwnPodOnceNothingElseIsToBeDone(t *testing.T) {
	for _, row := range []struct {
		name     string
		others   int
		upcoming time.Duration // when a pod is due that was not offered; 0: none
		yields   time.Duration
	}{
		{"nothing else", 0, 0, ownPatience},
		{"a call under way", 1, 0, ownAfter},
		{"something is due soon", 0, 10 * time.Second, 10 * time.Second},
		{"something is due later", 0, 20 * time.Second, ownPatience},
	} {
		t.Run(row.name, func(t *testing.T) {
			w := newWorld()
			w.core.options.Yields = true
			w.core.options.Upcoming = func() time.Time {
				if at := w.begin.Add(row.upcoming); at.After(w.now) {
					return at
				}
				return time.Time{}
			}
			for range row.others {
				w.pod("others", 1, 1, 0, after(2*time.Hour, succeeds))
			}
			w.own(Self, 0)
			var yields []time.Duration
			w.yield = func() { yields = append(yields, w.now.Sub(w.begin)) }
			w.run([]*evicted{{}}, 3*time.Minute)
			if len(yields) < 2 || yields[0] != row.yields || yields[1] != row.yields+ownAfter {
				t.Errorf("yields after %v, want after %v and %v later", yields, row.yields, ownAfter)
			}
		})
	}
}

func TestASiblingThatMayEndDelaysTheNextPodOfTheProgram(t *testing.T) {
	w := newWorld()
	failing := w.own(Sibling, 0)
	failing.behave = after(10*time.Millisecond, eviction.Outcome{Kind: eviction.Blocked})
	next := w.own(Self, 2*time.Second)
	w.run([]*evicted{next}, time.Hour)
	if late := next.done.Sub(next.Deadline); late > ownPatience+time.Second {
		t.Errorf("a pod that a budget keeps delays the next one by %v", late)
	}
}
