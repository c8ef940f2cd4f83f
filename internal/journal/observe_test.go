package journal_test

import (
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return zero.Add(time.Duration(seconds * float64(time.Second))) }

func noExecute(key, value string) v1.Taint {
	return v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoExecute}
}

// added returns the taint with a timeAdded.
func added(t v1.Taint, seconds float64) v1.Taint {
	t.TimeAdded = &metav1.Time{Time: at(seconds)}
	return t
}

// look returns an observation of a node that was created at second -100.
func look(second float64, taints ...v1.Taint) journal.Observation {
	return journal.Observation{Taints: taints, At: at(second), Created: at(-100)}
}

func listed(second float64, taints ...v1.Taint) journal.Observation {
	s := look(second, taints...)
	s.Gap = true
	return s
}

// relisted returns what a list shows after a gap of this process's watch.
func relisted(second float64, taints ...v1.Taint) journal.Observation {
	s := listed(second, taints...)
	s.Watched = at(-1000)
	return s
}

// gap returns an observation at second 10, after a gap; the node was last watched at the second watched.
func gap(watched float64, taints ...v1.Taint) journal.Observation {
	s := listed(10, taints...)
	s.Watched = at(watched)
	return s
}

// on returns the observation at this version of the node.
func on(version string, s journal.Observation) journal.Observation {
	s.Version = version
	return s
}

// viewed is a node's history, and the node's version at the last observation.
type viewed struct {
	journal.NodeHistory

	version string
}

// after returns a node after these observations. Each is at the node's next version, unless it has one.
func after(looks ...journal.Observation) (n viewed) {
	for i, s := range looks {
		if s.Version == "" {
			s.Version = strconv.Itoa(i + 1)
		}
		n.look(s)
	}
	return n
}

// look adds an observation of the node.
func (v *viewed) look(s journal.Observation) {
	s.Before = v.version
	v.NodeHistory, _ = v.Observe(s)
	v.version = s.Version
}

// show formats histories as "key=value@since", with ended states in parentheses.
func show(histories []taint.History) (lines []string) {
	for _, h := range histories {
		line := ""
		for _, s := range h {
			text := s.Taint.Key + "=" + s.Taint.Value + "@" + strconv.FormatFloat(s.Since.Sub(zero).Seconds(), 'f', -1, 64)
			if s.Ended {
				text = "(" + text + ")"
			}
			line += text + " "
		}
		lines = append(lines, line[:len(line)-1])
	}
	return lines
}

