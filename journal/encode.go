package journal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/taint"
)

const (
	// partitionBudget is the maximum size in bytes of a partition's keys and values. A ConfigMap may have 1 MiB of
	// them, and needs additional room for its managedFields.
	partitionBudget = 900_000

	// entryBudget is the maximum size in bytes of one node's record.
	entryBudget = 64 << 10
)

// Encode returns the stored form of a partition with these records, by node. Records that do not fit are left out, and
// their nodes are returned: those whose oldest taint is the youngest. The same records always give the same entries,
// except for the entry that holds the time of the writing.
func Encode(records map[string]Record, written time.Time) (data map[string]string, leftOut []string) {
	opening, err := json.Marshal(heading{formatVersion, written.UTC()})
	if err != nil {
		opening = []byte(`{"version":1}`) // only for years that JSON cannot represent
	}
	data = map[string]string{Head: string(opening)}
	room := partitionBudget - len(Head) - len(opening)
	for _, node := range oldestFirst(records) {
		text, err := encodeRecord(records[node])
		if size := len(node) + len(text); err == nil && len(text) <= entryBudget && size <= room {
			data[node] = text
			room -= size
			continue
		}
		leftOut = append(leftOut, node)
	}
	return data, leftOut
}

// Entries returns the partition's data without the entry that holds the time of the writing.
func Entries(data map[string]string) map[string]string {
	entries := maps.Clone(data)
	delete(entries, Head)
	return entries
}

// Size returns the size in bytes of a partition's data.
func Size(data map[string]string) (bytes int) {
	for key, value := range data {
		bytes += len(key) + len(value)
	}
	return bytes
}

// oldestFirst returns the names of the nodes, sorted by the start of their oldest taint.
func oldestFirst(records map[string]Record) []string {
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int {
		return cmp.Or(oldest(records[a]).Compare(oldest(records[b])), cmp.Compare(a, b))
	})
}

func oldest(r Record) (first time.Time) {
	for i, history := range r.Taints {
		if since := history[0].Since; i == 0 || since.Before(first) {
			first = since
		}
	}
	return first
}

// encodeRecord returns an error for times that JSON cannot represent.
func encodeRecord(r Record) (string, error) {
	e := entry{UID: string(r.UID), Version: r.Version, Taints: make([][]state, len(r.Taints))}
	for i, history := range r.Taints {
		e.Taints[i] = make([]state, len(history))
		for j := range history {
			e.Taints[i][j] = stateOf(&history[j])
		}
	}
	text, err := json.Marshal(e)
	return string(text), err
}

func stateOf(s *taint.State) state {
	t := &s.Taint
	made := state{Key: t.Key, Value: t.Value, Effect: string(t.Effect), Since: s.Since.UTC(), Past: s.Ended, From: s.From, Found: s.FoundInList}
	if t.TimeAdded != nil {
		made.TimeAdded = new(t.TimeAdded.UTC())
	}
	return made
}
