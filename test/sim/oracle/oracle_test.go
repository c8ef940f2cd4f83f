package oracle

import (
	"errors"
	"strconv"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// scene is a world with the node n, the pod p and one process, driven by hand. Seconds count from the epoch.
type scene struct {
	*Oracle
	p       *Process
	version int
	node    *v1.Node
}

func at(seconds float64) time.Duration { return time.Duration(seconds * float64(time.Second)) }

func newScene() *scene {
	s := &scene{Oracle: New(time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC))}
	s.p = s.Started("process", 0)
	return s
}

// write writes the node with these taints at that second.
func (s *scene) write(second float64, taints ...v1.Taint) *v1.Node {
	s.version++
	s.node = &v1.Node{
		ObjectMeta: metav1.ObjectMeta{Name: "n", UID: "n", ResourceVersion: strconv.Itoa(s.version), CreationTimestamp: s.stamp(0)},
		Spec:       v1.NodeSpec{Taints: taints},
	}
	s.NodeWritten(at(second), s.node, false)
	return s.node
}

// latest returns the version of the node.
func (s *scene) latest() int64 { return int64(s.version) }

func (s *scene) stamp(second int64) metav1.Time {
	return metav1.Time{Time: s.Epoch.Add(time.Duration(second) * time.Second)}
}

// pod writes the pod, bound at second 1, and shows it to the process.
func (s *scene) pod(tolerations ...v1.Toleration) {
	const second = 1
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Name: "p", UID: "p"}, Spec: v1.PodSpec{NodeName: "n", Tolerations: tolerations}}
	s.PodWritten(at(second), pod, false)
	s.p.WatchedPod(at(second), pod, false)
}

func tainted(key, value string) v1.Taint {
	return v1.Taint{Key: key, Value: value, Effect: v1.TaintEffectNoExecute}
}

func (s *scene) timed(t v1.Taint, second int64) v1.Taint {
	stamp := s.stamp(second)
	t.TimeAdded = &stamp
	return t
}

func bearing(key string, seconds int64) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
}

// wantBounds requires the bounds of the pod's deadline to be these two seconds.
func (s *scene) wantBounds(t *testing.T, lo, hi float64) {
	t.Helper()
	v := s.p.evaluate(s.p.pod("p"))
	if !v.evict || v.lo != at(lo) || v.hi != at(hi) {
		t.Errorf("got %+v, want bounds of %v and %v", v, at(lo), at(hi))
	}
}

func wantRule(t *testing.T, err error, want string) {
	t.Helper()
	v, ok := errors.AsType[*Violation](err)
	if want == "" && err != nil || want != "" && (!ok || v.Rule != want) {
		t.Errorf("got %v, want %q", err, want)
	}
}

func TestWhatIsSeenToAppearCountsFromTheWriteToTheSight(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5.5), s.write(5, tainted("gpu", "")), false)
	s.wantBounds(t, 15, 15.5)
}

func TestATimeAddedCountsOnlyForWhatWasFound(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.ListedNodes(at(9), []*v1.Node{s.write(5.25, s.timed(tainted("gpu", ""), 5))}, s.latest(), FirstListed)
	s.wantBounds(t, 15.25, 17.5) // the process may be ahead by 1.5 s
}

func TestATimeAddedInTheFutureOrBeforeTheNodeIsNotBelieved(t *testing.T) {
	for _, added := range []int64{30, -10} {
		s := newScene()
		s.pod(bearing("gpu", 10))
		s.p.ListedNodes(at(9), []*v1.Node{s.write(5, s.timed(tainted("gpu", ""), added))}, s.latest(), FirstListed)
		s.wantBounds(t, 15, 19)
	}
}

func TestAnUntimedTaintSetAgainUnseenCountsAsOne(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.write(6)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(7, tainted("gpu", ""))}, s.latest(), Relisted)
	s.wantBounds(t, 15, 15)
	if s.Seen["OneByException"] != 1 {
		t.Errorf("counted %d exceptions", s.Seen["OneByException"])
	}
}

func TestATaintThatIsSeenToBeLiftedIsNewWhenItIsSetAgain(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.p.WatchedNode(at(6), s.write(6), false)
	s.p.WatchedNode(at(7.5), s.write(7, tainted("gpu", "")), false)
	s.wantBounds(t, 17, 17.5)
}

func TestALaterTimeAddedMeansANewTaintAfterAGap(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, s.timed(tainted("gpu", ""), 5)), false)
	s.write(6)
	s.p.ListedNodes(at(12), []*v1.Node{s.write(8.5, s.timed(tainted("gpu", ""), 8))}, s.latest(), Relisted)
	s.wantBounds(t, 18.5, 22)
}

