package guard_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/faketime"
)

// quarantine returns a policy that holds.
func quarantine() policy.Policy {
	return policy.Policy{Name: "quarantine", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "quarantine"}}}}
}

// lingering returns a policy that evicts, and deletes an hour later.
func lingering() policy.Policy {
	return policy.Policy{Name: "lingering", Method: policy.Evict, DeleteAfter: lasting(3600)}
}

func configured(paused bool, breakers []policy.Breaker, policies ...policy.Policy) guard.Config {
	c := guard.Config{Config: policy.Config{Policies: policies, Guards: policy.Guards{Breakers: breakers}}, Paused: paused}
	set, problems := policy.Compile(c.Config)
	if len(problems) > 0 {
		panic(fmt.Sprint(problems))
	}
	c.Set = set
	return c
}

// whole is a configuration with a policy that holds and a breaker.
func whole(paused bool) guard.Config {
	return configured(paused, []policy.Breaker{zones()}, quarantine(), lingering())
}

// nodes returns changes after which the first of n nodes of zone a are out.
func nodes(n, out int) (all []guard.NodeChange) {
	for i := range n {
		name := fmt.Sprintf("n%d", i)
		node := &guard.Node{Name: name, UID: types.UID(name), Labels: map[string]string{"zone": "a"}}
		if i < out {
			node.Taints = []v1.Taint{{Key: "out", Effect: v1.TaintEffectNoSchedule}}
		}
		all = append(all, guard.NodeChange{Name: name, Node: node})
	}
	return all
}

var known = guard.Journaled{Known: true}

// leader is a core with everything that it has returned.
type leader struct {
	*guard.Core
	records []guard.Record
	events  []guard.Event
}

func (l *leader) step(second float64, inputs ...guard.Input) {
	for _, in := range inputs {
		do := l.Step(at(second), in)
		if do.Record != nil {
			l.records = append(l.records, *do.Record)
		}
		l.events = append(l.events, do.Events...)
	}
}

// leading returns the core of a leader that knows four nodes and the record at second 0.
func leading(c guard.Config, j guard.Journaled) *leader {
	l := &leader{Core: guard.NewCore(c)}
	l.step(0, guard.NodesChanged{Changes: nodes(4, 0)}, guard.LeadershipBegan{}, guard.Ready{Journaled: j})
	return l
}

// ends returns the ended holds that were recorded last.
func (l *leader) ends() (list []string) {
	if len(l.records) == 0 {
		return nil
	}
	return endsOf(l.records[len(l.records)-1])
}

// known returns the ended holds that verdicts know.
func (l *leader) known() []string { return endsOf(guard.Record{Holds: l.Judge().Facts.Holds}) }

func endsOf(r guard.Record) (list []string) {
	for _, h := range r.Holds {
		if !h.Ended.IsZero() {
			list = append(list, fmt.Sprintf("%s at %gs", h.By, h.Ended.Sub(zero).Seconds()))
		}
	}
	slices.Sort(list)
	return list
}

func (l *leader) holding() (list []string) {
	if len(l.records) == 0 {
		return nil
	}
	for _, h := range l.records[len(l.records)-1].Holds {
		if h.Holds {
			list = append(list, h.By)
		}
	}
	slices.Sort(list)
	return list
}

// stored returns the last record as the journal returns it to another process.
func (l *leader) stored(t *testing.T) guard.Journaled {
	t.Helper()
	text, err := json.Marshal(l.records[len(l.records)-1])
	if err != nil {
		t.Fatal(err)
	}
	j := guard.Journaled{Known: true}
	if err := json.Unmarshal(text, &j.Record); err != nil {
		t.Fatal(err)
	}
	return j
}

func want[T any](t *testing.T, when string, got, want T) {
	t.Helper()
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", when, diff)
	}
}

