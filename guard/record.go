package guard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// MaxEnded is the maximum number of ended holds in a record.
const MaxEnded = 64

// Record is the state of guards and holds that outlives the process. While a process has it, its times carry the
// monotonic clock, as those of verdicts do; in the journal they are wall times. The zero value stands for a cluster
// without any hold so far.
type Record struct {
	Trips []TripRecord `json:"trips,omitempty"`

	// Holding are the present holds.
	Holding []policy.HoldScope `json:"holding,omitempty"`

	// Ended are the holds that have ended, the oldest first.
	Ended []EndedRecord `json:"ended,omitempty"`
}

// EndedRecord is a hold that has ended.
type EndedRecord struct {
	policy.HoldScope
	At time.Time `json:"at"`
}

// With returns the record with these trips and these present holds. A hold that is no longer present has ended now,
// even if it ended while no process was running: a new process compares its holds with the record. With does not
// change the record.
func (r Record) With(now time.Time, trips []TripRecord, holding []policy.HoldScope) Record {
	next := Record{Trips: trips, Holding: holding, Ended: slices.Clone(r.Ended)}
	for i := range r.Holding {
		was := &r.Holding[i]
		if !slices.ContainsFunc(holding, func(is policy.HoldScope) bool { return is.Same(was) }) {
			next.end(*was, now)
		}
	}
	next.bound()
	return next
}

// end adds a hold that has ended now. An earlier end of the same hold no longer counts.
func (r *Record) end(h policy.HoldScope, now time.Time) {
	r.Ended = slices.DeleteFunc(r.Ended, func(e EndedRecord) bool { return e.Same(&h) && !e.At.After(now) })
	r.Ended = append(r.Ended, EndedRecord{h, now})
}

// bound joins the oldest ended holds, if there are too many, into one that counts for all pairs. That makes
// deletions later, never earlier.
func (r *Record) bound() {
	extra := len(r.Ended) - MaxEnded
	if extra <= 0 {
		return
	}
	r.Ended = append([]EndedRecord{joined(r.Ended[:extra+1])}, r.Ended[extra+1:]...)
}

// Since returns the record without the holds that ended before that moment, at which the oldest exposure begins.
// Those do not change any verdict.
func (r Record) Since(oldest time.Time) Record {
	r.Ended = slices.DeleteFunc(slices.Clone(r.Ended), func(e EndedRecord) bool { return e.At.Before(oldest) })
	return r
}

// EndedHolds returns the ended holds in the form that verdicts use. on converts a wall time to the clock of
// verdicts.
func (r Record) EndedHolds(on func(time.Time) time.Time) []policy.EndedHold {
	all := make([]policy.EndedHold, len(r.Ended))
	for i, e := range r.Ended {
		all[i] = policy.NewEndedHold(e.HoldScope, on(e.At))
	}
	return all
}