func TestASwapWhileSomebodyWatchedIsOneTaint(t *testing.T) {
	s := newScene()
	s.pod(bearing("", 10))
	s.p.WatchedNode(at(5), s.write(5, s.timed(tainted(v1.TaintNodeNotReady, ""), 5)), false)
	s.p.WatchedNode(at(9), s.write(9, s.timed(tainted(v1.TaintNodeUnreachable, ""), 9)), false)
	s.wantBounds(t, 15, 15)
}

func TestAnExposureIsTheLatestUnbrokenRun(t *testing.T) {
	s := newScene()
	s.pod(v1.Toleration{Key: "load", Value: "2"}, bearing("load", 10))
	for i, value := range []string{"1", "2", "3", "4"} {
		s.p.WatchedNode(at(float64(5+i)), s.write(float64(5+i), tainted("load", value)), false)
	}
	s.wantBounds(t, 17, 17) // value 2, since second 6, is tolerated forever
}

// recorded returns what the writer records of the node.
func recorded(t *testing.T, writer *Process) Record {
	t.Helper()
	r, err := writer.Recorded("n", strconv.FormatInt(writer.node("n").changed, 10))
	wantRule(t, err, "")
	return r
}

func TestARecordContainsExactlyWhatItsWriterWasShown(t *testing.T) {
	s := newScene()
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.p.WatchedNode(at(6), s.write(6, tainted("gpu", "1")), false)
	s.p.WatchedNode(at(7), s.write(7, tainted("gpu", "1")), false)
	for version, want := range map[string]string{"1": Records, "2": "", "3": "", "4": Records} {
		_, err := s.p.Recorded("n", version)
		t.Log("version", version)
		wantRule(t, err, want)
	}
}

func TestARecordCountsForWhatWasFound(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("gpu", ""))
	writer.WatchedNode(at(5.25), n, false)
	record := recorded(t, writer)
	s.pod(bearing("gpu", 10))
	s.p.ListedNodes(at(9), []*v1.Node{n}, s.latest(), FirstListed)
	s.wantBounds(t, 15, 19)
	s.p.Explained(at(9), record, writer.LastWatched())
	s.wantBounds(t, 15, 18.251)
}

func TestARecordCountsThoughAnotherTaintHasChangedSince(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("gpu", ""))
	writer.WatchedNode(at(5.25), n, false)
	s.pod(bearing("gpu", 10), v1.Toleration{Key: "disk", Operator: v1.TolerationOpExists})
	s.p.ListedNodes(at(9), []*v1.Node{n}, s.latest(), FirstListed)
	s.p.WatchedNode(at(10), s.write(10, tainted("gpu", ""), tainted("disk", "")), false)
	s.p.Explained(at(11), recorded(t, writer), writer.LastWatched())
	s.wantBounds(t, 15, 18.251)
}

func TestWhatWasSeenSinceCarriesARecordOn(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("load", "1"))
	writer.WatchedNode(at(5.25), n, false)
	s.pod(v1.Toleration{Key: "load", Value: "2"}, bearing("load", 10))
	s.p.ListedNodes(at(9), []*v1.Node{n}, s.latest(), FirstListed)
	s.p.WatchedNode(at(11), s.write(11, tainted("load", "2")), false)
	s.p.WatchedNode(at(12), s.write(12, tainted("load", "1")), false)
	s.p.Explained(at(13), recorded(t, writer), writer.LastWatched())
	s.wantBounds(t, 22, 22) // value 2 is tolerated forever
}

// The process loses its watch twice. Then it reads what was recorded between the gaps: by the writer, who has seen that
// the taint was set again in the first one, or by itself.
func TestARecordExplainsWhatAnEarlierGapHasHidden(t *testing.T) {
	for own, hi := range map[bool]float64{false: 20.501, true: 15.5} {
		s := newScene()
		writer := s.Started("writer", 0)
		s.pod(bearing("gpu", 10))
		n := s.write(5, tainted("gpu", "a"))
		s.p.WatchedNode(at(5.5), n, false)
		writer.WatchedNode(at(5.5), n, false)
		writer.WatchedNode(at(6.5), s.write(6), false)
		n = s.write(7, tainted("gpu", "b"))
		writer.WatchedNode(at(7.5), n, false)
		s.p.ListedNodes(at(8), []*v1.Node{n}, s.latest(), Relisted)
		if own {
			writer = s.p
		}
		record, last := recorded(t, writer), writer.LastWatched()
		s.p.ListedNodes(at(20), []*v1.Node{s.write(19, tainted("gpu", "b"))}, s.latest(), Relisted)
		s.p.Explained(at(21), record, last)
		s.wantBounds(t, 15, hi)
	}
}