func TestObserve(t *testing.T) {
	gpu, disk := noExecute("gpu", ""), noExecute("disk", "")
	notReady, unreachable := noExecute(v1.TaintNodeNotReady, ""), noExecute(v1.TaintNodeUnreachable, "")
	for _, c := range []struct {
		name  string
		looks []journal.Observation
		want  []string
	}{
		{"a taint counts from the moment it was seen to appear", []journal.Observation{listed(0), look(1.5, gpu)}, []string{"gpu=@1.5"}},
		{"its timeAdded is not believed then", []journal.Observation{listed(0), look(5, added(gpu, 1))}, []string{"gpu=@5"}},
		{"a later change of timeAdded is ignored", []journal.Observation{look(1, gpu), look(5, added(gpu, 4))}, []string{"gpu=@1"}},
		{"other effects are passed over", []journal.Observation{look(1, v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoSchedule})}, nil},
		{"one taint with two effects", []journal.Observation{look(1, v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoSchedule}, gpu)}, []string{"gpu=@1"}},
		{"a lifted taint is forgotten", []journal.Observation{look(1, gpu), look(2)}, nil},
		{"a taint that was lifted and set again is new", []journal.Observation{look(1, gpu), look(2), look(3, gpu)}, []string{"gpu=@3"}},
		{"each taint has its own time", []journal.Observation{look(1, gpu), look(2, gpu, disk)}, []string{"gpu=@1", "disk=@2"}},
		{"another value is another state of the same taint", []journal.Observation{look(1, noExecute("load", "1")), look(2, noExecute("load", "2"))}, []string{"(load=1@1) load=2@2"}},

		{"listed with timeAdded: the second after it", []journal.Observation{listed(10, added(gpu, 4))}, []string{"gpu=@5"}},
		{"listed without timeAdded: now", []journal.Observation{listed(10, gpu)}, []string{"gpu=@10"}},
		{"listed with a timeAdded in the future: now", []journal.Observation{listed(10, added(gpu, 11))}, []string{"gpu=@10"}},
		{"listed within the second of its timeAdded: now", []journal.Observation{listed(10.25, added(gpu, 10))}, []string{"gpu=@10.25"}},
		{"listed with a timeAdded before the node's creation: now", []journal.Observation{listed(10, added(gpu, -101))}, []string{"gpu=@10"}},
		{"listed with a timeAdded at the node's creation", []journal.Observation{listed(10, added(gpu, -100))}, []string{"gpu=@-99"}},

		{"after a gap, a taint with its timeAdded is the same one", []journal.Observation{look(1.5, added(gpu, 1)), gap(1.5, added(gpu, 1))}, []string{"gpu=@1.5"}},
		{"after a gap, a taint without timeAdded is the same one", []journal.Observation{look(1.5, gpu), gap(1.5, gpu)}, []string{"gpu=@1.5"}},
		{"after a gap, a later timeAdded means a new taint", []journal.Observation{look(1.5, added(gpu, 1)), gap(3, added(gpu, 6))}, []string{"gpu=@7"}},
		{"after a gap, a later timeAdded in the future means a new taint, from now on", []journal.Observation{look(1.5, added(gpu, 1)), gap(3, added(gpu, 16))}, []string{"gpu=@10"}},
		{"without a gap, a later timeAdded is remembered, and means nothing after the next gap", []journal.Observation{look(1.5, gpu), look(5, added(gpu, 4)), gap(9, added(gpu, 4))}, []string{"gpu=@1.5"}},
		{"after a gap, another value of the taint is another state of it", []journal.Observation{look(1, noExecute("load", "1")), gap(3, noExecute("load", "2"))}, []string{"(load=1@1) load=2@10"}},
		{"after a gap, a new taint counts from its timeAdded", []journal.Observation{look(1), gap(3, added(gpu, 6))}, []string{"gpu=@7"}},
		{"after a gap, a new taint whose timeAdded is from before the gap counts from now", []journal.Observation{look(1), gap(3, added(gpu, 1))}, []string{"gpu=@10"}},
		{"not-ready with a later timeAdded, set while somebody watched, is the same one", []journal.Observation{look(1, added(notReady, 1)), gap(8, added(notReady, 6))}, []string{notReady.Key + "=@1"}},
		{"not-ready with a later timeAdded, set while nobody watched, is a new one", []journal.Observation{look(1, added(notReady, 1)), gap(4, added(notReady, 6))}, []string{notReady.Key + "=@7"}},
		{"swapped while somebody watched: one presence", []journal.Observation{look(1, added(notReady, 1)), gap(8, added(unreachable, 6))}, []string{"(" + notReady.Key + "=@1) " + unreachable.Key + "=@10"}},
		{"swapped while nobody watched: a new one", []journal.Observation{look(1, added(notReady, 1)), gap(4, added(unreachable, 6))}, []string{unreachable.Key + "=@7"}},
		{"one of both set anew while nobody watched: the other stands", []journal.Observation{look(1, added(notReady, 1), added(unreachable, 1)), gap(4, added(notReady, 1), added(unreachable, 6))}, []string{notReady.Key + "=@1 " + unreachable.Key + "=@1"}},

		{"the swap of not-ready for unreachable is one presence", []journal.Observation{look(1, notReady), look(2, unreachable)}, []string{"(" + notReady.Key + "=@1) " + unreachable.Key + "=@2"}},
		{"a swap in two steps too", []journal.Observation{look(1, notReady), look(2, notReady, unreachable), look(2.5, unreachable)}, []string{"(" + notReady.Key + "=@1) " + unreachable.Key + "=@2"}},
		{"both there: one history, both standing", []journal.Observation{look(1, notReady), look(2, unreachable, notReady)}, []string{notReady.Key + "=@1 " + unreachable.Key + "=@2"}},
		{"the second one lifted: as if it had not been", []journal.Observation{look(1, notReady), look(2, unreachable, notReady), look(3, notReady)}, []string{notReady.Key + "=@1"}},
		{"swapped without a timeAdded being believed", []journal.Observation{look(1, notReady), look(9, added(unreachable, 3))}, []string{"(" + notReady.Key + "=@1) " + unreachable.Key + "=@9"}},
		{"both listed, in the order of their times", []journal.Observation{listed(10, added(notReady, 5), added(unreachable, 3))}, []string{unreachable.Key + "=@4 " + notReady.Key + "=@6"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, show(after(c.looks...).Taints())); diff != "" {
				t.Error(diff)
			}
		})
	}
}

