package journal_test

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/taint"
)

// onPartition returns the first n node names that belong to this partition.
func onPartition(partition, n int) (names []string) {
	for i := 0; len(names) < n; i++ {
		if name := fmt.Sprintf("node-%d", i); journal.PartitionOf(name) == partition {
			names = append(names, name)
		}
	}
	return names
}

// The numbers are part of the format: if they changed, stored records would be in the wrong partitions.
func TestWhichPartitionANodeIsOnNeverChanges(t *testing.T) {
	for node, want := range map[string]int{"node-1": 3, "node-2": 6, "ip-10-0-0-1.eu-central-1.compute.internal": 4, "": 5} {
		if got := journal.PartitionOf(node); got != want {
			t.Errorf("node %q is on partition %d, want %d", node, got, want)
		}
	}
}

// kubectl shows this form, and later versions must be able to read it.
func TestAPartitionIsStoredLikeThis(t *testing.T) {
	r := recorded("10", on("8", look(1.5, added(noExecute("load", "1"), 1))), look(2, noExecute("load", "2"), noExecute("gpu", "")))
	r.Taints[1][0].FoundInList, r.Taints[1][0].Relisted = true, at(2)
	node := onPartition(0, 1)[0]
	data, leftOut := journal.Encode(journal.Partition{Records: map[string]journal.Record{node: r}, Written: at(9.25), Undone: at(8)})
	want := map[string]string{
		"_journal": `{"version":1,"written":"2026-01-01T00:00:09.25Z","undone":"2026-01-01T00:00:08Z"}`,
		node: `{"uid":"u","version":"10","taints":[` +
			`[{"key":"load","value":"1","effect":"NoExecute","timeAdded":"2026-01-01T00:00:01Z","since":"2026-01-01T00:00:01.5Z","past":true,"from":"8"},` +
			`{"key":"load","value":"2","effect":"NoExecute","since":"2026-01-01T00:00:02Z","from":"10"}],` +
			`[{"key":"gpu","effect":"NoExecute","since":"2026-01-01T00:00:02Z","from":"10","found":true,"relisted":"2026-01-01T00:00:02Z"}]]}`,
	}
	if diff := cmp.Diff(want, data); diff != "" || len(leftOut.Nodes) > 0 {
		t.Errorf("left out %v, (-want +got):\n%s", leftOut, diff)
	}
}

func TestWhatIsEncodedIsDecodedAsItWas(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		partition := rapid.IntRange(0, journal.Partitions-1).Draw(t, "partition")
		records := map[string]journal.Record{}
		for _, name := range onPartition(partition, rapid.IntRange(0, 5).Draw(t, "nodes")) {
			if taints := drawKnown(t, name).Taints(); len(taints) > 0 {
				records[name] = journal.RecordOf(&taint.Node{UID: "u", Version: "12", Taints: taints}, at(500))
			}
		}
		want := journal.Partition{Records: records, Written: at(500.125)}
		if rapid.Bool().Draw(t, "undone") {
			want.Undone = at(400.5)
		}
		data, leftOut := journal.Encode(want)
		got, problems, err := journal.Decode(partition, data)
		if err != nil || len(problems) > 0 || len(leftOut.Nodes) > 0 {
			t.Fatalf("left out %v, problems %v, error %v", leftOut, problems, err)
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Fatal(diff)
		}
		if entries := journal.Entries(data); len(entries) != len(records) {
			t.Fatalf("%d entries of %d records", len(entries), len(records))
		}
	})
}

const good = `{"uid":"u","version":"10","taints":[[{"key":"gpu","effect":"NoExecute","since":"2026-01-01T00:00:02Z"}]]}`