func TestOnlyALeaderReportsTrips(t *testing.T) {
	reported := func(l *leader) (list []string) {
		for _, e := range l.events {
			list = append(list, fmt.Sprintf("%s %q tripped %v at %gs, %d of %d: %v", e.Trip.Breaker, e.Trip.Group, e.Tripped, e.At.Sub(zero).Seconds(), e.Affected, e.Nodes, e.Names))
		}
		return list
	}
	began := guard.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(-5)}
	ended, elsewhere := began, began
	ended.Ended, elsewhere.Group = true, "b"
	tripped := []string{`zones "a" tripped true at 1s, 3 of 4: [n0 n1 n2]`}
	for name, c := range map[string]struct {
		journaled []guard.TripRecord // when the process begins to lead
		want      []string
	}{
		"nobody has recorded the trip":             {nil, tripped},
		"only a trip of another group is recorded": {[]guard.TripRecord{elsewhere}, tripped},
		"only a trip that has ended is recorded":   {[]guard.TripRecord{ended}, tripped},
		"a leader has recorded it":                 {[]guard.TripRecord{began}, nil},
	} {
		standby := &leader{Core: guard.NewCore(whole(false))}
		standby.step(0, guard.NodesChanged{Changes: nodes(4, 0)}, guard.Ready{Journaled: known})
		standby.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
		want(t, name+": a standby", reported(standby), nil)
		standby.step(2, guard.LeadershipBegan{Journaled: guard.Journaled{Known: true, Record: guard.Record{Trips: c.journaled}}})
		want(t, name+": once it leads", reported(standby), c.want)
		standby.step(3, guard.LeadershipEnded{})
		standby.step(4, guard.NodesChanged{Changes: nodes(4, 0)})
		standby.step(300, guard.TimePassed{})
		want(t, name+": after it has led", reported(standby), c.want)
	}
}

func TestALeaderRecordsItsHolds(t *testing.T) {
	l := leading(whole(true), known)
	want(t, "at the start", l.holding(), []string{"pause", "policy quarantine"})
	l.step(5, guard.NodesChanged{Changes: nodes(4, 3)})
	want(t, "a zone is out", l.holding(), []string{"breaker zones", "pause", "policy quarantine"})
	want(t, "nothing has ended", l.ends(), nil)
	if f := l.Judge().Facts; !f.Paused || !f.Tripped[policy.Trip{Breaker: "zones", Group: "a"}] {
		t.Errorf("got the facts %+v", f)
	}
	if len(l.events) != 1 || !l.events[0].Tripped || len(l.Trips()) != 1 || len(l.records) != 2 {
		t.Errorf("got %d records, the trips %v and the events %+v", len(l.records), l.Trips(), l.events)
	}
}

func TestAnEndOfAHoldIsAFact(t *testing.T) {
	for name, test := range map[string]struct {
		now  float64
		end  []guard.Input
		want string
	}{
		"a pause":  {7, []guard.Input{guard.Reconfigured{Config: whole(false)}}, "pause at 7s"},
		"a policy": {7, []guard.Input{guard.Reconfigured{Config: configured(true, []policy.Breaker{zones()}, lingering())}}, "policy quarantine at 7s"},
		"a trip":   {65, []guard.Input{guard.TimePassed{}}, "breaker zones at 65s"},
		"a breaker": {
			7, []guard.Input{guard.Reconfigured{Config: configured(true, nil, quarantine(), lingering())}}, "breaker zones at 7s",
		},
	} {
		l := leading(whole(true), known)
		l.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
		l.step(5, guard.NodesChanged{Changes: nodes(4, 0)})
		l.step(test.now, test.end...)
		want(t, name, l.ends(), []string{test.want})
		want(t, name+": the facts", l.known(), []string{test.want})
	}
}

func TestNothingIsRecordedWithoutPoliciesAndHolds(t *testing.T) {
	for name, j := range map[string]guard.Journaled{"an empty journal": known, "no journal": {}} {
		l := leading(configured(false, nil), j)
		l.step(1, guard.NodesChanged{Changes: nodes(4, 3)}, guard.Reconfigured{Config: configured(false, nil)})
		if len(l.records) > 0 {
			t.Errorf("%s: got %+v", name, l.records)
		}
	}
}

func TestARecordIsStoredOnce(t *testing.T) {
	l := leading(whole(false), known)
	l.step(1, guard.NodesChanged{Changes: nodes(4, 1)}, guard.Reconfigured{Config: whole(false)}, guard.TimePassed{})
	if len(l.records) != 1 {
		t.Errorf("got %d records", len(l.records))
	}
	next := &leader{Core: guard.NewCore(whole(false))}
	next.step(9, guard.LeadershipBegan{}, guard.Ready{Journaled: l.stored(t)})
	if len(next.records) != 0 {
		t.Errorf("the next leader stores what the journal has: %+v", next.records)
	}
}

func TestAStandbyRecordsNothingAndFollowsTheLeader(t *testing.T) {
	l := leading(whole(true), known)
	l.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
	standby := &leader{Core: guard.NewCore(whole(true))}
	standby.step(2, guard.NodesChanged{Changes: nodes(4, 0)}, guard.Ready{Journaled: l.stored(t)})
	if got := standby.Trips(); len(got) != 1 || !got[0].Began.Equal(at(1)) {
		t.Errorf("the standby has the trips %+v", got)
	}
	l.step(3, guard.Reconfigured{Config: whole(false)})
	standby.step(4, guard.RecordRead{Record: l.stored(t).Record}, guard.Reconfigured{Config: whole(false)})
	if len(standby.records) > 0 {
		t.Errorf("it stores %+v", standby.records)
	}
	want(t, "the standby", standby.known(), []string{"pause at 3s"})
	standby.step(10, guard.LeadershipBegan{Journaled: l.stored(t)})
	want(t, "the new leader", endsOf(l.records[len(l.records)-1]), []string{"pause at 3s"})
	if len(standby.records) != 0 {
		t.Errorf("the record has not changed, and it stores %+v", standby.records)
	}
}

