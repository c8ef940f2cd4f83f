package cluster

import (
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/faketime"
)

// nobody is a handler that does nothing.
type nobody struct{}

func (nobody) NodeChanged(string)                      {}
func (nobody) PodChanged(types.UID, string)            {}
func (nobody) NodesChanged([]breaker.NodeChange, bool) {}
func (nobody) NodesListed()                            {}
func (nobody) NamespacesChanged()                      {}

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
	s.Feed = NewFeed(taint.Rules{}, nobody{}, s.clock)
	s.SetAhead(func(now time.Time) time.Duration {
		if s.ahead > 2*time.Second {
			return s.ahead
		}
		return 0
	})
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

// clocks maps by how much the process's clock is ahead to by how much an age may be too long then.
var clocks = map[string]struct{ ahead, early time.Duration }{
	"in step":          {0, 0},
	"an hour ahead":    {time.Hour, 0},
	"a day ahead":      {24 * time.Hour, 0},
	"within tolerance": {2 * time.Second, 2 * time.Second},
	"an hour behind":   {-time.Hour, 0},
}

func TestAProcessWhoseClockIsAheadCountsNoTimeAddedAsOlder(t *testing.T) {
	for name, c := range clocks {
		s := newSkewed(t, c.ahead)
		s.list(s.node("7", map[string]time.Duration{"gpu": 10 * time.Minute}))
		got, want := s.since(), 10*time.Minute-time.Second // a time of the API counts from the next second
		if got > want+c.early || c.ahead >= 0 && got < want {
			t.Errorf("%s: the taint is there for %v, want %v", name, got, want)
		}
	}
}

func TestAProcessWhoseClockIsAheadCountsNoPodAsBoundEarlier(t *testing.T) {
	for name, c := range clocks {
		for _, scheduled := range []bool{true, false} {
			for _, trimmed := range []bool{true, false} {
				s := newSkewed(t, c.ahead)
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
				if got > want+c.early || c.ahead >= 0 && got < want {
					t.Errorf("%s, scheduled %t: bound for %v, want %v", name, scheduled, got, want)
				}
			}
		}
	}
}

func TestAProcessWhoseClockIsAheadTakesATaintThatWasSetAgainForANewOne(t *testing.T) {
	for name, c := range clocks {
		s := newSkewed(t, c.ahead)
		s.list(s.node("7", nil))
		s.now = s.now.Add(time.Minute)
		if err := s.Nodes().Update(s.node("8", map[string]time.Duration{"gpu": 0})); err != nil {
			t.Fatal(err)
		}
		s.now = s.now.Add(10 * time.Minute) // meanwhile the taint is removed, and set again a minute ago, unseen
		s.list(s.node("20", map[string]time.Duration{"gpu": time.Minute}))
		if got := s.since(); got > time.Minute+c.early {
			t.Errorf("%s: the taint is there for %v, and was set again a minute ago", name, got)
		}
	}
}

func TestAProcessWhoseClockIsAheadCountsNoRecordAsOlder(t *testing.T) {
	for name, c := range clocks {
		s := newSkewed(t, c.ahead)
		s.list(s.node("7", map[string]time.Duration{"gpu": time.Minute}))
		history := taint.History{{
			Taint: v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute, TimeAdded: new(s.stamp(time.Minute))},
			Since: s.now.Add(-10 * time.Minute), From: "3",
		}}
		writing := journal.Writing{At: s.now.Add(-5 * time.Minute), Stored: s.now.Add(-5 * time.Minute)}
		s.Adopt("n", journal.Record{UID: "u", Version: "7", Taints: []taint.History{history}, Writing: writing})
		// The time of storing is a time of the API, and counts from the next second.
		if got, want := s.since(), 10*time.Minute; got > want+c.early || c.ahead >= 0 && got < want-time.Second {
			t.Errorf("%s: the taint is there for %v, want %v", name, got, want)
		}
	}
}

func TestAWriterWhoseClockIsBehindMakesNoRecordOlder(t *testing.T) {
	for name, c := range clocks {
		s := newSkewed(t, 0)
		s.list(s.node("7", map[string]time.Duration{"gpu": time.Minute}))
		history := taint.History{{
			Taint: v1.Taint{Key: "gpu", Effect: v1.TaintEffectNoExecute, TimeAdded: new(s.stamp(time.Minute))},
			Since: s.now.Add(c.ahead - 10*time.Minute), From: "3",
		}}
		writing := journal.Writing{At: s.now.Add(c.ahead - 5*time.Minute), Stored: s.now.Add(-5 * time.Minute)}
		s.Adopt("n", journal.Record{UID: "u", Version: "7", Taints: []taint.History{history}, Writing: writing})
		if got, want := s.since(), 10*time.Minute; got > want {
			t.Errorf("the writer's clock is %s: the taint is there for %v, want %v at most", name, got, want)
		}
	}
}
