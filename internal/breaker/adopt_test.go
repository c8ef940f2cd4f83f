package breaker_test

import (
	"fmt"
	"testing"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/policy"
)

// zoned is a configuration with a breaker for each zone.
func zoned(reset policy.Reset) breaker.Config {
	z := zones()
	z.Reset = reset
	return configured(false, []policy.Breaker{z}, lingering())
}

// tripsOf returns the trips of zones as "zone since second", with a star if they were reset by hand.
func tripsOf(trips []breaker.TripRecord) (list []string) {
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
func of(began float64, zones ...string) breaker.Record {
	var r breaker.Record
	for _, zone := range zones {
		r.Trips = append(r.Trips, breaker.TripRecord{Breaker: "zones", TopologyKey: "zone", Group: zone, Began: at(began)})
	}
	return r
}

func byHand(r breaker.Record) breaker.Record {
	for i := range r.Trips {
		r.Trips[i].Ended = true
	}
	return r
}

// The record of the leader before decides about trips that the nodes do not show. The trips that they have shown to this
// process stay.
func TestATermBeginsWithTheRecordedTripsAndWithThoseThatTheNodesHaveShown(t *testing.T) {
	shows := func(affected int) breaker.Input { return breaker.NodesChanged{Changes: nodes(4, affected)} }
	rack := breaker.TripRecord{Breaker: "zones", TopologyKey: "rack", Group: "a", Began: at(3)}
	for name, c := range map[string]struct {
		inputs []breaker.Input // one each second, from second 11 on
		record breaker.Record  // at second 20
		want   []string
	}{
		"a recorded trip":                            {nil, of(3, "a"), []string{"a since 3"}},
		"its nodes show it, too":                     {[]breaker.Input{shows(3)}, of(3, "a"), []string{"a since 3"}},
		"its nodes show it, and no record has it":    {[]breaker.Input{shows(3)}, breaker.Record{}, []string{"a since 11"}},
		"its nodes have shown it, and no record has": {[]breaker.Input{shows(3), shows(0)}, breaker.Record{}, []string{"a since 11"}},
		"one of a zone without nodes":                {nil, of(3, "nowhere"), nil},
		"one of groups of another label":             {nil, breaker.Record{Trips: []breaker.TripRecord{rack}}, nil},
		"one from the future":                        {nil, of(1e9, "a"), []string{"a since 20"}},
		"it was reset by hand":                       {nil, byHand(of(3, "a")), nil},
		"a forged reset by hand of what its nodes show": {
			[]breaker.Input{shows(3)}, byHand(of(3, "a")), []string{"a since 11"},
		},
	} {
		for _, reset := range []policy.Reset{policy.Automatic, policy.Manual} {
			next := &leader{Core: breaker.NewCore(at(0), zoned(reset))}
			next.step(10, breaker.NodesChanged{Changes: nodes(4, 0), All: true}, breaker.Ready{Journaled: known})
			for i, in := range c.inputs {
				next.step(11+float64(i), in)
			}
			next.step(20, breaker.LeadershipBegan{Journaled: breaker.Journaled{Known: true, Record: c.record}})
			want(t, name+", "+string(reset), tripsOf(next.Trips()), c.want)
			if len(next.Judge().Facts.Tripped) != len(c.want) {
				t.Errorf("%s, %s: the leader holds %v", name, reset, next.Judge().Facts.Tripped)
			}
		}
	}
}

// An operator resets a trip while its nodes are affected; then another process starts, and leads.
func TestAProcessThatStartsAfterAResetByHandDoesNotHoldTheOutageAgain(t *testing.T) {
	for _, reset := range []policy.Reset{policy.Automatic, policy.Manual} {
		next := &leader{Core: breaker.NewCore(at(10), zoned(reset))}
		next.step(10, breaker.NodesChanged{Changes: nodes(4, 3), All: true}, breaker.Ready{Journaled: known})
		next.step(20, breaker.LeadershipBegan{Journaled: breaker.Journaled{Known: true, Record: byHand(of(3, "a"))}})
		want(t, string(reset), tripsOf(next.Trips()), nil)
	}
}

// Two processes lead at the same time after the lease was deleted. One stores a record, and the other one reads it before
// it stores its own.
func TestATripThatAnotherProcessStoresDuringTheTermIsKept(t *testing.T) {
	for name, c := range map[string]struct {
		began float64
		want  []string
	}{
		"it began during the term":       {25, []string{"a since 25"}},
		"it began before, and was reset": {3, nil},
	} {
		l := &leader{Core: breaker.NewCore(at(0), zoned(policy.Manual))}
		l.step(10, breaker.NodesChanged{Changes: nodes(4, 0), All: true}, breaker.Ready{Journaled: known})
		l.step(20, breaker.LeadershipBegan{Journaled: known})
		l.step(30, breaker.RecordRead{Record: of(c.began, "a")})
		want(t, name, tripsOf(l.Trips()), c.want)
		recorded := l.records[len(l.records)-1]
		want(t, name+": recorded", tripsOf(recorded.Trips), c.want)
		if len(l.events) > 0 {
			t.Errorf("%s: it has reported %+v", name, l.events)
		}
	}
}