func TestARecordFromBeforeTheTaintWasSeenToBeAbsentMeansNothing(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	writer.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.pod(bearing("gpu", 10))
	s.p.ListedNodes(at(7), []*v1.Node{s.write(6)}, s.latest(), FirstListed)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(8, tainted("gpu", ""))}, s.latest(), Relisted)
	s.p.Explained(at(9), recorded(t, writer), writer.LastWatched())
	s.wantBounds(t, 18, 19)
}

func TestClocksThatDifferMakeWhatARecordSaysLater(t *testing.T) {
	for _, c := range []struct {
		name           string
		writer, reader float64 // how far their clocks are ahead
		lo, hi         float64
	}{
		{"in step", 0, 0, 15, 18.251},
		{"the writer behind", -60, 0, 15, 18.251},
		{"the reader far ahead", 0, 60, 15, 18.251},
		{"the writer a little ahead", 2, 0, 15, 18.751},
		{"the writer far ahead: as it was found", 60, 0, 15, 19},
		{"the reader a little behind", 0, -2, 17, 18.751},
	} {
		s := newScene()
		s.p = s.Started("reader", at(c.reader))
		writer := s.Started("writer", at(c.writer))
		n := s.write(5, tainted("gpu", ""))
		writer.WatchedNode(at(5.25), n, false)
		s.pod(bearing("gpu", 10))
		s.p.ListedNodes(at(9), []*v1.Node{n}, s.latest(), FirstListed)
		s.p.Explained(at(9), recorded(t, writer), writer.LastWatched())
		t.Log(c.name)
		s.wantBounds(t, c.lo, c.hi)
	}
}

