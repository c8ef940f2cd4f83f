package guard

import (
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/policy"
)

// hold01 is a hold as release 0.1 has recorded it: a present one, or one that has ended.
type hold01 struct {
	By    string `json:"by"`
	Match *struct {
		Taints []policy.KeyPattern `json:"taints"`
	} `json:"match,omitempty"`
	TopologyKey string    `json:"topologyKey,omitempty"`
	Group       string    `json:"group,omitempty"`
	At          time.Time `json:"at,omitzero"`
}

// stored is a record in its stored form.
type stored struct {
	record

	// Holding and Ended are the fields of release 0.1. A record with holds has one entry in Holding that no program
	// holds, so that a program of release 0.1 that reads the record counts all holds as ended when it begins to lead.
	Holding []hold01 `json:"holding,omitempty"`
	Ended   []hold01 `json:"ended,omitempty"`
}

// record is a Record without its methods.
type record Record

// MarshalJSON implements [json.Marshaler].
func (r Record) MarshalJSON() ([]byte, error) {
	s := stored{record: record(r)}
	if len(r.Holds) > 0 {
		s.Holding = []hold01{{By: "holds of a later release"}}
	}
	return json.Marshal(s)
}

// UnmarshalJSON implements [json.Unmarshaler]. It converts a record of release 0.1: later, never earlier.
func (r *Record) UnmarshalJSON(text []byte) error {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*r = Record(s.record)
	if len(r.Holds) > 0 {
		return nil
	}
	for i := range s.Ended {
		if s.Ended[i].At.IsZero() {
			return fmt.Errorf("the end of %.40q lacks its time", s.Ended[i].By)
		}
		r.addHold(s.Ended[i].record())
	}
	for i := range s.Holding {
		h := s.Holding[i].record()
		h.Holds, h.Rules, h.Ended = true, unknownRules, time.Time{}
		r.addHold(h)
	}
	return nil
}

// record returns the entry for the hold. It counts for all pods with a taint of the hold's keys, even if the hold
// selected only some of them.
func (h *hold01) record() *policy.HoldRecord {
	entry := &policy.HoldRecord{By: h.By, TopologyKey: h.TopologyKey, Group: h.Group, Ended: h.At}
	if h.Match == nil {
		return entry
	}
	for _, key := range h.Match.Taints {
		if !slices.Contains(entry.Taints, key) {
			entry.Taints = append(entry.Taints, key)
		}
	}
	if entry.Taints == nil {
		entry.Taints = []policy.KeyPattern{{}}
	}
	return entry
}
