package guard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// MaxEnded is how many holds that have ended a record keeps.
const MaxEnded = 64

// Record is what of guards and holds outlives the process. Its times are wall times. The zero value is that of a cluster
// in which nothing was ever held.
type Record struct {
	Trips []TripRecord `json:"trips,omitempty"`

	// Holding are the holds of now.
	Holding []policy.HoldScope `json:"holding,omitempty"`

	// Ended are those that have ended, the oldest first.
	Ended []EndedRecord `json:"ended,omitempty"`
}

// EndedRecord is a hold that has ended.
type EndedRecord struct {
	policy.HoldScope
	At time.Time `json:"at"`
}

// With returns the record with these trips and these holds of now. A hold that is no longer
// among them has ended now, also if it ended while no process ran: a new process compares its holds with the record. It does not change the
// record.
func (r Record) With(now time.Time, trips []TripRecord, holding []policy.HoldScope) Record {
	next := Record{Trips: trips, Holding: holding, Ended: slices.Clone(r.Ended)}
	for i := range r.Holding {
		was := &r.Holding[i]
		if !slices.ContainsFunc(holding, func(is policy.HoldScope) bool { return is.Same(was) }) {
			next.Ended = append(next.Ended, EndedRecord{*was, now})
		}
	}
	next.bound()
	return next
}

// bound joins the oldest ends if there are too many, to one that counts for all pairs: deletions are later then, never
// earlier.
func (r *Record) bound() {
	extra := len(r.Ended) - MaxEnded
	if extra <= 0 {
		return
	}
	joined := EndedRecord{policy.HoldScope{By: "earlier holds"}, r.Ended[0].At}
	for _, e := range r.Ended[1 : extra+1] {
		if e.At.After(joined.At) {
			joined.At = e.At
		}
	}
	r.Ended = append([]EndedRecord{joined}, r.Ended[extra+1:]...)
}

// Since returns the record without the holds that ended before that moment, at which the oldest exposure begins. They
// change no verdict.
func (r Record) Since(oldest time.Time) Record {
	r.Ended = slices.DeleteFunc(slices.Clone(r.Ended), func(e EndedRecord) bool { return e.At.Before(oldest) })
	return r
}

// EndedHolds returns the ends in the form in which verdicts ask them. on converts a wall time to the clock of verdicts.
func (r Record) EndedHolds(on func(time.Time) time.Time) []policy.EndedHold {
	all := make([]policy.EndedHold, len(r.Ended))
	for i, e := range r.Ended {
		all[i] = policy.NewEndedHold(e.HoldScope, on(e.At))
	}
	return all
}