func TestEntriesThatMakeNoSenseAreDroppedAndNamed(t *testing.T) {
	names := onPartition(3, 2)
	state := func(s string) string { return `{"uid":"u","taints":[[` + s + `]]}` }
	gpu := func(more string) string {
		return `{"key":"gpu","effect":"NoExecute","since":"2026-01-01T00:00:02Z"` + more + `}`
	}
	for _, c := range []struct{ name, entry, want string }{
		{"no JSON", "yesterday", "it can't be read: invalid character"},
		{"half a JSON", good[:40], "it can't be read: unexpected end"},
		{"two of them", good + good, "it can't be read: invalid character"},
		{"a list", "[]", "it can't be read: json"},
		{"null", "null", "it has no uid"},
		{"empty", "", "it can't be read: unexpected end"},
		{"no uid", strings.Replace(good, "uid", "id", 1), "it has no uid"},
		{"no taints", `{"uid":"u"}`, "it has no taints"},
		{"an empty history", `{"uid":"u","taints":[[]]}`, "taint 0 has 0 states; 1 to 8 are allowed"},
		{"too long a history", state(strings.Repeat(gpu(`,"past":true`)+",", 8) + gpu("")), "taint 0 has 9 states; 1 to 8 are allowed"},
		{"all past", state(gpu(`,"past":true`)), "taint 0: all its states are past"},
		{"no key", strings.Replace(good, "gpu", "", 1), "taint 0: state 0: it has no key"},
		{"another effect", strings.Replace(good, "NoExecute", "NoSchedule", 1), `taint 0: state 0: its effect is "NoSchedule"; only NoExecute is allowed`},
		{"no time", strings.Replace(good, "since", "sense", 1), "taint 0: state 0: it does not say since when"},
		{"a time that is none", strings.Replace(good, "2026-01-01", "2026-02-30", 1), "it can't be read: parsing time"},
		{"a timeAdded that is none", state(gpu(`,"timeAdded":"x"`)), "it can't be read: parsing time"},
		{"states of two taints", state(gpu("") + "," + strings.Replace(gpu(""), "gpu", "disk", 1)), "taint 0: state 1 is one of another taint"},
		{"a state twice", state(gpu("") + "," + gpu("")), "taint 0: state 1 is there twice"},
		{"a taint twice", `{"uid":"u","taints":[[` + gpu("") + `],[` + gpu("") + `]]}`, "taint 1 is there twice"},
		{"too big", state(gpu(`,"value":"` + strings.Repeat("x", 70_000) + `"`)), "it has 70101 bytes; 65536 are allowed"},
	} {
		t.Run(c.name, func(t *testing.T) {
			data := map[string]string{"_journal": `{"version":1,"written":"2026-01-01T00:00:09Z"}`, names[0]: c.entry, names[1]: good}
			partition, problems, err := journal.Decode(3, data)
			if err != nil || len(problems) != 1 {
				t.Fatalf("problems %v, error %v", problems, err)
			}
			if got := problems[0].Error(); !strings.HasPrefix(got, fmt.Sprintf("the entry %q is dropped: %s", names[0], c.want)) {
				t.Errorf("got %s", got)
			}
			if _, ok := partition.Records[names[1]]; !ok || len(partition.Records) != 1 {
				t.Errorf("got %v, want the other entry alone", partition.Records)
			}
		})
	}
}

func TestANodeOnTheWrongPartitionIsDropped(t *testing.T) {
	name := onPartition(4, 1)[0]
	partition, problems, err := journal.Decode(3, map[string]string{"_journal": `{"version":1,"written":"2026-01-01T00:00:09Z"}`, name: good})
	if err != nil || len(partition.Records) != 0 || len(problems) != 1 || !strings.Contains(problems[0].Error(), "belongs on partition 4") {
		t.Errorf("records %v, problems %v, error %v", partition.Records, problems, err)
	}
}

