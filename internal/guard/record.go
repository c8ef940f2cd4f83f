package guard

import (
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// MaxEnded is the maximum number of ended holds in a record.
const MaxEnded = 256

// Record is the state of guards and holds that outlives the process. While a process has it, its times carry the
// monotonic clock, as those of verdicts do; in the journal they are wall times. The zero value stands for a cluster
// without any hold so far.
type Record struct {
	Trips []TripRecord `json:"trips,omitempty"`

	// Holds has one entry for each hold.
	Holds []policy.HoldRecord `json:"holds,omitempty"`
}

// With returns the record with these trips and these present holds. A recorded hold that is no longer present has ended
// now, even if it ended while no process was running: a new process compares its holds with the record. A hold whose
// rules have changed has ended now and is in force again. With does not change the record.
func (r Record) With(now time.Time, trips []TripRecord, present []policy.HoldRecord) Record {
	next := Record{Trips: trips, Holds: slices.Clone(r.Holds)}
	for i := range next.Holds {
		h := &next.Holds[i]
		continues := slices.ContainsFunc(present, func(p policy.HoldRecord) bool {
			return p.Same(h) && p.Rules == h.Rules
		})
		if h.Holds && !continues {
			h.Holds, h.Rules, h.Ended = false, "", later(h.Ended, now)
		}
	}
	for i := range present {
		next.addHold(&present[i])
	}
	return next.Bounded()
}

// Merge returns the trips and holds of both records. If both records have a trip of the same group, or an entry of the
// same hold, the later end counts. Merge is for a leader that has already made a record when it reads the last record
// of the leader before it. Merge changes neither record.
func (r Record) Merge(other Record) Record {
	r.Trips, r.Holds = slices.Clone(r.Trips), slices.Clone(r.Holds)
	for _, t := range other.Trips {
		r.addTrip(t)
	}
	for i := range other.Holds {
		r.addHold(&other.Holds[i])
	}
	return r.Bounded()
}

func (r *Record) addTrip(t TripRecord) {
	i := slices.IndexFunc(r.Trips, t.sameGroup)
	if i < 0 {
		r.Trips = append(r.Trips, t)
		return
	}
	own := &r.Trips[i]
	own.Ended = own.Ended && t.Ended
	own.Began = later(own.Began, t.Began)
}

// unknownRules is the fingerprint of rules that are not known. It differs from every other fingerprint, so the hold
// counts as ended when the next leader compares it with its own holds.
const unknownRules = "?"

// addHold adds an entry, or merges it into the entry of the same hold.
func (r *Record) addHold(h *policy.HoldRecord) {
	i := slices.IndexFunc(r.Holds, func(own policy.HoldRecord) bool { return own.Same(h) })
	if i < 0 {
		r.Holds = append(r.Holds, *h)
		return
	}
	own := &r.Holds[i]
	switch {
	case !own.Holds:
		own.Holds, own.Rules = h.Holds, h.Rules
	case h.Holds && h.Rules != own.Rules:
		own.Rules = unknownRules
	}
	own.Ended = later(own.Ended, h.Ended)
}

// Bounded returns the record with at most [MaxEnded] ended holds. The oldest of them become one entry for all pods,
// so deletions are later, never earlier.
func (r Record) Bounded() Record {
	ended := slices.DeleteFunc(slices.Clone(r.Holds), func(h policy.HoldRecord) bool { return h.Holds })
	extra := len(ended) - MaxEnded
	if extra <= 0 {
		return r
	}
	slices.SortFunc(ended, func(a, b policy.HoldRecord) int { return a.Ended.Compare(b.Ended) })
	last := ended[extra].Ended
	r.Holds = slices.DeleteFunc(slices.Clone(r.Holds), func(h policy.HoldRecord) bool {
		return !h.Holds && !h.Ended.After(last)
	})
	r.Holds = append(r.Holds, policy.HoldRecord{By: "earlier holds", Ended: last})
	return r
}

// Converted returns the record with each time converted.
func (r Record) Converted(convert func(time.Time) time.Time) Record {
	r.Trips, r.Holds = slices.Clone(r.Trips), slices.Clone(r.Holds)
	for i := range r.Trips {
		r.Trips[i].Began = convert(r.Trips[i].Began)
	}
	for i := range r.Holds {
		if ended := &r.Holds[i].Ended; !ended.IsZero() {
			*ended = convert(*ended)
		}
	}
	return r
}

// Validate returns an error if the record cannot be one that a program has made.
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
	return nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
