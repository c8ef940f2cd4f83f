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
		record, err := decodeRecord(partition, node, data[node])
		if err != nil {
			problems = append(problems, fmt.Errorf("the entry %.80q is dropped: %w", node, err))
			continue
		}
		p.Records[node] = record
	}
	return p, problems, nil
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
	var found heading
	if err := json.Unmarshal([]byte(opening), &found); err != nil {
		return time.Time{}, fmt.Errorf("its entry %s does not say when it was written: %w", Head, err)
	}
	return found.Written, nil
}

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
	if e.UID == "" {
		return Record{}, errors.New("it has no uid")
	}
	taints, err := decodeTaints(e.Taints, e.Version)
	return Record{UID: types.UID(e.UID), Version: e.Version, Taints: taints}, err
}

func decodeTaints(histories [][]state, version string) ([]taint.History, error) {
	if len(histories) == 0 {
		return nil, errors.New("it has no taints")
	}
	var taints []taint.History
	for i, states := range histories {
		if len(states) == 0 || len(states) > States {
			return nil, fmt.Errorf("taint %d has %d states; 1 to %d are allowed", i, len(states), States)
		}
		history, err := decodeHistory(states, version)
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

func decodeHistory(states []state, version string) (taint.History, error) {
	history := make(taint.History, 0, len(states))
	stands := false
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
		stands = stands || !s.Ended
		history = append(history, s)
	}
	if !stands {
		return nil, errors.New("all its states are past")
	}
	return history, nil
}

func decodeState(s *state, version string) (taint.State, error) {
	switch {
	case s.Key == "":
		return taint.State{}, errors.New("it has no key")
	case s.Effect != string(v1.TaintEffectNoExecute):
		return taint.State{}, fmt.Errorf("its effect is %.40q; only %s is allowed", s.Effect, v1.TaintEffectNoExecute)
	case s.Since.IsZero():
		return taint.State{}, errors.New("it does not say since when")
	}
	t := v1.Taint{Key: s.Key, Value: s.Value, Effect: v1.TaintEffectNoExecute}
	if s.TimeAdded != nil {
		t.TimeAdded = &metav1.Time{Time: *s.TimeAdded}
	}
	made := taint.State{Taint: t, Since: s.Since, Ended: s.Past, From: s.From, FoundInList: s.Found}
	if !reaches(version, s.From) {
		made.From, made.FoundInList = version, true // it had begun then, at the latest
	}
	return made, nil
}
