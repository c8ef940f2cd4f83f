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
	s.p.ListedNodes(at(9), []*v1.Node{s.write(5.25, s.timed(tainted("gpu", ""), 5))}, FirstListed)
	s.wantBounds(t, 15.25, 16)
}

func TestATimeAddedInTheFutureOrBeforeTheNodeIsNotBelieved(t *testing.T) {
	for _, added := range []int64{30, -10} {
		s := newScene()
		s.pod(bearing("gpu", 10))
		s.p.ListedNodes(at(9), []*v1.Node{s.write(5, s.timed(tainted("gpu", ""), added))}, FirstListed)
		s.wantBounds(t, 15, 19)
	}
}

func TestAnUntimedTaintSetAgainUnseenCountsAsOne(t *testing.T) {
	s := newScene()
	s.pod(bearing("gpu", 10))
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.write(6)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(7, tainted("gpu", ""))}, Relisted)
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
	s.p.ListedNodes(at(12), []*v1.Node{s.write(8.5, s.timed(tainted("gpu", ""), 8))}, Relisted)
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
	s.wantBounds(t, 17, 17) // value 2, since second 6, is tolerated without a limit
}

// recorded returns what the writer records of the node at second 5.25.
func recorded(t *testing.T, writer *Process) Record {
	t.Helper()
	r, err := writer.Recorded(at(5.25), "n", strconv.FormatInt(writer.node("n").changed, 10))
	wantRule(t, err, "")
	return r
}

func TestARecordContainsExactlyWhatItsWriterWasShown(t *testing.T) {
	s := newScene()
	s.p.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.p.WatchedNode(at(6), s.write(6, tainted("gpu", "1")), false)
	s.p.WatchedNode(at(7), s.write(7, tainted("gpu", "1")), false)
	for version, want := range map[string]string{"1": Records, "2": "", "3": "", "4": Records} {
		_, err := s.p.Recorded(at(8), "n", version)
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
	s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
	s.wantBounds(t, 15, 19)
	s.p.Adopted(at(9), Way{Stored: at(5.25)}, record)
	s.wantBounds(t, 15, 15.25)
}

func TestARecordCountsThoughAnotherTaintHasChangedSince(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("gpu", ""))
	writer.WatchedNode(at(5.25), n, false)
	s.pod(bearing("gpu", 10), v1.Toleration{Key: "disk", Operator: v1.TolerationOpExists})
	s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
	s.p.WatchedNode(at(10), s.write(10, tainted("gpu", ""), tainted("disk", "")), false)
	s.p.Adopted(at(11), Way{Stored: at(5.25)}, recorded(t, writer))
	s.wantBounds(t, 15, 15.25)
}

func TestWhatWasSeenSinceCarriesARecordOn(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("load", "1"))
	writer.WatchedNode(at(5.25), n, false)
	s.pod(v1.Toleration{Key: "load", Value: "2"}, bearing("load", 10))
	s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
	s.p.WatchedNode(at(11), s.write(11, tainted("load", "2")), false)
	s.p.WatchedNode(at(12), s.write(12, tainted("load", "1")), false)
	s.p.Adopted(at(13), Way{Stored: at(5.25)}, recorded(t, writer))
	s.wantBounds(t, 22, 22) // value 2 is tolerated without a limit
}

func TestARecordFromBeforeTheTaintWasSeenToBeAbsentMeansNothing(t *testing.T) {
	s := newScene()
	writer := s.Started("writer", 0)
	writer.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	s.pod(bearing("gpu", 10))
	s.p.ListedNodes(at(7), []*v1.Node{s.write(6)}, FirstListed)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(8, tainted("gpu", ""))}, Relisted)
	s.p.Adopted(at(9), Way{Stored: at(5.25)}, recorded(t, writer))
	s.wantBounds(t, 18, 19)
}

