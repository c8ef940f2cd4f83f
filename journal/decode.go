package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/taint"
)

// Decode parses the data of the partition with this number. It drops invalid entries; each problem names one and says
// what is wrong. It returns an error if the partition has another format version, or none: such a partition must
// neither be used nor overwritten. A partition without data is empty.
func Decode(partition int, data map[string]string) (p Partition, problems []error, err error) {
	p.Records = map[string]Record{}
	if len(data) == 0 {
		return p, nil, nil
	}
	if err := checkVersion(data[Head]); err != nil {
		return Partition{}, nil, err
	}
	if p.Written, err = decodeWritten(data[Head]); err != nil {
		problems = append(problems, err)
	}
	for _, node := range slices.Sorted(maps.Keys(Entries(data))) {
		record, err := decodeRecord(partition, node, data[node], v1.TaintEffectNoExecute)
		if err != nil {
			problems = append(problems, fmt.Errorf("the entry %.80q is dropped: %w", node, err))
			continue
		}
		p.Records[node] = record
	}
	problems = append(problems, p.decodeTriggers(partition, data[Head])...)
	if p.Guards, err = decodeGuards(data[Head]); err != nil {
		problems = append(problems, err)
	}
	return p, problems, nil
}

// decodeTriggers adds the triggers to the records of their nodes. It drops invalid ones, and names them.
func (p *Partition) decodeTriggers(partition int, head string) (problems []error) {
	var found struct {
		Triggers map[string]json.RawMessage `json:"triggers"`
	}
	if err := json.Unmarshal([]byte(head), &found); err != nil {
		return []error{fmt.Errorf("the triggers in its entry %s are dropped: %w", Head, err)}
	}
	for _, node := range slices.Sorted(maps.Keys(found.Triggers)) {
		record, err := decodeRecord(partition, node, string(found.Triggers[node]), v1.TaintEffectNoSchedule)
		if err == nil {
			err = p.addTriggers(node, record)
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("the triggers of node %.80q are dropped: %w", node, err))
		}
	}
	return problems
}

func (p *Partition) addTriggers(node string, r Record) error {
	known, ok := p.Records[node]
	if ok && (known.UID != r.UID || known.Version != r.Version) {
		return errors.New("its uid or version differs from that in the entry of the node")
	}
	known.UID, known.Version, known.Triggers = r.UID, r.Version, r.Taints
	p.Records[node] = known
	return nil
}

func decodeGuards(head string) (*guard.Record, error) {
	var found struct {
		Guards json.RawMessage `json:"guards"`
	}
	if err := json.Unmarshal([]byte(head), &found); err != nil || len(found.Guards) == 0 ||
		string(found.Guards) == "null" {
		return nil, nil //nolint:nilnil,nilerr // none; decodeTriggers reports the error
	}
	var r guard.Record
	if err := json.Unmarshal(found.Guards, &r); err != nil {
		return nil, fmt.Errorf("the record of guards and holds in its entry %s is dropped: %w", Head, err)
	}
	if err := r.Validate(); err != nil {
		return nil, fmt.Errorf("the record of guards and holds in its entry %s is dropped: %w", Head, err)
	}
	return new(r.Bounded()), nil
}

// checkVersion reads the format version only, because another version may define all other fields differently.
func checkVersion(opening string) error {
	var found struct {
		Version int `json:"version"`
	}
	if err := json.Unmarshal([]byte(opening), &found); err != nil || found.Version != formatVersion {
		return fmt.Errorf("its entry %s is %.80q, and this program knows version %d only: the partition is neither used nor overwritten; delete it to start with an empty one", Head, opening, formatVersion)
	}
	return nil
}

func decodeWritten(opening string) (time.Time, error) {
	var found struct {
		Written time.Time `json:"written"`
	}
	if err := json.Unmarshal([]byte(opening), &found); err != nil {
		return time.Time{}, fmt.Errorf("its entry %s does not say when it was written: %w", Head, err)
	}
	return found.Written, nil
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
	case s.Effect != string(effect):
		return taint.State{}, fmt.Errorf("its effect is %.40q; only %s is allowed", s.Effect, effect)
	case s.Since.IsZero():
		return taint.State{}, errors.New("it does not say since when")
	}
	t := v1.Taint{Key: s.Key, Value: s.Value, Effect: effect}
	if s.TimeAdded != nil {
		t.TimeAdded = &metav1.Time{Time: *s.TimeAdded}
	}
	made := taint.State{Taint: t, Since: s.Since, Ended: s.Past, From: s.From, FoundInList: s.Found}
	if !reaches(version, s.From) {
		made.From, made.FoundInList = version, true // it had begun then, at the latest
	}
	return made, nil
}
