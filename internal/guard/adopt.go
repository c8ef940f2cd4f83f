package guard

import (
	"bytes"
	"encoding/json"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// adopt takes the record of the journal into the state. A standby takes the record as it is. A leader merges the record
// with its own, so that no end of a hold is lost. A recorded hold that is not in force has ended now.
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
		read = withoutUnknown(c.unknown, read.Merge(c.record))
	}
	c.record, c.unknown, c.written = read, time.Time{}, new(j.Record)
}

// endOfUnknown returns an entry by which all holds that a leader did not know when it began have ended then. The entry
// is recorded, because the next leader does not know these holds either. The time in its name tells it apart from the
// entry of another leader.
func endOfUnknown(began time.Time) policy.HoldRecord {
	return policy.HoldRecord{By: "holds before " + began.UTC().Format(time.RFC3339Nano), Ended: began}
}

// withoutUnknown returns the record without the entry of a leader that began then: the holds are known now. A zero time
// stands for no such leader.
func withoutUnknown(began time.Time, r Record) Record {
	if began.IsZero() {
		return r
	}
	unknown := endOfUnknown(began)
	r.Holds = slices.DeleteFunc(slices.Clone(r.Holds), func(h policy.HoldRecord) bool { return h.Same(&unknown) })
	return r
}

// notAfter returns the record with now in place of each later time. Later times come from a process whose clock is
// ahead.
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
