package breaker

import (
	"reflect"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// adopt begins a term with the record of the journal, once all nodes are known. For pods that are not held, a recorded
// hold that is in force counts as ended when the term began. If the journal has no record, or was not read, unknown
// holds of earlier terms count as ended then, too.
func (c *Core) adopt(now time.Time, j Journaled) {
	if c.breakers.synced.IsZero() || !c.leads() {
		return
	}
	c.changed, c.unread = true, j.Unread
	c.record = notAfter(now, j.Record)
	if !j.Known {
		c.record = Record{HoldsEnded: c.term}
	}
	c.earlier = Record{HoldsEnded: c.record.HoldsEnded}
	for _, h := range c.record.Holds {
		if h.By != policy.ByPause { // the record of this term has the end of a pause
			c.earlier.Holds = append(c.earlier.Holds, endedAt(h, c.term))
		}
	}
	c.breakers.Adopt(c.record.Trips)
	// The previous leader has reported the trips that it recorded.
	c.trips = slices.DeleteFunc(c.breakers.Trips(), func(t TripRecord) bool {
		same := func(r TripRecord) bool { return r.sameGroup(t) && r.Ended == t.Ended }
		return !slices.ContainsFunc(c.record.Trips, same)
	})
	c.record.Policies = c.begun(c.record.Policies)
	c.stored = j.Known && reflect.DeepEqual(c.record, j.Record)
}

// readLate adopts a record that was read during the term. If it could not be read when the term began, its holds count
// as ended then. Otherwise another process has stored it since, and only trips that began during the term count: an
// earlier trip that this process lacks was reset.
func (c *Core) readLate(now time.Time, r Record) {
	if !c.leads() {
		return
	}
	read := notAfter(now, r)
	if c.unread {
		c.record.Policies = c.begun(read.Policies)
	} else {
		read.Trips = slices.DeleteFunc(read.Trips, func(t TripRecord) bool { return t.Began.Before(c.term) })
	}
	c.changed, c.unread, c.stored = true, false, false
	c.breakers.Adopt(read.Trips)
	c.trips = c.breakers.Trips() // no report: the process that saw a trip has reported it
}

// begun returns when the policies in force began: at the recorded time, or later if this process saw them begin later.
// A policy without either time began with the term.
func (c *Core) begun(recorded []policy.Begin) []policy.Begin {
	all := inherited(c.config.Begins(time.Time{}), recorded)
	for i := range all {
		all[i].Began = later(all[i].Began, c.begins[i].Began)
		if all[i].Began.IsZero() {
			all[i].Began = c.term
		}
	}
	return all
}

// inherited returns the new begins. If the old begins have a policy with the same rules, the policy keeps its old time.
func inherited(begins, old []policy.Begin) []policy.Begin {
	for i := range begins {
		b := &begins[i]
		for _, o := range old {
			if o.Policy == b.Policy && o.Rules == b.Rules {
				b.Began = o.Began
			}
		}
	}
	return begins
}

// notAfter returns the record with now in place of later times, which come from a process whose clock is ahead.
func notAfter(now time.Time, r Record) Record {
	return r.Converted(func(t time.Time) time.Time {
		if t.After(now) {
			return now
		}
		return t
	})
}
