package guard_test

import (
	"fmt"
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// zoned is a configuration with a breaker for each zone.
func zoned(reset policy.Reset) guard.Config {
	z := zones()
	z.Reset = reset
	return configured(false, []policy.Breaker{z}, lingering())
}

// tripsOf returns the trips of zones as "zone since second", with a star if they were reset by hand.
func tripsOf(trips []guard.TripRecord) (list []string) {
	for _, t := range trips {
		text := fmt.Sprintf("%s since %g", t.Group, t.Began.Sub(zero).Seconds())
		if t.Ended {
			text += " *"
		}
		list = append(list, text)
	}
	return list
}

// of returns a record with the trips of these zones.
func of(began float64, zones ...string) guard.Record {
	var r guard.Record
	for _, zone := range zones {
		r.Trips = append(r.Trips, guard.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: zone, Began: at(began)})
	}
	return r
}

func byHand(r guard.Record) guard.Record {
	for i := range r.Trips {
		r.Trips[i].Ended = true
	}
	return r
}

// The last record that a standby has read is the leader's. It decides about trips that the standby's nodes do not show:
// whether the trips are over, were reset, or were forged.
func TestWhatAStandbyKnowsOfTripsIsWhatTheLeaderRecordsAndWhatItsNodesShow(t *testing.T) {
	read := func(r guard.Record) guard.Input { return guard.RecordRead{Record: r} }
	shows := func(affected int) guard.Input { return guard.NodesChanged{Changes: nodes(4, affected)} }
	for name, c := range map[string]struct {
		inputs []guard.Input // one each second, from second 11 on
		want   []string
	}{
		"a recorded trip":                              {[]guard.Input{read(of(3, "a"))}, []string{"a since 3"}},
		"it is recorded again":                         {[]guard.Input{read(of(3, "a")), read(of(4, "a"))}, []string{"a since 3"}},
		"the leader has reset it":                      {[]guard.Input{read(of(3, "a")), read(guard.Record{})}, nil},
		"another one came":                             {[]guard.Input{read(of(3, "a")), shows(3), read(of(3, "b"))}, []string{"a since 3"}},
		"its nodes show it":                            {[]guard.Input{shows(3), read(guard.Record{})}, []string{"a since 11"}},
		"its nodes still show it":                      {[]guard.Input{read(of(3, "a")), shows(3), read(guard.Record{})}, []string{"a since 3"}},
		"its nodes have shown it, and no record has":   {[]guard.Input{shows(3), shows(0), read(guard.Record{})}, []string{"a since 11"}},
		"both have shown it, and the leader's is over": {[]guard.Input{shows(3), read(of(3, "a")), shows(0), read(guard.Record{})}, nil},
		"one of a zone without nodes":                  {[]guard.Input{read(of(3, "nowhere"))}, nil},
		"one from the future":                          {[]guard.Input{read(of(1e9, "a"))}, []string{"a since 11"}},
		"a forged reset by hand of what its nodes show": {
			[]guard.Input{shows(3), read(byHand(of(3, "a")))}, []string{"a since 11"},
		},
		"a forged reset by hand, and then the trip": {
			[]guard.Input{read(of(3, "a")), shows(3), read(byHand(of(3, "a"))), read(of(3, "a"))}, []string{"a since 3"},
		},
	} {
		for _, reset := range []policy.Reset{policy.Automatic, policy.Manual} {
			standby := &leader{Core: guard.NewCore(zoned(reset))}
			standby.step(10, guard.NodesChanged{Changes: nodes(4, 0), All: true}, guard.Ready{Journaled: known})
			for i, in := range c.inputs {
				standby.step(11+float64(i), in)
			}
			want(t, name+", "+string(reset), tripsOf(standby.Trips()), c.want)
			standby.step(20, guard.LeadershipBegan{Journaled: known})
			if len(standby.Judge().Facts.Tripped) > len(c.want) {
				t.Errorf("%s, %s: the next leader holds %v", name, reset, standby.Judge().Facts.Tripped)
			}
		}
	}
}

