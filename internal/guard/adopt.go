package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// adopt merges the record of the journal into the state. A standby takes the leader's record as it is. A leader joins
// it with its own, so that no end of a hold is lost; holds of the record that are not present have ended now.
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
	c.breakers.Adopt(c.recorded, read.Trips)
	c.recorded = read.Trips
	if c.leading {
		read = without(c.unknown, read.Merge(c.record))
	}
	c.record, c.unknown, c.written = read, time.Time{}, new(j.Record)
}

// endOfUnknown returns the end of all holds that were not known when a leader began. It is recorded, as the next leader
// does not know them either. Each has its own name, so that it is not merged with that of another leader.
func endOfUnknown(began time.Time) policy.HoldRecord {
	return policy.HoldRecord{By: "holds before " + began.UTC().Format(time.RFC3339Nano), Ended: began}
}

// without returns the record without the end of the holds that were not known at this moment, as they are known now.
func without(began time.Time, r Record) Record {
	if began.IsZero() {
		return r
	}
	all := endOfUnknown(began)
	r.Holds = slices.DeleteFunc(slices.Clone(r.Holds), func(h policy.HoldRecord) bool { return h.Same(&all) })
	return r
}

// notAfter returns a record without times after now. A time that lies in the future, as the clock of the process that
// recorded it is ahead, counts as now.
func notAfter(now time.Time, r Record) Record {
	return r.Converted(func(t time.Time) time.Time {
		if t.After(now) {
			return now
		}
		return t
	})
}

// equal reports whether two records would be stored alike.
func equal(a, b Record) bool {
	x, errX := json.Marshal(a.Converted(time.Time.UTC))
	y, errY := json.Marshal(b.Converted(time.Time.UTC))
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
