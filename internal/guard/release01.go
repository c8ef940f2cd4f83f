package guard

import (
	"encoding/json"

	"github.com/taint-manager/taint-manager/policy"
)

// stored is a record in its stored form.
type stored struct {
	record

	// Holding and Ended are the holds as release 0.1 records them. If the record has holds, Holding has an entry that
	// matches no hold of any program. A program of release 0.1 that begins to lead then counts all holds as ended.
	Holding []hold01 `json:"holding,omitempty"`
	Ended   []hold01 `json:"ended,omitempty"`
}

// hold01 is a hold as release 0.1 records it, without the pods that it holds.
type hold01 struct {
	By string `json:"by"`
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

// UnmarshalJSON implements [json.Unmarshaler]. The holds of release 0.1 become one hold of all pods, which ends when
// the next leader begins: later, never earlier.
func (r *Record) UnmarshalJSON(text []byte) error {
	var s stored
	if err := json.Unmarshal(text, &s); err != nil {
		return err
	}
	*r = Record(s.record)
	if len(r.Holds) == 0 && len(s.Holding)+len(s.Ended) > 0 {
		r.Holds = []policy.HoldRecord{{By: "holds of release 0.1", Rules: unknownRules, Holds: true}}
	}
	return nil
}
