package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/taint"
)

// Decode parses the data of the partition with this number. It drops invalid entries; each problem describes an invalid
// entry. It returns an error if the partition has no format version, or another one: such a partition must neither be
// used nor overwritten. A partition without data is empty.
func Decode(partition int, data map[string]string) (p Partition, problems []error, err error) {
	p.Records = map[string]Record{}
	if len(data) == 0 {
		return p, nil, nil
	}
	head, problem, err := decodeHead(data[Head])
	if err != nil {
		return Partition{}, nil, err
	}
	if p.Written, p.Undone = head.Written, head.Undone; problem != nil {
		problems = append(problems, problem)
	}
	for _, node := range slices.Sorted(maps.Keys(Entries(data))) {
		record, err := decodeRecord(partition, node, data[node], v1.TaintEffectNoExecute)
		if err != nil {
			problems = append(problems, fmt.Errorf("the entry %.80q is dropped: %w", node, err))
			continue
		}
		p.Records[node] = record
	}
	if len(head.Guards) > 0 {
		if p.Guards, err = decodeGuards(head.Guards); err != nil {
			problems = append(problems, fmt.Errorf("the field \"guards\" of its entry %s is dropped: %w", Head, err))
		}
	}
	for _, node := range slices.Sorted(maps.Keys(head.Triggers)) {
		if err := p.decodeTriggers(partition, node, string(head.Triggers[node])); err != nil {
			problems = append(problems, fmt.Errorf("the triggers of node %.80q are dropped: %w", node, err))
		}
	}
	return p, problems, nil
}

// decodeHead parses the entry [Head]. Of another format version it reads nothing else, because that version may define
// all other fields differently. The problem describes an invalid field.
func decodeHead(text string) (head heading, problem, err error) {
	var format struct{ Version int }
	_ = json.Unmarshal([]byte(text), &format) // the result is checked
	if format.Version != formatVersion {
		return heading{}, nil, fmt.Errorf("its entry %s is %.80q, and this program knows version %d only: the partition is neither used nor overwritten; delete it to start with an empty one", Head, text, formatVersion)
	}
	// An invalid time would end the decoding of the fields after it, so the times are decoded by themselves.
	var raw struct {
		Written, Undone json.RawMessage
		Guards          json.RawMessage
		Triggers        map[string]json.RawMessage
	}
	problem = json.Unmarshal([]byte(text), &raw)
	head.Guards, head.Triggers = raw.Guards, raw.Triggers
	problem = errors.Join(problem, decodeTime(raw.Written, &head.Written), decodeTime(raw.Undone, &head.Undone))
	if problem != nil {
		return head, fmt.Errorf("its entry %s is dropped in part: %w", Head, problem), nil
	}
	return head, nil, nil
}

func decodeTime(raw json.RawMessage, t *time.Time) error {
	if len(raw) == 0 {
		return nil
	}
	return json.Unmarshal(raw, t)
}

func decodeGuards(raw json.RawMessage) (*breaker.Record, error) {
	var r *breaker.Record
	if err := json.Unmarshal(raw, &r); err != nil || r == nil {
		return nil, err
	}
	if err := r.Validate(); err != nil {
		return nil, err
	}
	return r, nil
}

// decodeTriggers adds the triggers of a node to its record.
func (p *Partition) decodeTriggers(partition int, node, text string) error {
	r, err := decodeRecord(partition, node, text, v1.TaintEffectNoSchedule)
	if err != nil {
		return err
	}
	known, ok := p.Records[node]
	if ok && (known.UID != r.UID || known.Version != r.Version) {
		return errors.New("its uid or version differs from that in the entry of the node")
	}
	p.Records[node] = Record{UID: r.UID, Version: r.Version, Taints: known.Taints, Triggers: r.Taints}
	return nil
}

// decodeRecord parses the record of a node's taints of one effect; they are in its Taints.
func decodeRecord(partition int, node, text string, effect v1.TaintEffect) (Record, error) {
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
	if e.UID == "" {
		return Record{}, errors.New("it has no uid")
	}
	taints, err := decodeTaints(e.Taints, e.Version, effect)
	return Record{UID: types.UID(e.UID), Version: e.Version, Taints: taints}, err
}

func decodeTaints(histories [][]state, version string, effect v1.TaintEffect) ([]taint.History, error) {
	if len(histories) == 0 {
		return nil, errors.New("it has no taints")
	}
	var taints []taint.History
	for i, states := range histories {
		if len(states) == 0 || len(states) > States {
			return nil, fmt.Errorf("taint %d has %d states; 1 to %d are allowed", i, len(states), States)
		}
		history, err := decodeHistory(states, version, effect)
		if err != nil {
			return nil, fmt.Errorf("taint %d: %w", i, err)
		}
		if find(taints, &history[0].Taint) != nil {
			return nil, fmt.Errorf("taint %d is there twice", i)
		}
		taints = append(taints, history)
	}
	return taints, nil
}

func decodeHistory(states []state, version string, effect v1.TaintEffect) (taint.History, error) {
	history := make(taint.History, 0, len(states))
	stands := false
	for i := range states {
		s, err := decodeState(&states[i], version, effect)
		switch {
		case err != nil:
			return nil, fmt.Errorf("state %d: %w", i, err)
		case i > 0 && !counts(&history[0].Taint, &s.Taint):
			return nil, fmt.Errorf("state %d is one of another taint", i)
		case !s.Ended && standing(history, &s.Taint):
			return nil, fmt.Errorf("state %d is there twice", i)
		}
		stands = stands || !s.Ended
		history = append(history, s)
	}
	if !stands {
		return nil, errors.New("all its states are past")
	}
	return history, nil
}

func decodeState(s *state, version string, effect v1.TaintEffect) (taint.State, error) {
	switch {
	case s.Key == "":
		return taint.State{}, errors.New("it has no key")
	case s.Effect != effect:
		return taint.State{}, fmt.Errorf("its effect is %.40q; only %s is allowed", s.Effect, effect)
	case s.Since.IsZero():
		return taint.State{}, errors.New("it does not say since when")
	}
	made := taint.State{
		Taint: s.Taint, Since: s.Since, Ended: s.Past, From: s.From, FoundInList: s.Found, Relisted: s.Relisted,
	}
	if !reaches(version, s.From) {
		made.From, made.FoundInList = version, true // it had begun then, at the latest
	}
	return made, nil
}