// A process that ends while it holds, and starts with another file, has ended the hold.
func TestAHoldThatEndedWhileNoProcessRanEndsWhenTheNextLeaderBegins(t *testing.T) {
	before := leading(whole(true), known)
	next := &leader{Core: guard.NewCore(whole(false))}
	next.step(100, guard.LeadershipBegan{}, guard.NodesChanged{Changes: nodes(4, 0)}, guard.Ready{Journaled: before.stored(t)})
	want(t, "restarted", next.ends(), []string{"pause at 100s"})
}

func TestATripThatIsRecordedOutlivesARestart(t *testing.T) {
	before := leading(whole(false), known)
	before.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
	next := &leader{Core: guard.NewCore(whole(false))}
	next.step(20, guard.NodesChanged{Changes: nodes(4, 3)}, guard.LeadershipBegan{}, guard.Ready{Journaled: before.stored(t)})
	if got := next.Trips(); len(got) != 1 || !got[0].Began.Equal(at(1)) || len(next.events) != 0 {
		t.Errorf("got %+v, events %+v: it is the same trip", got, next.events)
	}
}

func TestALeaderReportsNothingBeforeAllNodesAreKnown(t *testing.T) {
	l := &leader{Core: guard.NewCore(whole(false))}
	l.step(0, guard.LeadershipBegan{}, guard.NodesChanged{Changes: nodes(1, 1)})
	if _, due := l.Next(); due || len(l.events)+len(l.records) > 0 {
		t.Errorf("got %+v and %+v", l.events, l.records)
	}
	l.step(1, guard.NodesChanged{Changes: nodes(4, 1)}, guard.Ready{Journaled: known})
	if len(l.events) > 0 {
		t.Errorf("got %+v", l.events)
	}
}

// While the record cannot be read, all earlier holds count as ended when this leader began: later, never earlier.
func TestWithoutARecordHoldsEndedWhenTheLeaderBegan(t *testing.T) {
	l := &leader{Core: guard.NewCore(whole(false))}
	l.step(0, guard.Ready{})
	want(t, "a standby", l.known(), nil)
	l.step(3, guard.LeadershipBegan{})
	want(t, "it leads", l.known(), []string{"earlier holds at 3s"})
	l.step(4, guard.Reconfigured{Config: configured(false, nil, lingering())})
	want(t, "its own ends", l.ends(), []string{"earlier holds at 3s", "policy quarantine at 4s"})

	other := leading(whole(true), known)
	other.step(1, guard.Reconfigured{Config: whole(false)})
	l.step(9, guard.RecordRead{Record: other.stored(t).Record})
	want(t, "the record can be read after all", l.ends(), []string{"earlier holds at 3s", "pause at 1s", "policy quarantine at 9s"})
	want(t, "its facts", l.known(), l.ends())
	l.step(10, guard.LeadershipEnded{})
	l.step(20, guard.LeadershipBegan{})
	want(t, "another term, without a journal", l.known(), []string{"earlier holds at 20s", "pause at 1s", "policy quarantine at 9s"})
}

// The former leader has written after the new leader had last read the journal, and perhaps after the new leader had
// begun.
func TestALeaderThatReadsTheLastRecordLateKeepsItsEnds(t *testing.T) {
	before := leading(whole(true), known)
	old := before.stored(t)
	before.step(5, guard.Reconfigured{Config: whole(false)})

	next := &leader{Core: guard.NewCore(whole(true))}
	next.step(6, guard.NodesChanged{Changes: nodes(4, 0)}, guard.Ready{Journaled: old}, guard.LeadershipBegan{Journaled: old})
	next.step(7, guard.Reconfigured{Config: configured(true, []policy.Breaker{zones()}, lingering())})
	want(t, "by the old record", next.ends(), []string{"policy quarantine at 7s"})
	next.step(8, guard.RecordRead{Record: before.stored(t).Record})
	want(t, "by the last one", next.ends(), []string{"pause at 5s", "policy quarantine at 8s"})
}

