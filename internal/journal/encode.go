package journal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"
)

const (
	// partitionBudget is the maximum size in bytes of a partition's keys and values. A ConfigMap may have 1 MiB of
	// them, and needs additional room for its managedFields.
	partitionBudget = 900_000

	// entryBudget is the maximum size in bytes of one node's record.
	entryBudget = 64 << 10
)

// Encode returns the stored form of a partition, and the names of the nodes that do not fit: those whose oldest taint
// is the youngest. The same content always gives the same data.
func Encode(p Partition) (data map[string]string, leftOut []string) {
	data = map[string]string{Head: Heartbeat{Written: p.Written.UTC(), LastWatch: p.LastWatch}.encode()}
	room := partitionBudget - Size(data)
	for _, node := range oldestFirst(p.Records) {
		text, err := json.Marshal(p.Records[node]) // fails for years that JSON cannot represent
		if size := len(node) + len(text); err != nil || len(text) > entryBudget || size > room {
			leftOut = append(leftOut, node)
			continue
		}
		room -= len(node) + len(text)
		data[node] = string(text)
	}
	return data, leftOut
}

// oldestFirst returns the names of the nodes, sorted by the start of their oldest taint.
func oldestFirst(records map[string]Record) []string {
	oldest := make(map[string]time.Time, len(records))
	for node, r := range records {
		first := slices.MinFunc(r.Taints, func(a, b []TaintState) int { return a[0].Start.Compare(b[0].Start) })
		oldest[node] = first[0].Start
	}
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int {
		return cmp.Or(oldest[a].Compare(oldest[b]), cmp.Compare(a, b))
	})
}
