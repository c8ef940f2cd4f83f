package journal

import (
	"hash/fnv"
	"time"
)

// Partitions is how many partitions a journal has; they are numbered from 0. It is part of the format.
const Partitions = 8

// PartitionOf is the number of the partition that a node is recorded on. It is part of the format.
func PartitionOf(node string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % Partitions)
}

// StoredPartition is a partition as it is stored, by whatever means.
type StoredPartition struct {
	// Name is what people know the stored partition by; for messages only.
	Name string

	// Version tells one writing of the partition from another; empty while nothing is stored. Only its
	// store makes something of it.
	Version string

	// Data is what [Encode] has made. It is to be read only.
	Data map[string]string

	// Stored is when it was stored, by the clock of where it is stored, cut off to the second; zero when that can't be
	// recorded.
	Stored time.Time

	// Watched says that the partition was seen to change just now, rather than found so.
	Watched bool
}

// Partition is what the data of a partition say.
type Partition struct {
	// Written is when the partition was written, by its writer's clock; zero if that is unknown.
	Written time.Time

	// Records are those of the partition's nodes, by name.
	Records map[string]Record
}

// Head is the entry that says what the partition is. No node can have its name. It is part of the format.
const Head = "_journal"

// formatVersion is the version of the format below.
const formatVersion = 1

// heading is the entry [Head] in JSON.
type heading struct {
	Version int       `json:"version"`
	Written time.Time `json:"written"`
}

// entry is the record of one node in JSON.
type entry struct {
	UID     string    `json:"uid"`
	Version string    `json:"version,omitempty"`
	Taints  [][]state `json:"taints"`
}

// state is one state of a taint in JSON.
type state struct {
	Key       string     `json:"key"`
	Value     string     `json:"value,omitempty"`
	Effect    string     `json:"effect"`
	Since     time.Time  `json:"since"`
	TimeAdded *time.Time `json:"timeAdded,omitempty"`
	Past      bool       `json:"past,omitempty"`
	From      string     `json:"from,omitempty"`
	Found     bool       `json:"found,omitempty"`
}
