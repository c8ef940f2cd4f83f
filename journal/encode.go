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
	// partitionBudget is how many bytes the keys and values of a partition may have. A ConfigMap may have
	// 1 MiB of them, and beside them needs room for its list of who manages which key.
	partitionBudget = 900_000

	// entryBudget is how many bytes one node's record may have.
	entryBudget = 64 << 10
)

// Encode is a partition with these records, by node, as it is to be stored. What has no room is left out,
// and named: the records whose oldest taint is the youngest. The same records always give the same
// entries; only the one that says when the partition was written differs.
func Encode(records map[string]Record, written time.Time) (data map[string]string, leftOut []string) {
	opening, err := json.Marshal(heading{formatVersion, written.UTC()})
	if err != nil {
		opening = []byte(`{"version":1}`) // a year that nobody will see
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

// Entries are the partition's data without the entry that says when it was written.
func Entries(data map[string]string) map[string]string {
	entries := maps.Clone(data)
	delete(entries, Head)
	return entries
}

// Size is how many bytes the data of a partition have.
func Size(data map[string]string) (bytes int) {
	for key, value := range data {
		bytes += len(key) + len(value)
	}
	return bytes
}

// oldestFirst are the names of the nodes in the order of their oldest taints.
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

// encodeRecord fails for times that JSON has no form for.
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
