package guard

import (
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Converted returns the record with each of its times converted.
func (r Record) Converted(convert func(time.Time) time.Time) Record {
	r.Trips, r.Ended = slices.Clone(r.Trips), slices.Clone(r.Ended)
	for i := range r.Trips {
		r.Trips[i].Began = convert(r.Trips[i].Began)
	}
	for i := range r.Ended {
		r.Ended[i].At = convert(r.Ended[i].At)
	}
	return r
}

// Merge returns the record with what another one has in addition: trips of other groups, and holds. Where both have
// the same trip or the same ended hold, the one that ends later counts. Merge is for a leader that reads the last record
// of the leader before it after it has begun to make its own. It changes neither record.
func (r Record) Merge(other Record) Record {
	r.Trips, r.Holding, r.Ended = slices.Clone(r.Trips), slices.Clone(r.Holding), slices.Clone(r.Ended)
	for _, t := range other.Trips {
		r.addTrip(t)
	}
	for _, h := range other.Holding {
		if !slices.ContainsFunc(r.Holding, func(own policy.HoldScope) bool { return own.Same(&h) }) {
			r.Holding = append(r.Holding, h)
		}
	}
	for _, e := range other.Ended {
		r.addEnded(e)
	}
	slices.SortStableFunc(r.Ended, func(a, b EndedRecord) int { return a.At.Compare(b.At) })
	r.bound()
	return r
}

func (r *Record) addTrip(t TripRecord) {
	i := slices.IndexFunc(r.Trips, func(own TripRecord) bool {
		return own.Breaker == t.Breaker && own.TopologyKey == t.TopologyKey && own.Group == t.Group
	})
	if i < 0 {
		r.Trips = append(r.Trips, t)
		return
	}
	own := &r.Trips[i]
	own.Ended = own.Ended && t.Ended
	if t.Began.After(own.Began) {
		own.Began = t.Began
	}
}

func (r *Record) addEnded(e EndedRecord) {
	i := slices.IndexFunc(r.Ended, func(own EndedRecord) bool { return own.Same(&e.HoldScope) })
	if i < 0 {
		r.Ended = append(r.Ended, e)
	} else if e.At.After(r.Ended[i].At) {
		r.Ended[i].At = e.At
	}
}

// Condensed returns a smaller record with the same trips that makes no deletion earlier: the present holds are one that
// holds all pairs, so it has ended when the next process compares it with its own, and so are those that have ended.
func (r Record) Condensed() Record {
	if len(r.Holding) > 0 {
		r.Holding = []policy.HoldScope{{By: "earlier holds"}}
	}
	if len(r.Ended) > 0 {
		r.Ended = []EndedRecord{joined(r.Ended)}
	}
	return r
}

// joined returns one ended hold of all pairs that ended when the last of these did.
func joined(ended []EndedRecord) EndedRecord {
	all := EndedRecord{policy.HoldScope{By: "earlier holds"}, ended[0].At}
	for _, e := range ended[1:] {
		if e.At.After(all.At) {
			all.At = e.At
		}
	}
	return all
}

// Validate returns an error if the record cannot be one that a program has made.
func (r Record) Validate() error {
	for _, t := range r.Trips {
		if t.Breaker == "" || t.Began.IsZero() {
			return fmt.Errorf("the trip of breaker %.40q in group %.40q lacks its breaker, or when it began", t.Breaker, t.Group)
		}
	}
	for _, e := range r.Ended {
		if e.At.IsZero() {
			return fmt.Errorf("the end of %.40q lacks its time", e.By)
		}
	}
	return nil
}

// Bounded returns the record with at most [MaxEnded] ended holds.
func (r Record) Bounded() Record {
	r.Ended = slices.Clone(r.Ended)
	r.bound()
	return r
}
