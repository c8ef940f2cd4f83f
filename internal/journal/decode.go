package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// Decode parses the data of the partition with this number. It drops invalid entries; each problem describes one. It
// returns an error if the partition has no format version, or another one. A partition without data is empty.
func Decode(partition int, data map[string]string) (p Partition, problems []error, err error) {
	p.Records = map[string]Record{}
	if len(data) == 0 {
		return p, nil, nil
	}
	var head heading
	if err := decodeHead(data[Head], &head, &head.Version); err != nil {
		return Partition{}, nil, err
	}
	p.Written, p.LastWatch = head.Written, head.LastWatch
	for _, node := range slices.Sorted(maps.Keys(Entries(data))) {
		record, err := decodeRecord(partition, node, data[node])
		if err != nil {
			problems = append(problems, fmt.Errorf("the entry %.80q is dropped: %w", node, err))
			continue
		}
		p.Records[node] = record
	}
	return p, problems, nil
}

// decodeRecord parses the record of a node.
func decodeRecord(partition int, node, text string) (Record, error) {
	var e entry
	switch {
	case PartitionOf(node) != partition:
		return Record{}, fmt.Errorf("this node belongs on partition %d", PartitionOf(node))
	case len(text) > entryBudget:
		return Record{}, fmt.Errorf("it has %d bytes; %d are allowed", len(text), entryBudget)
	}
	if err := json.Unmarshal([]byte(text), &e); err != nil {
		return Record{}, fmt.Errorf("it can't be read: %w", err)
	}
	switch {
	case e.UID == "":
		return Record{}, errors.New("it has no uid")
	case len(e.Taints) == 0:
		return Record{}, errors.New("it has no taints")
	}
	r := Record{UID: types.UID(e.UID), Version: e.Version, List: e.List}
	for i, states := range e.Taints {
		history, err := decodeHistory(states, e.Version)
		if err == nil && r.find(&history[0].Taint) != nil {
			err = errors.New("it is there twice")
		}
		if err != nil {
			return Record{}, fmt.Errorf("taint %d: %w", i, err)
		}
		r.Taints = append(r.Taints, history)
	}
	return r, nil
}

func decodeHistory(states []entryState, version string) ([]TaintState, error) {
	if len(states) == 0 || len(states) > maxStates {
		return nil, fmt.Errorf("it has %d states; 1 to %d are allowed", len(states), maxStates)
	}
	history := make([]TaintState, 0, len(states))
	for i := range states {
		s, err := decodeState(&states[i], version)
		switch {
		case err != nil:
			return nil, fmt.Errorf("state %d: %w", i, err)
		case i > 0 && !counts(&history[0].Taint, &s.Taint):
			return nil, fmt.Errorf("state %d is one of another taint", i)
		case !s.Ended && standing(history, &s.Taint):
			return nil, fmt.Errorf("state %d is there twice", i)
		}
		history = append(history, s)
	}
	if !slices.ContainsFunc(history, func(s TaintState) bool { return !s.Ended }) {
		return nil, errors.New("all its states are past")
	}
	return history, nil
}

func decodeState(s *entryState, version string) (TaintState, error) {
	switch {
	case s.Key == "":
		return TaintState{}, errors.New("it has no key")
	case s.Effect != v1.TaintEffectNoExecute && s.Effect != v1.TaintEffectNoSchedule:
		return TaintState{}, fmt.Errorf("its effect is %.40q; only NoExecute and NoSchedule are allowed", s.Effect)
	case s.Since.IsZero():
		return TaintState{}, errors.New("it does not say since when")
	}
	made := TaintState{
		State: taint.State{Taint: s.Taint, Ended: s.Past}, Start: s.Since, Listed: s.Relisted, From: s.From,
		Found: s.Found,
	}
	if !Reaches(version, s.From) {
		made.From, made.Found = version, true // it had begun then, at the latest
	}
	return made, nil
}
