package guard

import (
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// adopt merges what the journal has into the state. A standby takes the leader's record as it is. A leader joins it with
// its own, so that no end of a hold is lost; holds of the record that are not present have ended now.
func (c *Core) adopt(now time.Time, j Journaled) {
	c.changed = true
	if !j.Known {
		c.written, c.unknown = nil, time.Time{}
		if c.leading {
			c.unknown = c.began
		}
		return
	}
	read := notAfter(now, j.Record)
	c.breakers.Adopt(read.Trips)
	if c.leading {
		read = without(c.unknown, read.Merge(c.record))
	}
	c.record, c.unknown, c.written = read, time.Time{}, new(j.Record)
}

// endOfUnknown returns the end of all holds that were not known when a leader began. It is recorded, as the next leader
// does not know them either. Each has its own name, so that it is not joined with that of another leader.
func endOfUnknown(began time.Time) EndedRecord {
	by := "holds before " + began.UTC().Format(time.RFC3339Nano)
	return EndedRecord{HoldScope: policy.HoldScope{By: by}, At: began}
}

// without returns the record without the end of the holds that were not known at this moment, as they are known now.
func without(began time.Time, r Record) Record {
	if began.IsZero() {
		return r
	}
	all := endOfUnknown(began)
	r.Ended = slices.DeleteFunc(slices.Clone(r.Ended), func(e EndedRecord) bool { return e.Same(&all.HoldScope) })
	return r
}

// atSameTime compares wall times.
func atSameTime(a, b time.Time) bool { return a.Round(0).Equal(b.Round(0)) }

// notAfter returns a record without times after now. An end that lies in the future, as the clock of the process that
// recorded it is ahead, counts as now.
func notAfter(now time.Time, r Record) Record {
	r.Ended = slices.Clone(r.Ended)
	for i := range r.Ended {
		if r.Ended[i].At.After(now) {
			r.Ended[i].At = now
		}
	}
	return r
}

// equal reports whether two records would be stored alike.
func equal(a, b Record) bool {
	return slices.EqualFunc(a.Trips, b.Trips, func(x, y TripRecord) bool {
		began := atSameTime(x.Began, y.Began)
		x.Began = y.Began
		return began && x == y
	}) && slices.EqualFunc(a.Ended, b.Ended, func(x, y EndedRecord) bool {
		return atSameTime(x.At, y.At) && x.Same(&y.HoldScope)
	}) && slices.EqualFunc(a.Holding, b.Holding, func(x, y policy.HoldScope) bool { return x.Same(&y) })
}
