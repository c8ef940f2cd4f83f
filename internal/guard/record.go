package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// MaxEnded is the maximum number of ended holds in a record.
const MaxEnded = 256

// byEarlier is the name of the entry for all holds that have no entry of their own.
const byEarlier = "earlier holds"

// unknownRules is the fingerprint of rules that are not known. It differs from every other fingerprint, so the hold
// counts as ended when the next leader compares it with its own holds.
const unknownRules = "?"

// Record is the state of guards and holds that outlives the process. While a process has it, its times carry the
// monotonic clock; in the journal they are wall times. The zero value stands for a cluster without any hold so far.
type Record struct {
	Trips []TripRecord `json:"trips,omitempty"`

	// Holds has one entry for each hold.
	Holds []policy.HoldRecord `json:"holds,omitempty"`
}

// With returns the record with these trips and these present holds. A recorded hold that is no longer present has ended
// now, even if it ended while no process was running. A hold whose rules have changed has ended now and is in force
// again. With does not change the record.
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
	return next.And(present...)
}

// And returns the record with these holds, too. Of two ends of the same hold the later end counts. And does not change
// the record.
func (r Record) And(holds ...policy.HoldRecord) Record {
	r.Holds = slices.Clone(r.Holds)
	for i := range holds {
		r.add(&holds[i])
	}
	return r.Bounded()
}

// add adds an entry, or merges it into the entry of the same hold.
func (r *Record) add(h *policy.HoldRecord) {
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

// Bounded returns the record with at most [MaxEnded] ended holds. If there are more, all of them become one entry for
// all pods with the latest end, so deletions are later, never earlier.
func (r Record) Bounded() Record {
	var holding []policy.HoldRecord
	earlier := policy.HoldRecord{By: byEarlier}
	for _, h := range r.Holds {
		if h.Holds {
			holding = append(holding, h)
		} else {
			earlier.Ended = later(earlier.Ended, h.Ended)
		}
	}
	if len(r.Holds)-len(holding) > MaxEnded {
		holding = append(holding, earlier)
		r.Holds = holding
	}
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
	return nil
}

// stored is a record in its stored form. Holding and Ended are the holds as release 0.1 records them.
type stored struct {
	plainRecord

	Holding []json.RawMessage `json:"holding,omitempty"`
	Ended   []json.RawMessage `json:"ended,omitempty"`
}

// plainRecord is a Record without its methods.
type plainRecord Record

// MarshalJSON implements [json.Marshaler]. A record with holds also has a hold in the form of release 0.1
// that no program knows. So a leader of release 0.1 counts all holds as ended when it begins.
func (r Record) MarshalJSON() ([]byte, error) {
	s := stored{plainRecord: plainRecord(r)}
	if len(r.Holds) > 0 {
		s.Holding = []json.RawMessage{[]byte(`{"by":"holds of a later release"}`)}
	}
	return json.Marshal(s)
}

// UnmarshalJSON implements [json.Unmarshaler]. The holds of release 0.1 become one hold of all pods, which ends when
// the next leader begins: later, never earlier.
func (r *Record) UnmarshalJSON(text []byte) error {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*r = Record(s.plainRecord)
	if len(r.Holds) == 0 && len(s.Holding)+len(s.Ended) > 0 {
		r.Holds = []policy.HoldRecord{{By: "holds of release 0.1", Rules: unknownRules, Holds: true}}
	}
	return nil
}

func later(a, b time.Time) time.Time {
	if a.Before(b) {
		return b
	}
	return a
}
