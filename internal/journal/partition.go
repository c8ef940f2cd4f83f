package journal

import (
	"hash/fnv"
	"maps"
	"time"
)

// Partitions is the number of partitions of a journal; they are numbered from 0. It is part of the format.
const Partitions = 8

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

	// LastWatch is when the writer had last watched then.
	LastWatch

	// Records are the records of the partition's nodes, by name.
	Records map[string]Record
}

// Head is the key of the entry that describes the partition or the state, a [Heartbeat]. No node can have this name. It
// is part of the format.
const Head = "_journal"

// formatVersion is the version of the format.
const formatVersion = 1

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