// The store may have replaced the record that it read by a record that the leader set at the same moment.
func TestALeaderRecordsWhatItHasReadLateOnceMore(t *testing.T) {
	l := leading(whole(true), known)
	recorded := len(l.records)
	l.step(1, guard.RecordRead{Record: l.stored(t).Record})
	if len(l.records) != recorded+1 {
		t.Errorf("got %d records, want %d", len(l.records), recorded+1)
	}
}

// The next leader does not know the holds that a leader did not know: it must not count them as ended earlier.
func TestTheEndOfUnknownHoldsOutlivesTheLeader(t *testing.T) {
	first := leading(whole(false), guard.Journaled{})
	want(t, "the first leader", first.ends(), []string{"earlier holds at 0s"})
	second := &leader{Core: guard.NewCore(whole(false))}
	second.step(50, guard.NodesChanged{Changes: nodes(4, 0)}, guard.LeadershipBegan{}, guard.Ready{Journaled: first.stored(t)})
	want(t, "the second leader", second.known(), first.ends())
	third := &leader{Core: guard.NewCore(whole(false))}
	third.step(60, guard.NodesChanged{Changes: nodes(4, 0)}, guard.LeadershipBegan{}, guard.Ready{})
	want(t, "the third one, for now", third.ends(), []string{"earlier holds at 60s"})
	third.step(70, guard.RecordRead{Record: first.stored(t).Record})
	want(t, "once it has read the record", third.ends(), []string{"earlier holds at 60s"})
}

// The times that a keeper returns are on the monotonic clock; if the wall clock is set, they stay where they are.
func TestAStepOfTheWallClockMovesNoEnd(t *testing.T) {
	for name, set := range map[string]float64{"forward": 3600, "back": -3600} {
		now := func(passed, set float64) time.Time {
			return faketime.Of(at(passed+set), time.Duration(passed*float64(time.Second)))
		}
		core := guard.NewCore(whole(true))
		var last guard.Record
		step := func(now time.Time, inputs ...guard.Input) {
			for _, in := range inputs {
				if do := core.Step(now, in); do.Record != nil {
					last = *do.Record
				}
			}
		}
		step(now(5, 0), guard.NodesChanged{Changes: nodes(4, 0)}, guard.LeadershipBegan{}, guard.Ready{Journaled: known}, guard.Reconfigured{Config: whole(false)})
		step(now(7, set), guard.LeadershipEnded{}, guard.LeadershipBegan{Journaled: guard.Journaled{Record: last, Known: true}})
		step(now(8, set), guard.Reconfigured{Config: configured(false, []policy.Breaker{zones()}, lingering())})
		for _, h := range last.Holds {
			if h.By == policy.ByPause && now(8, set).Sub(h.Ended) != 3*time.Second {
				t.Errorf("set %s: got %+v", name, h)
			}
		}
		if len(last.Holds) != 2 {
			t.Errorf("set %s: got %+v", name, last.Holds)
		}
	}
}

func TestAnEndInTheFutureCountsAsNow(t *testing.T) {
	before := leading(whole(true), known)
	before.step(50, guard.Reconfigured{Config: whole(false)})
	next := &leader{Core: guard.NewCore(whole(false))}
	next.step(20, guard.LeadershipBegan{}, guard.Ready{Journaled: before.stored(t)})
	want(t, "the clock of the last leader was ahead", next.ends(), []string{"pause at 20s"})
}

func TestNamespacesAreFacts(t *testing.T) {
	l := leading(whole(false), known)
	l.step(1, guard.NamespacesChanged{Namespaces: func(string) (map[string]string, bool) { return map[string]string{"tier": "prod"}, true }})
	if labels, ok := l.Judge().Facts.Namespaces("shop"); !ok || labels["tier"] != "prod" {
		t.Errorf("got %v, %t", labels, ok)
	}
}

// The inputs of a start come in any order; the result is the same.
func TestTheOrderOfTheInputsOfAStartDoesNotCount(t *testing.T) {
	before := leading(whole(true), known)
	before.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
	j := before.stored(t)
	inputs := []guard.Input{
		guard.NodesChanged{Changes: nodes(4, 3)},
		guard.Ready{Journaled: j},
		guard.LeadershipBegan{Journaled: j},
		guard.Reconfigured{Config: whole(false)},
	}
	permutations(inputs, func(order []guard.Input) {
		l := &leader{Core: guard.NewCore(whole(false))}
		l.step(10, order...)
		if got := l.Trips(); len(got) != 1 || !got[0].Began.Equal(at(1)) {
			t.Errorf("%T: got the trips %+v", order, got)
		}
		want(t, fmt.Sprintf("%T", order), l.ends(), []string{"pause at 10s"})
	})
}