func TestALookThatShowsNothingNewChangesNothing(t *testing.T) {
	known := after(look(1, noExecute("gpu", ""), noExecute("disk", "")))
	if _, changed := known.Observe(look(2, noExecute("gpu", ""), noExecute("disk", ""))); changed {
		t.Error("something has changed")
	}
}

func TestWhatWasKnownIsNotWrittenTo(t *testing.T) {
	known := after(look(1, noExecute("load", "1")))
	before := show(known.Taints())
	known.Observe(look(2, noExecute("load", "2")))
	if diff := cmp.Diff(before, show(known.Taints())); diff != "" {
		t.Error(diff)
	}
}

// changes returns the history of a taint "load" that takes n values, one each second from second 0.
func changes(n int, apart func(a, b *v1.Taint) bool) []taint.History {
	looks := make([]journal.Observation, n)
	for i := range looks {
		looks[i] = look(float64(i), noExecute("load", strconv.Itoa(i)))
		looks[i].Distinguishes = apart
	}
	return after(looks...).Taints()
}

func TestAHistoryKeepsItsLatestStates(t *testing.T) {
	h := changes(20, nil)[0]
	if len(h) != journal.States || !h[0].Since.Equal(at(20-journal.States)) {
		t.Errorf("got %v", show([]taint.History{h}))
	}
}

// A taint whose value changes all the time must not postpone the end of a countdown for ever.
func TestStatesThatNoPodTellsApartAreJoinedSoThatTheStartStays(t *testing.T) {
	h := changes(50, func(_, _ *v1.Taint) bool { return false })[0]
	if len(h) > journal.States || !h[0].Since.Equal(at(0)) {
		t.Errorf("got %v, want a start at second 0", show([]taint.History{h}))
	}
}

func TestJoiningStatesNeverChangesAVerdict(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		pods := rapid.SliceOfN(rapid.Custom(drawPod), 0, 4).Draw(t, "pods")
		apart := func(a, b *v1.Taint) bool {
			for _, p := range pods {
				if taint.ToleratesForever(p, a, taint.Rules{}) != taint.ToleratesForever(p, b, taint.Rules{}) {
					return true
				}
			}
			return false
		}
		var kept journal.NodeHistory
		var whole taint.History
		for i, value := range rapid.SliceOfN(rapid.IntRange(0, 9), 1, 30).Draw(t, "values") {
			now := noExecute("load", strconv.Itoa(value))
			s := look(float64(i), now)
			s.Distinguishes = apart
			kept, _ = kept.Observe(s)
			if len(whole) == 0 || whole[len(whole)-1].Taint.Value != now.Value {
				for j := range whole {
					whole[j].Ended = true
				}
				whole = append(whole, taint.State{Taint: now, Since: at(float64(i))})
			}
			for _, p := range pods {
				got := taint.Decide(p, &taint.Node{Name: "n", Taints: kept.Taints()}, taint.Rules{})
				want := taint.Decide(p, &taint.Node{Name: "n", Taints: []taint.History{whole}}, taint.Rules{})
				if got.Evict != want.Evict || got.At.Before(want.At) {
					t.Fatalf("second %d: with 8 states %v, with all %v", i, got, want)
				}
			}
		}
	})
}

func drawPod(t *rapid.T) *taint.Pod {
	limit := int64(rapid.IntRange(1, 20).Draw(t, "seconds"))
	return &taint.Pod{Node: "n", Bound: at(0), Tolerations: []v1.Toleration{
		{Key: "load", Operator: v1.TolerationOpLt, Value: strconv.Itoa(rapid.IntRange(0, 9).Draw(t, "limit"))},
		{Key: "load", Operator: v1.TolerationOpExists, TolerationSeconds: &limit},
	}}
}

// A step of the wall clock moves no deadline: times that Observe derives from API times are on the monotonic clock of
// the observation.
func TestAListedTimeRunsOnTheMonotonicClock(t *testing.T) {
	now := time.Now()
	known := after(journal.Observation{
		Taints: []v1.Taint{{Key: "gpu", Effect: v1.TaintEffectNoExecute, TimeAdded: &metav1.Time{Time: now.Add(-time.Hour).Round(0)}}},
		At:     now, Created: now.Add(-2 * time.Hour), Gap: true,
	})
	since := known.Taints()[0][0].Since
	if !strings.Contains(since.String(), " m=") {
		t.Error("the start has no monotonic reading")
	}
}