// managed sets the time of the node's managedFields.
func (s *scene) managed(n *v1.Node, second int64) *v1.Node {
	n.ManagedFields = []metav1.ManagedFieldsEntry{{Time: new(s.stamp(second)), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`)}}
	return n
}

// A taint without timeAdded that was set again unseen counts from the time of its managedFields, if that is later than
// the last look, and the list is the same.
func TestManagedFieldsMayMakeAStartLater(t *testing.T) {
	for _, c := range []struct {
		name    string
		written int64
		taints  []v1.Taint
		lo, hi  float64
	}{
		{"the same list", 7, []v1.Taint{tainted("gpu", "")}, 17, 19},
		{"written before", 1, []v1.Taint{tainted("gpu", "")}, 15, 15},
		{"another list", 7, []v1.Taint{tainted("gpu", ""), tainted("disk", "")}, 15, 15},
	} {
		s := newScene()
		s.pod(bearing("gpu", 10), v1.Toleration{Key: "disk", Operator: v1.TolerationOpExists})
		s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
		s.write(6)
		s.p.ListedNodes(at(9), []*v1.Node{s.managed(s.write(7, c.taints...), c.written)}, s.latest(), Relisted)
		t.Log(c.name)
		s.wantBounds(t, c.lo, c.hi)
	}
}

func TestNoDeadlineMovesWhenTheWallClockIsSet(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.p.ClockSet(time.Hour)
	s.p.WatchedNode(at(6), s.write(6, tainted("gpu", ""), tainted("disk", "")), false)
	s.pod(bearing("gpu", 10), bearing("disk", 60))
	s.wantBounds(t, 15, 15)
}

func TestWhatAProcessHolds(t *testing.T) {
	queued := func(deadline, next float64) Held { return Held{Queued: true, Deadline: at(deadline), At: at(next)} }
	for _, c := range []struct {
		name string
		held Held
		want string
	}{
		{"the deadline within its bounds", queued(15.25, 15.25), ""},
		{"earlier than what is true", queued(14.5, 14.5), Early},
		{"later than what was seen", queued(15.75, 15.75), Late},
		{"put off after a failure", queued(15.25, 40), ""},
		{"put off for more than a minute", queued(15.25, 90), Pending},
		{"nothing", Held{}, Pending},
		{"a call", Held{Calling: true}, ""},
		{"accepted, as nobody has said", Held{Accepted: true}, Pending},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := newScene()
			s.pod(bearing("gpu", 10))
			s.p.WatchedNode(at(5.5), s.write(5, tainted("gpu", "")), false)
			count := map[bool]int{true: 1}[c.held.Queued]
			wantRule(t, s.p.Settled(at(20), count, map[types.UID]Held{"p": c.held}), c.want)
		})
	}
}

func TestAPodThatStaysIsNotHeld(t *testing.T) {
	s := newScene()
	s.pod(v1.Toleration{Operator: v1.TolerationOpExists})
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	wantRule(t, s.p.Settled(at(6), 1, map[types.UID]Held{"p": {Queued: true}}), Empty)
	wantRule(t, s.p.Called(at(6), "p", at(5), 1), Stays)
}

func TestACallIsNeitherEarlyNorHasty(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	wantRule(t, s.p.Called(at(14), "p", at(15), 1), Early)
	wantRule(t, s.p.Called(at(15), "p", at(15), 1), "")
	s.p.Ended(at(16), "p", time.Second)
	wantRule(t, s.p.Called(at(16.5), "p", at(15), 2), Wait)
	wantRule(t, s.p.Called(at(17), "p", at(15), 2), "")
	s.p.WatchedPod(at(18), &v1.Pod{ObjectMeta: metav1.ObjectMeta{UID: "p"}}, true)
	wantRule(t, s.p.Called(at(19), "p", at(15), 3), Stays)
}

func TestTheNodeIsConfirmedAsItWasThen(t *testing.T) {
	s := newScene()
	s.pod()
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	wantRule(t, s.p.Writes(at(11), "p", at(6), at(6.5)), "")
	wantRule(t, s.p.Writes(at(11.5), "p", at(6), at(6.5)), Confirmed)
	wantRule(t, s.p.Writes(at(7), "p", at(4), at(6.5)), Stays)
	s.write(7)
	wantRule(t, s.p.Writes(at(8), "p", at(6), at(8)), Confirmed)
	s.NodeWritten(at(9), s.node, true)
	wantRule(t, s.p.Writes(at(9), "p", at(6), at(9)), Confirmed)
}

func TestADeletionIsRepeatedOnlyAfterALostAnswer(t *testing.T) {
	s := newScene()
	s.pod()
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	wantRule(t, s.p.Called(at(6), "p", at(5), 1), "")
	wantRule(t, s.p.Deletes("p", "other", true), OtherUID)
	wantRule(t, s.p.Deletes("p", "p", false), Leading)
	wantRule(t, s.p.Deletes("p", "p", true), "")
	wantRule(t, s.p.Arrived("p", "p"), "")
	wantRule(t, s.p.Deletes("p", "p", true), Second)
	s.p.Answered("p", false)
	wantRule(t, s.p.Deletes("p", "p", true), "")
	wantRule(t, s.p.Arrived("p", "p"), "")
	s.p.Answered("p", true)
	wantRule(t, s.p.Deletes("p", "p", true), Second)
	wantRule(t, s.p.Arrived("p", "other"), OtherUID)
}

func TestWhatIsDueIsGoneAtAQuietEnd(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	wantRule(t, s.p.Ends(at(90), at(8), at(60), nil), "")
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	wantRule(t, s.p.Ends(at(70), at(8), at(60), nil), "")
	wantRule(t, s.p.Ends(at(90), at(8), at(60), nil), Behind)
	s.PodWritten(at(80), s.p.pod("p").pod, true)
	wantRule(t, s.p.Ends(at(90), at(8), at(60), nil), "")
}

// Whatever a process assumes, the true history decides at the end.
func TestWhatIsTrulyDueIsGoneAtAQuietEnd(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.write(5, tainted("gpu", ""))
	wantRule(t, s.p.Ends(at(90), at(8), at(60), nil), Behind)
}

func TestMatches(t *testing.T) {
	for _, c := range []struct {
		toleration v1.Toleration
		value      string
		want       bool
	}{
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpExists}, "5", true},
		{v1.Toleration{Operator: v1.TolerationOpExists}, "5", true},
		{v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists}, "5", false},
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule}, "5", false},
		{v1.Toleration{Key: "load", Value: "5"}, "5", true},
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpEqual, Value: "4"}, "5", false},
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpGt, Value: "4"}, "5", true},
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpLt, Value: "4"}, "5", false},
		{v1.Toleration{Key: "load", Operator: v1.TolerationOpLt, Value: "9"}, "high", false},
	} {
		if got := matches(&c.toleration, "load", c.value); got != c.want {
			t.Errorf("%+v, value %s: got %v", c.toleration, c.value, got)
		}
	}
}

func TestATaintIsShownSinceTheFirstSight(t *testing.T) {
	s := newScene()
	s.p.WatchedNode(at(5.5), s.write(5, tainted("gpu", "")), false)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(7, s.timed(tainted("gpu", "1"), 7), tainted("disk", ""))}, s.latest(), Relisted)
	s.Started("later", 0).ListedNodes(at(20), []*v1.Node{s.node}, s.latest(), Relisted)
	for key, want := range map[string]time.Duration{"gpu": at(5.5), "disk": at(9), "load": Far} {
		if got := s.ShownSince("n", key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	s.Started("first", 0).ListedNodes(at(20), []*v1.Node{s.node}, s.latest(), FirstListed)
	if got := s.ShownSince("n", "gpu"); got != 0 {
		t.Errorf("found in a first list: got %v", got)
	}
}