// A reset by hand that was forged while few nodes are affected would let the next wave go.
func TestAForgedResetByHandIsGoneWithTheLeadersNextRecord(t *testing.T) {
	z := zones()
	z.MaxNodes, z.MinNodes = most("0%"), new(int32(3))
	standby := &leader{Core: guard.NewCore(configured(false, []policy.Breaker{z}, lingering()))}
	standby.step(0, guard.NodesChanged{Changes: nodes(4, 1), All: true}, guard.Ready{Journaled: known})
	standby.step(1, guard.RecordRead{Record: byHand(of(0, "a"))}, guard.RecordRead{Record: guard.Record{}})
	standby.step(2, guard.NodesChanged{Changes: nodes(4, 3)})
	want(t, "a wave", tripsOf(standby.Trips()), []string{"a since 2"})

	other := &leader{Core: guard.NewCore(configured(false, []policy.Breaker{z}, lingering()))}
	other.step(0, guard.NodesChanged{Changes: nodes(4, 1), All: true}, guard.Ready{Journaled: known})
	other.step(1, guard.RecordRead{Record: byHand(of(0, "a"))}, guard.RecordRead{Record: of(0, "a")})
	want(t, "the leader holds", tripsOf(other.Trips()), []string{"a since 0"})
}

// A trip that waits for an operator is in the record of each leader, although its nodes have recovered for long.
func TestAManualTripPassesFromLeaderToLeaderUntilItIsReset(t *testing.T) {
	first := leading(zoned(policy.Manual), known)
	first.step(1, guard.NodesChanged{Changes: nodes(4, 3)})
	first.step(2, guard.NodesChanged{Changes: nodes(4, 0)})
	second := &leader{Core: guard.NewCore(zoned(policy.Manual))}
	second.step(5000, guard.NodesChanged{Changes: nodes(4, 0), All: true}, guard.Ready{Journaled: first.stored(t)})
	second.step(5001, guard.RecordRead{Record: first.stored(t).Record}, guard.LeadershipBegan{Journaled: first.stored(t)})
	second.step(9000, guard.TimePassed{})
	want(t, "the second leader", tripsOf(second.Trips()), []string{"a since 1"})

	reset := zoned(policy.Manual)
	reset.Guards.Breakers[0].ResetBefore = &metav1.Time{Time: at(9001)}
	second.step(9002, guard.Reconfigured{Config: reset})
	first.step(5000, guard.LeadershipEnded{})
	first.step(9003, guard.RecordRead{Record: second.stored(t).Record}, guard.LeadershipBegan{Journaled: second.stored(t)})
	want(t, "the first one leads again, with the old file", tripsOf(first.Trips()), nil)
}

func TestARecordReadBeforeAllNodesAreKnownCountsIfTheJournalIsStaleLater(t *testing.T) {
	first := &leader{Core: guard.NewCore(zoned(policy.Manual))}
	first.step(0, guard.NodesChanged{Changes: nodes(4, 0), All: true}, guard.Ready{Journaled: known}, guard.LeadershipBegan{Journaled: known})
	first.step(5, guard.NodesChanged{Changes: nodes(4, 3)})
	first.step(7, guard.NodesChanged{Changes: nodes(4, 0)})
	next := &leader{Core: guard.NewCore(zoned(policy.Manual))}
	next.step(20, guard.RecordRead{Record: first.stored(t).Record}, guard.NodesChanged{Changes: nodes(4, 0), All: true}, guard.Ready{})
	want(t, "the next process", tripsOf(next.Trips()), []string{"a since 5"})
}

// A leader may end before it records a trip.
func TestATripThatNobodyCouldRecordStaysWithTheNextLeader(t *testing.T) {
	standby := &leader{Core: guard.NewCore(zoned(policy.Manual))}
	standby.step(0, guard.NodesChanged{Changes: nodes(4, 0), All: true}, guard.Ready{Journaled: known}, guard.RecordRead{})
	standby.step(5, guard.NodesChanged{Changes: nodes(4, 3)})
	standby.step(7, guard.NodesChanged{Changes: nodes(4, 0)})
	standby.step(20, guard.LeadershipBegan{Journaled: known}, guard.RecordRead{})
	want(t, "the next leader", tripsOf(standby.Trips()), []string{"a since 5"})
}
