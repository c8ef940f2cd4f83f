package journal_test

import (
	"testing"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// Records that do not fit into a partition are left out; otherwise the API server would reject the whole partition.
func TestOfAHundredThousandTaintedNodesMoreThanAFifthIsRecorded(t *testing.T) {
	const nodes = 100_000
	var partitions [journal.Partitions]map[string]journal.Record
	for name, r := range bulk(nodes, false) {
		i := journal.PartitionOf(name)
		if partitions[i] == nil {
			partitions[i] = map[string]journal.Record{}
		}
		partitions[i][name] = r
	}
	kept := 0
	for _, records := range partitions {
		data, leftOut := journal.Encode(journal.Partition{Records: records, Written: at(0)})
		if size := journal.Size(data); size > 1<<20 {
			t.Errorf("a partition has %d bytes, which no ConfigMap holds", size)
		}
		kept += len(records) - len(leftOut.Nodes)
	}
	if kept < nodes/5 {
		t.Errorf("%d of %d nodes are recorded, want a fifth at least", kept, nodes)
	}
	t.Logf("%d of %d nodes are recorded", kept, nodes)
}