func TestAPartitionOfAnotherVersionIsNotUsed(t *testing.T) {
	for _, opening := range []string{`{"version":2,"written":"2026-01-01T00:00:09Z"}`, `{"version":"1"}`, `{"version":1.5}`, `{"version":-1}`, `{}`, "", "x", "[1]", "null"} {
		partition, _, err := journal.Decode(3, map[string]string{"_journal": opening, onPartition(3, 1)[0]: good})
		if err == nil || !strings.Contains(err.Error(), "delete it to start with an empty one") || partition.Records != nil {
			t.Errorf("%s: records %v, error %v", opening, partition.Records, err)
		}
	}
	if _, _, err := journal.Decode(3, map[string]string{"something": "else"}); err == nil {
		t.Error("data of somebody else's count as a partition")
	}
}

func TestAPartitionWithoutDataIsAnEmptyOne(t *testing.T) {
	if partition, problems, err := journal.Decode(3, nil); err != nil || len(problems) > 0 || len(partition.Records) > 0 || !partition.Written.IsZero() {
		t.Errorf("got %v, %v, %v", partition, problems, err)
	}
}

func TestAPartitionThatDoesNotSayWhenItWasWrittenIsUsed(t *testing.T) {
	partition, problems, err := journal.Decode(3, map[string]string{"_journal": `{"version":1,"written":"lately"}`, onPartition(3, 1)[0]: good})
	if err != nil || len(problems) != 1 || len(partition.Records) != 1 || !partition.Written.IsZero() {
		t.Errorf("got %v, %v, %v", partition, problems, err)
	}
}

func TestAnInvalidTimeInTheHeadDropsNothingElse(t *testing.T) {
	const rest = `"guards":{"holds":[{"by":"pause","ended":"2026-01-01T00:00:08Z"}]}`
	node := onPartition(3, 1)[0]
	trigger := strings.Replace(good, "NoExecute", "NoSchedule", 1)
	for _, invalid := range []string{`"written":"x"`, `"written":7`, `"undone":5`} {
		head := `{"version":1,` + invalid + `,` + rest + `,"triggers":{"` + node + `":` + trigger + `}}`
		p, problems, err := journal.Decode(3, map[string]string{"_journal": head})
		if err != nil || len(problems) != 1 || p.Guards == nil || len(p.Records[node].Triggers) != 1 {
			t.Errorf("%s: got %v, %v, %v", invalid, p, problems, err)
		}
	}
}

// bulk returns the records of n nodes whose names and values are as long as in a large cluster; the first is the
// oldest. Each has not-ready, and with more also a realistic maximum of further states and taints.
func bulk(n int, more bool) map[string]journal.Record {
	records := map[string]journal.Record{}
	for i := range n {
		name := fmt.Sprintf("ip-10-%03d-%03d-%03d.eu-central-1.compute.internal", i>>16, i>>8&255, i&255)
		since := at(float64(i)).Add(123456789 * time.Nanosecond)
		history := taint.History{{Taint: added(noExecute(v1.TaintNodeNotReady, ""), float64(i)), Since: since, Ended: more, From: "123456789"}}
		taints := []taint.History{history}
		if more {
			history[0].From = "123456700"
			taints[0] = append(history, taint.State{Taint: added(noExecute(v1.TaintNodeUnreachable, ""), float64(i)), Since: since, From: "123456789"})
			taints = append(taints, taint.History{{Taint: noExecute("node.cloudprovider.kubernetes.io/shutdown", "true"), Since: since, From: "123456750"}})
		}
		records[name] = journal.Record{UID: types.UID(fmt.Sprintf("0d3f2a9c-7b1e-4c55-9a53-%012d", i)), Version: "123456789", Taints: taints}
	}
	return records
}

// partitioned returns the records of each partition.
func partitioned(records map[string]journal.Record) (partitions [journal.Partitions]map[string]journal.Record) {
	for i := range partitions {
		partitions[i] = map[string]journal.Record{}
	}
	for name, r := range records {
		partitions[journal.PartitionOf(name)][name] = r
	}
	return partitions
}

