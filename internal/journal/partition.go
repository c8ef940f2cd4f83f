package journal

import (
	"encoding/json"
	"hash/fnv"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
)

// Partitions is the number of partitions of a journal; they are numbered from 0. It is part of the format.
const Partitions = 8

// PartitionOf returns the number of the partition that owns a node. It is part of the format.
func PartitionOf(node string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % Partitions)
}

// StoredPartition is a partition in its stored form, independent of the store.
type StoredPartition struct {
	// Name identifies the stored partition in messages.
	Name string

	// Version identifies one writing of the partition; empty while nothing is stored. Only the store interprets it.
	Version string

	// Data is the result of [Encode]. It must not be modified.
	Data map[string]string

	// Stored is when it was stored, by the store's clock, truncated to the second; zero if the store does not record
	// it.
	Stored time.Time

	// Received is when a watch reported this change; it carries the monotonic clock. Zero if the partition was read in
	// this state.
	Received time.Time
}

// Partition is the decoded content of a partition.
type Partition struct {
	// Written is when the partition was written, by its writer's clock; zero if unknown.
	Written time.Time

	// Undone is when a leader last replaced what another client had written, by the leader's clock; zero if none has.
	// What was converted from earlier writings may come from that client.
	Undone time.Time

	// Records are the records of the partition's nodes, by name.
	Records map[string]Record

	// Guards is the record of guards and holds, with wall times; nil if the partition has none. Only the first
	// partition has one.
	Guards *breaker.Record
}

// GuardsPartition is the number of the partition that has the record of guards and holds. It is part of the format.
const GuardsPartition = 0

// Head is the key of the entry that describes the partition. No node can have this name. It is part of the format.
const Head = "_journal"

// formatVersion is the version of the format below.
const formatVersion = 1

// heading is the JSON form of the entry [Head]. The first releases did not know Guards and Triggers: they ignore them,
// and drop them when they write. In entries of their own, these would not be ignored.
type heading struct {
	Version  int                        `json:"version"`
	Written  time.Time                  `json:"written"`
	Undone   time.Time                  `json:"undone,omitzero"`
	Guards   json.RawMessage            `json:"guards,omitempty"`
	Triggers map[string]json.RawMessage `json:"triggers,omitempty"` // an entry for each node
}

// entry is the JSON form of one node's record: of its NoExecute taints, or of its NoSchedule triggers.
type entry struct {
	UID     string    `json:"uid"`
	Version string    `json:"version,omitempty"`
	Taints  [][]state `json:"taints"`
}

// state is the JSON form of one state of a taint.
type state struct {
	v1.Taint

	Since time.Time `json:"since"`
	Past  bool      `json:"past,omitempty"`
	From  string    `json:"from,omitempty"`
	Found bool      `json:"found,omitempty"`

	Relisted time.Time `json:"relisted,omitzero"`
}
