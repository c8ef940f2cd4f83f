package breaker

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// Record is what survives restarts: trips, holds, and when policies began. In memory, its times carry the monotonic
// clock; in the journal they are wall times. The zero value is an empty record.
type Record struct {
	Trips []TripRecord `json:"trips,omitempty"`

	// Holds has one entry for each policy that holds, each breaker and group, and the pause.
	Holds []policy.HoldRecord `json:"holds,omitempty"`

	// HoldsEnded is the latest end of the holds without an entry; zero if there are none.
	HoldsEnded time.Time `json:"holdsEnded,omitzero"`

	// Policies is when each policy with NoSchedule triggers began.
	Policies []policy.Begin `json:"policies,omitempty"`
}

// maxHolds is the maximum number of ended holds in a record.
const maxHolds = 256

// withHolds returns the record with these holds in force. A recorded hold that was in force, and is not among these,
// ends now. If there are more than maxHolds ended holds, HoldsEnded replaces them, which can only delay deletions. r
// itself does not change.
func (r Record) withHolds(now time.Time, present []policy.HoldRecord) Record {
	was, ended := r.Holds, 0
	r.Holds = slices.Clone(present)
	for i := range was {
		same := func(h policy.HoldRecord) bool { return h.Same(&was[i]) }
		if j := slices.IndexFunc(r.Holds, same); j >= 0 {
			r.Holds[j].Ended = was[i].Ended
			continue
		}
		r.Holds = append(r.Holds, endedAt(was[i], now))
		ended++
	}
	if ended > maxHolds {
		for _, h := range r.Holds[len(present):] {
			r.HoldsEnded = later(r.HoldsEnded, h.Ended)
		}
		r.Holds = r.Holds[:len(present)]
	}
	return r
}

// endedAt returns the hold, ended now if it was in force.
func endedAt(h policy.HoldRecord, now time.Time) policy.HoldRecord {
	if h.Holds {
		h.Holds, h.Ended = false, later(h.Ended, now)
	}
	return h
}

// Converted returns the record with each time converted.
func (r Record) Converted(convert func(time.Time) time.Time) Record {
	r.Trips, r.Holds, r.Policies = slices.Clone(r.Trips), slices.Clone(r.Holds), slices.Clone(r.Policies)
	times := []*time.Time{&r.HoldsEnded}
	for i := range r.Trips {
		times = append(times, &r.Trips[i].Began)
	}
	for i := range r.Holds {
		times = append(times, &r.Holds[i].Ended)
	}
	for i := range r.Policies {
		times = append(times, &r.Policies[i].Began)
	}
	for _, t := range times {
		if !t.IsZero() {
			*t = convert(*t)
		}
	}
	return r
}

// Decode parses a stored record.
func Decode(text []byte) (r Record, err error) {
	if err = json.Unmarshal(text, &r); err == nil {
		err = r.Validate()
	}
	if err != nil {
		return Record{}, fmt.Errorf("the record of guards and holds can't be read: %w", err)
	}
	return r, nil
}

// Validate returns an error if no program can have made the record.
func (r Record) Validate() error {
	for _, t := range r.Trips {
		if t.Breaker == "" || t.Began.IsZero() {
			return fmt.Errorf("the trip of breaker %.40q in group %.40q lacks its breaker, or when it began", t.Breaker,
				t.Group)
		}
	}
	for _, h := range r.Holds {
		if !h.Holds && h.Ended.IsZero() {
			return fmt.Errorf("the end of %.40q lacks its time", h.By)
		}
	}
	for _, p := range r.Policies {
		if p.Began.IsZero() {
			return fmt.Errorf("the begin of policy %.40q lacks its time", p.Policy)
		}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
