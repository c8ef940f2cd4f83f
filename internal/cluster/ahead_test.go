package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/faketime"
)

// skewed is a feed in a process whose clock is wrong. The true time is that of the API server.
type skewed struct {
	*Feed
	t     *testing.T
	began time.Time
	now   time.Time // true
	ahead time.Duration
}

func newSkewed(t *testing.T, ahead time.Duration) *skewed {
	began := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	s := &skewed{t: t, began: began, now: began, ahead: ahead}
	s.Feed = NewFeed(taint.Rules{}, &deaf{}, s.clock)
	s.SetAhead(func(time.Time) (least, most time.Duration) { return s.ahead, s.ahead })
	return s
}

func (s *skewed) clock() time.Time { return faketime.Of(s.now.Add(s.ahead), s.now.Sub(s.began)) }

// age returns how long ago a moment was by the process's clocks.
func (s *skewed) age(then time.Time) time.Duration { return s.clock().Sub(then) }

// stamp returns a time of the API, this long ago.
func (s *skewed) stamp(ago time.Duration) metav1.Time { return metav1.Time{Time: s.now.Add(-ago)} }

// node returns a node that is a day old, and was given these taints this long ago, in whole seconds.
func (s *skewed) node(version string, taints map[string]time.Duration) *v1.Node {
	n := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "u", ResourceVersion: version, CreationTimestamp: s.stamp(24 * time.Hour)}}
	for key, ago := range taints {
		added := s.stamp(ago)
		n.Spec.Taints = append(n.Spec.Taints, v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute, TimeAdded: &added})
	}
	return n
}

func (s *skewed) list(n *v1.Node, pods ...any) {
	s.t.Helper()
	if err := s.Nodes().Replace([]any{n}, ""); err != nil {
		s.t.Fatal(err)
	}
	if err := s.Pods().Replace(pods, ""); err != nil {
		s.t.Fatal(err)
	}
}

// since returns how long ago the only taint of the node began.
func (s *skewed) since() time.Duration {
	s.t.Helper()
	tainted := s.Tainted()
	if len(tainted) != 1 || len(tainted[0].Taints) != 1 {
		s.t.Fatalf("tainted are %v", tainted)
	}
	return s.age(tainted[0].Taints[0][0].Since)
}

// clocks maps names to by how much the process's clock is ahead.
var clocks = map[string]time.Duration{
	"in step": 0, "a second ahead": time.Second, "an hour ahead": time.Hour, "a day ahead": 24 * time.Hour,
	"an hour behind": -time.Hour,
}

func TestAProcessWhoseClockIsAheadCountsNoPodAsBoundEarlier(t *testing.T) {
	for name, ahead := range clocks {
		for _, scheduled := range []bool{true, false} {
			for _, trimmed := range []bool{true, false} {
				s := newSkewed(t, ahead)
				pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p", CreationTimestamp: s.stamp(10 * time.Minute)}, Spec: v1.PodSpec{NodeName: "n"}}
				if scheduled {
					pod.Status.Conditions = []v1.PodCondition{{Type: v1.PodScheduled, Status: v1.ConditionTrue, LastTransitionTime: s.stamp(10 * time.Minute)}}
				}
				var item any = pod
				if trimmed {
					item, _ = s.Pods().Transformer()(pod)
				}
				s.list(s.node("7", nil), item)
				p, _ := s.Pod("p")
				got, want := s.age(p.Bound), 10*time.Minute-time.Second
				if got > want || ahead >= 0 && got < want {
					t.Errorf("%s, scheduled %t: bound for %v, want %v", name, scheduled, got, want)
				}
			}
		}
	}
}

func TestAProcessWhoseClockIsAheadCountsNoRecordAsOlder(t *testing.T) {
	for name, ahead := range clocks {
		s := newSkewed(t, ahead)
		s.list(s.node("7", map[string]time.Duration{"gpu": time.Minute}))
		s.ApplyRecord("n", s.record(10*time.Minute), journal.LastWatch{Reached: "7"})
		if got, want := s.since(), 10*time.Minute; got > want || ahead >= 0 && got < want {
			t.Errorf("%s: the taint is there for %v, want %v", name, got, want)
		}
	}
}

// record returns a record of the node, whose taint began this long ago.
func (s *skewed) record(ago time.Duration) journal.Record {
	state := journal.TaintState{From: "3", Start: s.now.Add(-ago)}
	state.Taint = v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute, TimeAdded: new(s.stamp(time.Minute))}
	return journal.Record{UID: "u", Version: "7", Taints: [][]journal.TaintState{{state}}}
}

func TestTheHandlerIsCalledWhenARecordChangesAStart(t *testing.T) {
	s, told := newSkewed(t, 0), &deaf{}
	s.list(s.node("7", map[string]time.Duration{"gpu": time.Minute}))
	s.handler = told
	for _, when := range []string{"changes it", "has changed it before"} {
		s.ApplyRecord("n", s.record(10*time.Minute), journal.LastWatch{Reached: "7"})
		if told.calls != 1 {
			t.Errorf("a record %s: %d calls, want 1", when, told.calls)
		}
	}
}

func TestNoClockOfAWriterMakesARecordOlder(t *testing.T) {
	for name, ahead := range clocks {
		writer := newSkewed(t, ahead)
		writer.list(writer.node("7", nil))
		seen := writer.now
		if err := writer.Nodes().Update(writer.node("8", map[string]time.Duration{"gpu": 0})); err != nil {
			t.Fatal(err)
		}
		got := writer.Records(journal.PartitionOf("n"))["n"].Taints[0][0].Start
		if early := seen.Sub(got); early > 0 || ahead <= 0 && early < 0 {
			t.Errorf("%s: the start is recorded %v early", name, early)
		}
	}
}
