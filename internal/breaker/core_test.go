package breaker_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/faketime"
	"github.com/taint-manager/taint-manager/test/permutations"
)

// quarantine returns a policy that holds.
func quarantine() policy.Policy {
	return policy.Policy{Name: "quarantine", Method: policy.Hold, Match: policy.Match{Taints: []policy.Taint{{Key: "quarantine"}}}}
}

// lingering returns a policy that evicts, and deletes an hour later.
func lingering() policy.Policy {
	return policy.Policy{Name: "lingering", Method: policy.Evict, DeleteAfter: lasting(3600)}
}

func configured(paused bool, breakers []policy.Breaker, policies ...policy.Policy) breaker.Config {
	c := breaker.Config{Config: policy.Config{Policies: policies, Guards: policy.Guards{Breakers: breakers}}, Paused: paused}
	set, problems := policy.Compile(c.Config)
	if len(problems) > 0 {
		panic(fmt.Sprint(problems))
	}
	c.Set = set
	return c
}

// whole is a configuration with a policy that holds and a breaker.
func whole(paused bool) breaker.Config {
	return configured(paused, []policy.Breaker{zones()}, quarantine(), lingering())
}

var known = breaker.Journaled{Known: true}

// leader is a core with everything that it has returned.
type leader struct {
	*breaker.Core
	records []breaker.Record
	events  []breaker.Event
}

func (l *leader) step(second float64, inputs ...breaker.Input) {
	for _, in := range inputs {
		effects := l.Step(at(second), in)
		if effects.Record != nil {
			l.records = append(l.records, *effects.Record)
		}
		l.events = append(l.events, effects.Events...)
	}
}