func TestClocksThatDifferMakeWhatARecordSaysLater(t *testing.T) {
	for _, c := range []struct {
		name           string
		writer, reader float64 // how far their clocks are ahead
		how            Way
		lo, hi         float64
	}{
		{"in step", 0, 0, Way{Stored: at(5.5)}, 15, 15.25},
		{"the writer a little behind", -1, 0, Way{Stored: at(5.25)}, 14, 16.25},
		{"the writer far behind: not earlier", -60, 0, Way{Stored: at(5.25)}, 15, 16.25},
		{"the reader far ahead: not earlier", 0, 60, Way{Stored: at(5.25)}, 15, 17.75},
		{"both far ahead", 60, 60, Way{Stored: at(5.25)}, 15, 17.75},
		{"received: as late as that", -60, 60, Way{Watched: true, Received: at(7.25)}, 15, 17.25},
	} {
		s := newScene()
		s.p = s.Started("reader", at(c.reader))
		writer := s.Started("writer", at(c.writer))
		n := s.write(5, tainted("gpu", ""))
		writer.WatchedNode(at(5.25), n, false)
		s.pod(bearing("gpu", 10))
		s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
		s.p.Adopted(at(9), c.how, recorded(t, writer))
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

// twoWriters returns a process that has seen the taint gpu appear, at version 1 of the node, and the record of
// another one that has found it at version 2.
func twoWriters(t *testing.T, s *scene) (saw *Process, found Record, n *v1.Node) {
	t.Helper()
	saw = s.Started("saw", 0)
	saw.WatchedNode(at(5), s.write(5, tainted("gpu", "")), false)
	n = s.write(5.125, tainted("gpu", ""))
	late := s.Started("found", 0)
	late.ListedNodes(at(5.25), []*v1.Node{n}, FirstListed)
	return saw, recorded(t, late), n
}

// docs/adr/0013-seen-and-told.md: a record is ignored if its writer has observed less than the writer of the last one.
func TestARecordWhoseWriterHasObservedLessIsIgnored(t *testing.T) {
	s := newScene()
	saw, found, n := twoWriters(t, s)
	s.pod(bearing("gpu", 10))
	s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
	s.p.Adopted(at(9), Way{Stored: at(5.5)}, found)
	s.wantBounds(t, 15, 15.25)
	s.p.Adopted(at(10), Way{Watched: true, Received: at(10)}, recorded(t, saw))
	s.wantBounds(t, 15, 15.25)
}

func TestARecordHasAtLeastTheVersionOfTheOneThatItsWriterAdopted(t *testing.T) {
	for shown, want := range map[bool]string{true: Records, false: ""} {
		s := newScene()
		saw, found, n := twoWriters(t, s)
		if shown {
			saw.WatchedNode(at(7), n, false)
		}
		saw.Adopted(at(8), Way{Watched: true, Received: at(8)}, found)
		_, err := saw.Recorded(at(9), "n", "1")
		t.Log("it was shown as much:", shown)
		wantRule(t, err, want)
	}
}

// States are in the order in which they began.
func TestAFoundStateCountsFromNoEarlierThanTheRecordedStateBeforeIt(t *testing.T) {
	s := newScene()
	s.p = s.Started("reader", -time.Hour)
	writer := s.Started("writer", 0)
	n := s.write(5, tainted("load", "1"))
	writer.WatchedNode(at(5.25), n, false)
	s.pod(v1.Toleration{Key: "load", Value: "1"}, bearing("load", 10))
	s.p.ListedNodes(at(9), []*v1.Node{n}, FirstListed)
	s.p.ListedNodes(at(12), []*v1.Node{s.write(11, tainted("load", "2"))}, Relisted)
	s.wantBounds(t, 21, 22)
	s.p.Adopted(at(20), Way{Stored: at(5.5)}, recorded(t, writer))
	s.wantBounds(t, 21, 30) // recorded an hour late, but not later than it was read
}

func TestATaintIsShownSinceTheFirstSight(t *testing.T) {
	s := newScene()
	s.p.WatchedNode(at(5.5), s.write(5, tainted("gpu", "")), false)
	s.p.ListedNodes(at(9), []*v1.Node{s.write(7, s.timed(tainted("gpu", "1"), 7), tainted("disk", ""))}, Relisted)
	s.Started("later", 0).ListedNodes(at(20), []*v1.Node{s.node}, Relisted)
	for key, want := range map[string]time.Duration{"gpu": at(5.5), "disk": at(9), "load": far} {
		if got := s.ShownSince("n", key); got != want {
			t.Errorf("%s: got %v, want %v", key, got, want)
		}
	}
	s.Started("first", 0).ListedNodes(at(20), []*v1.Node{s.node}, FirstListed)
	if got := s.ShownSince("n", "gpu"); got != 0 {
		t.Errorf("found in a first list: got %v", got)
	}
}