func TestTenThousandTaintedNodesFitWellUnderTheLimit(t *testing.T) {
	const limit = 1 << 20 // of a ConfigMap
	for more, share := range map[bool]float64{false: 0.35, true: 0.75} {
		biggest, most := 0, 0
		for _, records := range partitioned(bulk(10_000, more)) {
			data, leftOut := journal.Encode(journal.Partition{Records: records, Written: at(0)})
			if len(leftOut.Nodes) > 0 {
				t.Errorf("%d records are left out", len(leftOut.Nodes))
			}
			biggest, most = max(biggest, journal.Size(data)), max(most, len(records))
		}
		t.Logf("more than one state: %t; the biggest partition has %d records and %d bytes", more, most, biggest)
		if float64(biggest) > share*limit {
			t.Errorf("more than one state: %t; the biggest partition has %d bytes, want at most %.0f", more, biggest, share*limit)
		}
	}
}

func TestWhatHasNoRoomIsLeftOutTheYoungestFirst(t *testing.T) {
	records := bulk(3000, true)
	data, leftOut := journal.Encode(journal.Partition{Records: records, Written: at(0)})
	if size := journal.Size(data); size > 900_000 || size < 899_000 {
		t.Errorf("%d bytes, want up to 900000", size)
	}
	names := slices.Sorted(maps.Keys(records))
	if kept := len(data) - 1; !slices.Equal(leftOut.Nodes, names[kept:]) || len(leftOut.Nodes) == 0 {
		t.Errorf("%d kept; left out are %d, from %s on; want the youngest %d", kept, len(leftOut.Nodes), leftOut.Nodes[0], len(names)-kept)
	}
}

func TestARecordThatIsTooBigForADecoderIsLeftOut(t *testing.T) {
	r := journal.Record{UID: "u"}
	for i := range 1000 {
		r.Taints = append(r.Taints, taint.History{{Taint: noExecute(fmt.Sprintf("key-%d", i), ""), Since: at(0)}})
	}
	if data, leftOut := journal.Encode(journal.Partition{Records: map[string]journal.Record{"big": r}, Written: at(0)}); len(data) != 1 || len(leftOut.Nodes) != 1 {
		t.Errorf("%d entries, left out %v", len(data), leftOut)
	}
}

// FuzzDecode looks for data that make the decoder panic, that it accepts although they are invalid, or that change when
// they are encoded and decoded again.
func FuzzDecode(f *testing.F) {
	f.Add(3, `{"version":1,"written":"2026-01-01T00:00:09Z"}`, onPartition(3, 1)[0], good)
	f.Fuzz(func(t *testing.T, number int, opening, node, text string) {
		partition, _, err := journal.Decode(number, map[string]string{"_journal": opening, node: text})
		if err != nil {
			return
		}
		for _, r := range partition.Records {
			if r.UID == "" || len(r.Taints) == 0 {
				t.Errorf("a record of nothing: %v", r)
			}
			for _, h := range r.Taints {
				if len(h) > journal.States || len(standing([]taint.History{h})) == 0 {
					t.Errorf("a history with %d states, %v of them on the node", len(h), standing([]taint.History{h}))
				}
			}
			own := found(noExecute("gpu", ""), noExecute(v1.TaintNodeNotReady, ""))
			now := own.reading(0)
			now.UID = r.UID
			adopted, _ := own.Adopt(r, now)
			if diff := cmp.Diff(standing(own.Taints()), standing(adopted.Taints())); diff != "" {
				t.Error(diff)
			}
		}
		data, leftOut := journal.Encode(journal.Partition{Records: partition.Records, Written: partition.Written})
		again, problems, err := journal.Decode(number, data)
		if diff := cmp.Diff(partition.Records, again.Records); diff != "" && len(leftOut.Nodes) == 0 || err != nil || len(problems) > 0 {
			t.Errorf("problems %v, error %v, (-first +again):\n%s", problems, err, diff)
		}
	})
}