// leading returns the core of a leader that knows four nodes and the record at second 0.
func leading(c breaker.Config, j breaker.Journaled) *leader {
	l := &leader{Core: breaker.NewCore(at(0), c)}
	l.step(0, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.LeadershipBegan{}, breaker.Ready{Journaled: j})
	l.step(0, breaker.PodsHeld{Policy: "quarantine", Pods: 1})
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
func (l *leader) known() []string {
	f := l.Judge().Facts
	return slices.Compact(endsOf(breaker.Record{Holds: f.Holds, HoldsEnded: f.HoldsEnded}))
}

func endsOf(r breaker.Record) (list []string) {
	for _, h := range r.Holds {
		if !h.Ended.IsZero() {
			list = append(list, fmt.Sprintf("%s at %gs", h.By, h.Ended.Sub(zero).Seconds()))
		}
	}
	if !r.HoldsEnded.IsZero() {
		list = append(list, fmt.Sprintf("all others at %gs", r.HoldsEnded.Sub(zero).Seconds()))
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
func (l *leader) stored(t *testing.T) breaker.Journaled {
	t.Helper()
	text, err := json.Marshal(l.records[len(l.records)-1])
	if err != nil {
		t.Fatal(err)
	}
	j := breaker.Journaled{Known: true}
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
	began := breaker.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(-5)}
	ended, elsewhere := began, began
	ended.Ended, elsewhere.Group = true, "b"
	tripped := []string{`zones "a" tripped true at 1s, 3 of 4: [n0 n1 n2]`}
	for name, c := range map[string]struct {
		journaled []breaker.TripRecord // when the process begins to lead
		want      []string
	}{
		"nobody has recorded the trip":             {nil, tripped},
		"only a trip of another group is recorded": {[]breaker.TripRecord{elsewhere}, tripped},
		"only a trip that has ended is recorded":   {[]breaker.TripRecord{ended}, tripped},
		"a leader has recorded it":                 {[]breaker.TripRecord{began}, nil},
	} {
		standby := &leader{Core: breaker.NewCore(at(0), whole(false))}
		standby.step(0, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{Journaled: known})
		standby.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
		want(t, name+": a standby", reported(standby), nil)
		standby.step(2, breaker.LeadershipBegan{Journaled: breaker.Journaled{Known: true, Record: breaker.Record{Trips: c.journaled}}})
		want(t, name+": once it leads", reported(standby), c.want)
		standby.step(3, breaker.LeadershipEnded{})
		standby.step(4, breaker.NodesChanged{Changes: nodes(4, 0)})
		standby.step(300, breaker.TimePassed{})
		want(t, name+": after it has led", reported(standby), c.want)
	}
}

func TestEachTripAndEachResetIsReportedOnce(t *testing.T) {
	large := zones()
	large.Name, large.MaxNodes = "large", most("3")
	b := []breaker.NodeChange{is("b0", "b", out), is("b1", "b", out)}
	l := leading(configured(false, []policy.Breaker{zones(), large}), known)
	for _, changes := range [][]breaker.NodeChange{nodes(4, 3), nodes(4, 4), b} {
		l.step(1, breaker.NodesChanged{Changes: changes})
	}
	l.step(2, breaker.NodesChanged{Changes: nodes(4, 0)})
	l.step(100, breaker.NodesChanged{Changes: nodes(4, 3)})
	var got []string
	for _, e := range l.events {
		got = append(got, fmt.Sprintf("%s %s %v at %g", e.Trip.Breaker, e.Trip.Group, e.Tripped, e.At.Sub(zero).Seconds()))
	}
	want(t, "events", got, []string{
		"zones a true at 1", "large a true at 1", "zones b true at 1",
		"zones a false at 100", "large a false at 100", "zones a true at 100",
	})
}

func TestAStepThatChangesNoFactMakesNoJudge(t *testing.T) {
	l := leading(whole(false), known)
	for name, in := range map[string]breaker.Input{"time": breaker.TimePassed{}, "a node": breaker.NodesChanged{Changes: nodes(4, 1)}} {
		if l.Step(at(1), in).Judge != nil {
			t.Errorf("%s: got a judge", name)
		}
	}
}

func TestAForecastHoldsWhatTheRecordSaysIsHeld(t *testing.T) {
	config := whole(false)
	inForce := breaker.Record{}.WithHolds(at(1), config.Holds(map[string]int{"quarantine": 1}, nil, false))
	for name, r := range map[string]breaker.Record{"in force": inForce, "ended": inForce.WithHolds(at(5), nil)} {
		foresight := breaker.NewCore(at(10), config)
		foresight.Foresee(at(10), breaker.Journaled{Known: true, Record: r})
		want(t, name, foresight.Foreseen().Facts.Holds, r.Holds)
	}
}

// Each end is recorded for the next leader. In its own term, a leader knows which pods were held, except by a pause.
func TestAnEndOfAHoldIsRecordedAndThatOfAPauseIsAFact(t *testing.T) {
	other := quarantine()
	other.Match.Taints[0].Key = "other"
	reconfigured := func(paused bool, breakers []policy.Breaker, policies ...policy.Policy) breaker.Input {
		return breaker.Reconfigured{Config: configured(paused, breakers, policies...)}
	}
	z := []policy.Breaker{zones()}
	for name, test := range map[string]struct {
		now  float64
		end  breaker.Input
		want string
		fact bool
	}{
		"a pause":                {7, reconfigured(false, z, quarantine(), lingering()), "pause at 7s", true},
		"a policy":               {7, reconfigured(true, z, lingering()), "policy quarantine at 7s", false},
		"a policy, by its match": {7, reconfigured(true, z, other, lingering()), "policy quarantine at 7s", false},
		"a breaker":              {7, reconfigured(true, nil, quarantine(), lingering()), "breaker zones at 7s", false},
		"a trip":                 {65, breaker.TimePassed{}, "breaker zones at 65s", false},
	} {
		l := leading(whole(true), known)
		l.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
		l.step(5, breaker.NodesChanged{Changes: nodes(4, 0)})
		l.step(test.now, test.end)
		want(t, name, l.ends(), []string{test.want})
		var facts []string
		if test.fact {
			facts = []string{test.want}
		}
		want(t, name+": the facts", l.known(), facts)
	}
}

func TestNothingIsRecordedWithoutPoliciesAndHolds(t *testing.T) {
	for name, j := range map[string]breaker.Journaled{"an empty journal": known, "no journal": {}} {
		l := leading(configured(false, nil), j)
		l.step(1, breaker.NodesChanged{Changes: nodes(4, 3)}, breaker.Reconfigured{Config: configured(false, nil)})
		if len(l.records) > 0 {
			t.Errorf("%s: got %+v", name, l.records)
		}
	}
}

func TestARecordIsStoredOnce(t *testing.T) {
	l := leading(whole(false), known)
	l.step(1, breaker.NodesChanged{Changes: nodes(4, 1)}, breaker.Reconfigured{Config: whole(false)}, breaker.TimePassed{})
	l.step(2, breaker.PodsHeld{Policy: "gone", Pods: 1}, breaker.PodsHeld{Policy: "gone", Pods: -1})
	if len(l.records) != 1 {
		t.Errorf("got %d records", len(l.records))
	}
	next := &leader{Core: breaker.NewCore(at(0), whole(false))}
	next.step(8, breaker.PodsHeld{Policy: "quarantine", Pods: 1})
	next.step(9, breaker.LeadershipBegan{}, breaker.Ready{Journaled: l.stored(t)})
	if len(next.records) != 0 {
		t.Errorf("the next leader stores what the journal has: %+v", next.records)
	}
}

func TestAStandbyRecordsNothingAndAdoptsTheRecordWhenItLeads(t *testing.T) {
	l := leading(whole(true), known)
	l.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
	l.step(3, breaker.Reconfigured{Config: whole(false)})
	standby := &leader{Core: breaker.NewCore(at(0), whole(false))}
	standby.step(4, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{Journaled: l.stored(t)}, breaker.RecordRead{Record: l.stored(t).Record})
	want(t, "the standby's trips", tripsOf(standby.Trips()), nil)
	want(t, "the standby's facts", standby.known(), nil)
	standby.step(5, breaker.PodsHeld{Policy: "quarantine", Pods: 1})
	if len(standby.records) > 0 {
		t.Errorf("it stores %+v", standby.records)
	}
	standby.step(10, breaker.LeadershipBegan{Journaled: l.stored(t)})
	want(t, "the new leader's trips", tripsOf(standby.Trips()), []string{"a since 1"})
	want(t, "the new leader's facts", standby.known(), []string{"breaker zones at 10s", "pause at 3s", "policy quarantine at 10s"})
	if len(standby.records) != 0 {
		t.Errorf("the record has not changed, and it stores %+v", standby.records)
	}
}

// An end that was recorded before the term stays where it was, however many terms follow.
func TestARestartMovesNoEnd(t *testing.T) {
	l := leading(whole(true), known)
	l.step(5, breaker.Reconfigured{Config: configured(false, []policy.Breaker{zones()}, lingering())})
	want(t, "the first term", l.ends(), []string{"pause at 5s", "policy quarantine at 5s"})
	j := l.stored(t)
	for term := range 10 {
		next := &leader{Core: breaker.NewCore(at(0), configured(false, []policy.Breaker{zones()}, lingering()))}
		next.step(float64(100*term+100), breaker.LeadershipBegan{}, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{Journaled: j})
		want(t, fmt.Sprintf("term %d", term), next.known(), l.ends())
		if len(next.records) > 0 {
			t.Fatalf("term %d stores %+v", term, next.records)
		}
	}
}

func TestALeaderReportsNothingBeforeAllNodesAreKnown(t *testing.T) {
	l := &leader{Core: breaker.NewCore(at(0), whole(false))}
	l.step(0, breaker.LeadershipBegan{}, breaker.NodesChanged{Changes: nodes(1, 1)})
	if _, due := l.Next(); due || len(l.events)+len(l.records) > 0 {
		t.Errorf("got %+v and %+v", l.events, l.records)
	}
	l.step(1, breaker.NodesChanged{Changes: nodes(4, 1)}, breaker.Ready{Journaled: known})
	if len(l.events) > 0 {
		t.Errorf("got %+v", l.events)
	}
}

// While the record cannot be read, all earlier holds count as ended when this leader began, and all that breakers may
// hold is held: later, never earlier.
func TestUnreadHoldsEndedWhenTheTermBeganAndUnreadTripsHold(t *testing.T) {
	l := &leader{Core: breaker.NewCore(at(0), zoned(policy.Manual))}
	l.step(0, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.Ready{})
	want(t, "a standby", l.known(), nil)
	l.step(3, breaker.LeadershipBegan{Journaled: breaker.Journaled{Unread: true}})
	want(t, "it leads", l.known(), []string{"all others at 3s"})
	want(t, "its record", l.ends(), []string{"all others at 3s"})
	want(t, "it may hold", l.Judge().Facts.Unread, true)

	l.step(5, breaker.NodesChanged{Changes: nodes(4, 3)})

	other := leading(zoned(policy.Manual), known)
	other.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
	l.step(9, breaker.RecordRead{Record: other.stored(t).Record})
	want(t, "the record can be read after all", l.known(), []string{"all others at 3s"})
	want(t, "it knows what it holds", l.Judge().Facts.Unread, false)
	want(t, "the trips", tripsOf(l.Trips()), []string{"a since 1"})
	if len(l.events) != 1 || !l.events[0].Tripped {
		t.Errorf("it has reported %+v, want its own trip once", l.events)
	}
	l.step(10, breaker.LeadershipEnded{})
	want(t, "it no longer leads", l.known(), nil)
	l.step(20, breaker.LeadershipBegan{})
	want(t, "another term, without a journal", l.known(), []string{"all others at 20s"})
}

// The next leader does not know the holds that a leader did not know: it must not count them as ended earlier.
func TestTheEndOfUnknownHoldsOutlivesTheLeader(t *testing.T) {
	first := leading(whole(false), breaker.Journaled{})
	want(t, "the first leader", first.ends(), []string{"all others at 0s"})
	second := &leader{Core: breaker.NewCore(at(0), configured(false, nil, lingering()))}
	second.step(50, breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.LeadershipBegan{}, breaker.Ready{Journaled: first.stored(t)})
	want(t, "the second leader", second.known(), []string{"all others at 0s", "policy quarantine at 50s"})
}

// The times that a keeper returns are on the monotonic clock; if the wall clock is set, they stay where they are.
func TestAStepOfTheWallClockMovesNoEnd(t *testing.T) {
	for name, set := range map[string]float64{"forward": 3600, "back": -3600} {
		now := func(passed, set float64) time.Time {
			return faketime.Of(at(passed+set), time.Duration(passed*float64(time.Second)))
		}
		core := breaker.NewCore(at(0), whole(true))
		var last breaker.Record
		step := func(now time.Time, inputs ...breaker.Input) {
			for _, in := range inputs {
				if effects := core.Step(now, in); effects.Record != nil {
					last = *effects.Record
				}
			}
		}
		step(now(5, 0), breaker.NodesChanged{Changes: nodes(4, 0)}, breaker.LeadershipBegan{}, breaker.Ready{Journaled: known}, breaker.Reconfigured{Config: whole(false)})
		step(now(7, set), breaker.LeadershipEnded{}, breaker.LeadershipBegan{Journaled: breaker.Journaled{Record: last, Known: true}})
		step(now(8, set), breaker.Reconfigured{Config: configured(false, []policy.Breaker{zones()}, lingering())})
		for _, h := range last.Holds {
			if h.By == policy.ByPause && now(8, set).Sub(h.Ended) != 3*time.Second {
				t.Errorf("set %s: got %+v", name, h)
			}
		}
		if len(last.Holds) != 1 {
			t.Errorf("set %s: got %+v", name, last.Holds)
		}
	}
}

func TestAnEndInTheFutureCountsAsNow(t *testing.T) {
	before := leading(whole(true), known)
	before.step(50, breaker.Reconfigured{Config: whole(false)})
	next := &leader{Core: breaker.NewCore(at(0), whole(false))}
	next.step(20, breaker.LeadershipBegan{}, breaker.Ready{Journaled: before.stored(t)})
	want(t, "the clock of the last leader was ahead", next.ends(), []string{"pause at 20s", "policy quarantine at 20s"})
}

// The inputs of a start come in any order; the result is the same.
func TestTheOrderOfTheInputsOfAStartDoesNotCount(t *testing.T) {
	before := leading(whole(true), known)
	before.step(1, breaker.NodesChanged{Changes: nodes(4, 3)})
	j := before.stored(t)
	inputs := []breaker.Input{
		breaker.NodesChanged{Changes: nodes(4, 3)},
		breaker.Ready{Journaled: j},
		breaker.LeadershipBegan{Journaled: j},
		breaker.Reconfigured{Config: whole(false)},
	}
	for order := range permutations.Of(inputs) {
		l := &leader{Core: breaker.NewCore(at(0), whole(false))}
		l.step(10, order...)
		if got := l.Trips(); len(got) != 1 || !got[0].Began.Equal(at(1)) {
			t.Errorf("%T: got the trips %+v", order, got)
		}
		want(t, fmt.Sprintf("%T", order), l.ends(), []string{"pause at 10s", "policy quarantine at 10s"})
	}
}

// A list after a gap of the watch shows that nodes are affected, and that others are gone: these do not count.
func TestNodesThatAListLacksDoNotCount(t *testing.T) {
	l := leading(whole(false), known)
	l.step(0, breaker.NodesChanged{Changes: nodes(10, 0)})
	l.step(1, breaker.NodesChanged{Changes: nodes(4, 3), All: true})
	want(t, "3 of the 4 that are left are out", tripsOf(l.Trips()), []string{"a since 1"})
}
