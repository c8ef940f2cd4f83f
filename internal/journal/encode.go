package journal

import (
	"cmp"
	"encoding/json"
	"maps"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/taint"
)

const (
	// partitionBudget is the maximum size in bytes of a partition's keys and values. A ConfigMap may have 1 MiB of
	// them, and needs additional room for its managedFields.
	partitionBudget = 900_000

	// entryBudget is the maximum size in bytes of one node's record, of either effect.
	entryBudget = 64 << 10

	// guardsBudget is the maximum size in bytes of the record of guards and holds.
	guardsBudget = 256 << 10
)

// LeftOut is the content that does not fit into a partition.
type LeftOut struct {
	// Nodes are those with a taint that is not recorded.
	Nodes []string

	// Guards means that the record of guards and holds is missing.
	Guards bool
}

// Encode returns the stored form of a partition. What does not fit is left out: of the nodes, those whose oldest taint
// is the youngest. The same content always gives the same data.
func Encode(p Partition) (data map[string]string, leftOut LeftOut) {
	head := heading{
		Version:  formatVersion,
		Written:  p.Written.UTC(),
		Undone:   p.Undone.UTC(),
		Triggers: map[string]json.RawMessage{},
	}
	head.Guards, leftOut.Guards = encodeGuards(p.Guards)
	e := encoder{room: partitionBudget - len(Head) - len(encodeHead(&head))}
	data = map[string]string{}
	nodes := oldestFirst(p.Records)
	for _, node := range nodes {
		if text := e.fit(node, p.Records[node], p.Records[node].Taints, 0); text != nil {
			data[node] = string(text)
		}
	}
	const punctuation = len(`"":,"triggers":{}`) // of which the last part is there once
	for _, node := range nodes {
		if text := e.fit(node, p.Records[node], p.Records[node].Triggers, punctuation); text != nil {
			head.Triggers[node] = text
		}
	}
	data[Head] = encodeHead(&head)
	leftOut.Nodes = e.leftOut
	return data, leftOut
}

// encoder counts the room of a partition.
type encoder struct {
	room    int
	leftOut []string // the nodes of which something had no room
}

// fit returns the stored form of these histories of a node; nil if there are none, or no room for them, the node's name
// and the punctuation.
func (e *encoder) fit(node string, r Record, histories []taint.History, punctuation int) json.RawMessage {
	if len(histories) == 0 {
		return nil
	}
	text, err := encodeRecord(r, histories)
	if size := len(node) + len(text) + punctuation; err == nil && len(text) <= entryBudget && size <= e.room {
		e.room -= size
		return text
	}
	if !slices.Contains(e.leftOut, node) {
		e.leftOut = append(e.leftOut, node)
	}
	return nil
}

// encodeGuards returns the stored form of the record, and whether the record had to be left out because it is too
// large.
func encodeGuards(r *breaker.Record) (text json.RawMessage, leftOut bool) {
	if r == nil {
		return nil, false
	}
	if text, err := json.Marshal(*r); err == nil && len(text) <= guardsBudget {
		return text, false
	}
	return nil, true
}

// encodeHead returns the entry [Head].
func encodeHead(h *heading) string {
	text, err := json.Marshal(h)
	if err != nil {
		return `{"version":1}` // only for years that JSON cannot represent
	}
	return string(text)
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

// oldestFirst returns the names of the nodes, sorted by the start of their oldest taint.
func oldestFirst(records map[string]Record) []string {
	return slices.SortedFunc(maps.Keys(records), func(a, b string) int {
		return cmp.Or(oldest(records[a]).Compare(oldest(records[b])), cmp.Compare(a, b))
	})
}

func oldest(r Record) (first time.Time) {
	for _, histories := range [...][]taint.History{r.Taints, r.Triggers} {
		for _, history := range histories {
			if since := history[0].Since; first.IsZero() || since.Before(first) {
				first = since
			}
		}
	}
	return first
}

// encodeRecord returns an error for times that JSON cannot represent.
func encodeRecord(r Record, histories []taint.History) ([]byte, error) {
	e := entry{UID: string(r.UID), Version: r.Version, Taints: make([][]state, len(histories))}
	for i, history := range histories {
		e.Taints[i] = make([]state, len(history))
		for j := range history {
			e.Taints[i][j] = stateOf(&history[j])
		}
	}
	return json.Marshal(e)
}

func stateOf(s *taint.State) state {
	return state{
		Taint: s.Taint, Since: s.Since.UTC(), Past: s.Ended, From: s.From, Found: s.FoundInList,
		Relisted: s.Relisted.UTC(),
	}
}
