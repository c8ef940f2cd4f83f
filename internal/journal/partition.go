package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"
)

// Partitions is the number of partitions of a journal; they are numbered from 0. It is part of the format.
const Partitions = 8

// Head is the key of the [Heartbeat] of a partition or of the state. No node can have this name. It is part of the
// format.
const Head = "_journal"

// formatVersion is the version of the format.
const formatVersion = 1

// partitionBudget is the maximum size in bytes of a partition's keys and values. A ConfigMap may have 1 MiB of them,
// and needs additional room for its managedFields.
const partitionBudget = 900_000

// PartitionOf returns the number of the partition that owns a node. It is part of the format.
func PartitionOf(node string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % Partitions)
}

// StoredPartition is a partition, or the state, in its stored form, independent of the store.
type StoredPartition struct {
	// Name identifies the stored partition in messages.
	Name string

	// Version identifies one writing of the partition; empty while nothing is stored. Only the store interprets it.
	Version string

	// Data is the result of [Encode] or [EncodeState]. It must not be modified.
	Data map[string]string
}

// Partition is the decoded content of a partition.
type Partition struct {
	// Written is when the partition was written, by its writer's clock; zero if unknown.
	Written time.Time

	// LastWatch is when the writer had last watched by that time.
	LastWatch

	// Records are the records of the partition's nodes, by name.
	Records map[string]Record
}

// Entries returns the partition's data without the entry [Head].
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

// Encode returns the stored form of a partition, and the names of the nodes that do not fit. The same content always
// gives the same data. Records that do not fit as they are, are compressed.
func Encode(p Partition) (data map[string]string, leftOut []string) {
	head := map[string]string{Head: Heartbeat{Written: p.Written.UTC(), LastWatch: p.LastWatch}.encode()}
	data = maps.Clone(head)
	for node, record := range p.Records {
		text, err := json.Marshal(record)
		if err != nil { // JSON can't represent some years
			leftOut = append(leftOut, node)
			continue
		}
		data[node] = string(text)
	}
	if Size(data) <= partitionBudget {
		return data, leftOut
	}
	entries := Entries(data)
	nodes := slices.Sorted(maps.Keys(entries))
	for fits := len(nodes); ; fits = min(fits-1, fits*partitionBudget/Size(head)) {
		for _, node := range nodes[fits:] {
			delete(entries, node)
		}
		head[compressedKey] = compress(entries)
		if Size(head) <= partitionBudget {
			return head, append(leftOut, nodes[fits:]...)
		}
	}
}

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
	entries := Entries(data)
	if text, compressed := entries[compressedKey]; compressed {
		if entries, err = decompress(text); err != nil {
			return p, []error{fmt.Errorf("the entry %s is dropped: %w", compressedKey, err)}, nil
		}
	}
	for _, node := range slices.Sorted(maps.Keys(entries)) {
		record, err := decodeRecord(entries[node])
		if PartitionOf(node) != partition {
			err = fmt.Errorf("this node belongs on partition %d", PartitionOf(node))
		}
		if err != nil {
			problems = append(problems, fmt.Errorf("the entry %.80q is dropped: %w", node, err))
			continue
		}
		p.Records[node] = record
	}
	return p, problems, nil
}

// decodeRecord parses the record of a node. It returns an error unless each taint has states, and each state its start.
func decodeRecord(text string) (r Record, err error) {
	if err := json.Unmarshal([]byte(text), &r); err != nil {
		return r, fmt.Errorf("it can't be read: %w", err)
	}
	for _, states := range r.Taints {
		if len(states) == 0 {
			return r, errors.New("a taint has no states")
		}
		for i := range states {
			s := &states[i]
			if s.Start.IsZero() {
				return r, fmt.Errorf("it does not say since when the taint %.80q is there", s.Key)
			}
			if !Reaches(r.Version, s.From) {
				s.From, s.Found = r.Version, true // it had begun then, at the latest
			}
		}
	}
	return r, nil
}
