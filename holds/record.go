package holds

import (
	"cmp"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/guard"
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
	c.known, c.unknown, c.written = c.leading, time.Time{}, new(j.Record)
	c.breakers.Adopt(read.Trips)
	if !c.leading {
		c.record = read
		return
	}
	c.record.Ended = union(read.Ended, c.record.Ended)
	for _, h := range read.Holding {
		if !slices.ContainsFunc(c.record.Holding, func(own policy.HoldScope) bool { return own.Same(&h) }) {
			c.record.Holding = append(slices.Clone(c.record.Holding), h)
		}
	}
}

// union returns the ended holds of both, the oldest first.
func union(a, b []guard.EndedRecord) []guard.EndedRecord {
	all := slices.Clone(a)
	for _, e := range b {
		if !slices.ContainsFunc(a, func(other guard.EndedRecord) bool { return other.Same(&e.HoldScope) && atSameTime(other.At, e.At) }) {
			all = append(all, e)
		}
	}
	slices.SortStableFunc(all, func(x, y guard.EndedRecord) int { return cmp.Or(x.At.Compare(y.At), cmp.Compare(x.By, y.By)) })
	return all
}

// atSameTime compares wall times.
func atSameTime(a, b time.Time) bool { return a.Round(0).Equal(b.Round(0)) }

// notAfter returns a record without times after now. An end that lies in the future, as the clock of the process that
// recorded it is ahead, counts as now.
func notAfter(now time.Time, r guard.Record) guard.Record {
	r.Ended = slices.Clone(r.Ended)
	for i := range r.Ended {
		if r.Ended[i].At.After(now) {
			r.Ended[i].At = now
		}
	}
	return r
}

// equal reports whether two records would be stored alike.
func equal(a, b guard.Record) bool {
	return slices.EqualFunc(a.Trips, b.Trips, func(x, y guard.TripRecord) bool {
		began := atSameTime(x.Began, y.Began)
		x.Began = y.Began
		return began && x == y
	}) && slices.EqualFunc(a.Ended, b.Ended, func(x, y guard.EndedRecord) bool {
		return atSameTime(x.At, y.At) && x.Same(&y.HoldScope)
	}) && slices.EqualFunc(a.Holding, b.Holding, func(x, y policy.HoldScope) bool { return x.Same(&y) })
}
