package journal

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
)

// Decode parses the data of the partition with this number. It drops invalid entries; each problem describes one. It
// returns an error if the partition has no format version, or another one. A partition without data is empty.
func Decode(partition int, data map[string]string) (p Partition, problems []error, err error) {
	p.Records = map[string]Record{}
	if len(data) == 0 {
		return p, nil, nil
	}
	head, err := decodeHead(data)
	if err != nil {
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
func decodeRecord(partition int, node, text string) (r Record, err error) {
	switch {
	case PartitionOf(node) != partition:
		return r, fmt.Errorf("this node belongs on partition %d", PartitionOf(node))
	case len(text) > entryBudget:
		return r, fmt.Errorf("it has %d bytes; %d are allowed", len(text), entryBudget)
	}
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("it can't be read: %w", err)
	}
	for _, states := range r.Taints {
		for i := range states {
			if s := &states[i]; !Reaches(r.Version, s.From) {
				s.From, s.Found = r.Version, true // it had begun then, at the latest
			}
		}
	}
	return r, r.validate()
}
