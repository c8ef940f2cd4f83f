package journal

import (
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"maps"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
)

// These are parts of the format. No node can have the name of such a key.
const (
	Partitions  = 8          // how many partitions a journal has; they are numbered from 0
	StateObject = Partitions // the number of the manager-wide state, which is in a ConfigMap of its own

	formatVersion = 1
	Head          = "_journal" // the [Heartbeat] of a partition or of the state
	GuardsKey     = "_guards"  // of the state: trips, holds and when policies began, as package breaker marshals them
	ConfigKey     = "_config"  // of the state: a [Config]
	compressedKey = "_records" // instead of the keys of records: a JSON object of them, compressed by gzip, in base64
)

// The maximum sizes in bytes. A ConfigMap may have 1 MiB of keys and values, and needs additional room for its
// managedFields.
const (
	MaxConfig       = 256 << 10 // of a stored [Config]
	MaxGuards       = 256 << 10 // of the record of guards and holds
	partitionBudget = 900_000   // of a partition's keys and values
	maxDecompressed = 64 << 20  // of compressed entries: it bounds the memory that a forged entry can take
)

// PartitionOf returns the number of the partition that owns a node. It is part of the format.
func PartitionOf(node string) int {
	h := fnv.New32a()
	_, _ = h.Write([]byte(node)) // never fails
	return int(h.Sum32() % Partitions)
}

// StoredPartition is a partition, or the state, in its stored form, independent of the store.
type StoredPartition struct {
	Name    string            // identifies it in messages
	Version string            // changes with each write; empty while nothing is stored. Only the store interprets it
	Data    map[string]string // as [Encode] or [EncodeState] returns it; it must not be modified
}

// Partition is the decoded content of a partition.
type Partition struct {
	Heartbeat

	Records map[string]Record // of the partition's nodes, by name
}

// Record is the journal's record of one tainted node. Its JSON form is part of the format.
type Record struct {
	UID types.UID `json:"uid"` // of the node: one with the same name and another UID is another node

	// Version is the node's resourceVersion when the writer last saw its taints change or, if later, the Version of a
	// record that the writer read. A process uses the record once it has watched the nodes up to this version.
	Version string `json:"version,omitempty"`

	List   string         `json:"list,omitempty"` // a fingerprint of the taints; empty if each in Taints has timeAdded
	Taints [][]TaintState `json:"taints"`         // the states of each taint
}

// TaintState is a state of a taint, with the journal's bookkeeping.
type TaintState struct {
	v1.Taint

	// Since and Relisted are those of [taint.State], on the monotonic clock of this process. Start and Listed are the
	// same times by the API server's clock, in UTC; if they were read from a record, they are written unchanged.
	Since    time.Time `json:"-"`
	Start    time.Time `json:"since"`
	Relisted time.Time `json:"-"`
	Listed   time.Time `json:"relisted,omitzero"`

	Ended bool `json:"past,omitempty"` // the node no longer carries the taint in this state

	// From is the node's resourceVersion at which the taint was first seen in this state, and To the one at which the
	// node was first seen without it. To is empty while the state lasts, and if unknown.
	From string `json:"from,omitempty"`
	To   string `json:"-"`

	// Found means that a LIST, not a watch event, first showed the state, so it may have begun earlier. If Listed is
	// set, the LIST followed a gap in the watch, before which the node was seen without the state.
	Found bool `json:"found,omitempty"`
}

// find returns the states of the taint, or nil.
func (r *Record) find(t *v1.Taint) []TaintState {
	i := slices.IndexFunc(r.Taints, func(states []TaintState) bool { return counts(&states[0].Taint, t) })
	if i < 0 {
		return nil
	}
	return r.Taints[i]
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
// gives the same data. If the records do not fit, all are compressed.
func Encode(p Partition) (data map[string]string, leftOut []string) {
	head := map[string]string{Head: p.encode()}
	data = maps.Clone(head)
	for node, record := range p.Records {
		text, _ := json.Marshal(record) // fails only for years that JSON cannot represent
		data[node] = string(text)
	}
	if Size(data) <= partitionBudget {
		return data, nil
	}
	entries := Entries(data)
	nodes := slices.Sorted(maps.Keys(entries))
	for fits := len(nodes); ; fits = min(fits-1, fits*partitionBudget/Size(head)) {
		for _, node := range nodes[fits:] {
			delete(entries, node)
		}
		head[compressedKey] = compress(entries)
		if Size(head) <= partitionBudget {
			return head, nodes[fits:]
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
	if p.Heartbeat, err = decodeHead(data); err != nil {
		return Partition{}, nil, err
	}
	entries := Entries(data)
	if text, compressed := entries[compressedKey]; compressed {
		if entries, err = decompress(text); err != nil {
			return p, []error{fmt.Errorf("the entry %s can't be read, and is dropped: %w", compressedKey, err)}, nil
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
				return r, fmt.Errorf("the taint %.80q has no start time", s.Key)
			}
			if !Reaches(r.Version, s.From) {
				s.From, s.Found = r.Version, true // it had begun then, at the latest
			}
		}
	}
	return r, nil
}
