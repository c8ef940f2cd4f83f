package journal_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"k8s.io/apimachinery/pkg/types"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/faketime"
)

// holds is a record of guards and holds with each of its fields.
func holds() breaker.Record {
	return breaker.Record{
		Trips: []breaker.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(3)}},
		Holds: []policy.HoldRecord{
			{By: policy.ByPause, Holds: true},
			{By: "policy quarantine", Taints: []policy.KeyPattern{{Key: "quarantine"}}, Holds: true, Ended: at(5.5)},
			{By: "breaker zones", Taints: []policy.KeyPattern{{Key: "out"}}, TopologyKey: "zone", Group: "b", Ended: at(4)},
		},
	}
}

// withTrigger is a partition of one node that has a NoExecute taint and a trigger, and of one that has a trigger alone.
func withTrigger() (p journal.Partition, both, alone string) {
	names := onPartition(0, 2)
	drain := recordedTriggers("10", with(triggers("drain"), look(1), on("10", look(2, noExecute("gpu", ""), noSchedule("drain", "kernel")))))
	only := recordedTriggers("12", with(triggers("drain"), look(1), on("12", look(4, noSchedule("drain", "")))))
	return journal.Partition{Records: map[string]journal.Record{names[0]: drain, names[1]: only}, Written: at(9.25), Guards: new(holds())}, names[0], names[1]
}

// Later versions must be able to read it.
func TestTriggersAndGuardsAreStoredLikeThis(t *testing.T) {
	p, both, alone := withTrigger()
	data, leftOut := journal.Encode(p)
	want := map[string]string{
		"_journal": `{"version":1,"written":"2026-01-01T00:00:09.25Z",` +
			`"guards":{"trips":[{"breaker":"zones","topologyKey":"zone","group":"a","began":"2026-01-01T00:00:03Z"}],` +
			`"holds":[{"by":"pause","holds":true},` +
			`{"by":"policy quarantine","taints":[{"key":"quarantine"}],"holds":true,"ended":"2026-01-01T00:00:05.5Z"},` +
			`{"by":"breaker zones","taints":[{"key":"out"}],"topologyKey":"zone","group":"b","ended":"2026-01-01T00:00:04Z"}]},` +
			`"triggers":{` +
			`"` + both + `":{"uid":"u","version":"10","taints":[[{"key":"drain","value":"kernel","effect":"NoSchedule","since":"2026-01-01T00:00:02Z","from":"10"}]]},` +
			`"` + alone + `":{"uid":"u","version":"12","taints":[[{"key":"drain","effect":"NoSchedule","since":"2026-01-01T00:00:04Z","from":"12"}]]}}}`,
		both: `{"uid":"u","version":"10","taints":[[{"key":"gpu","effect":"NoExecute","since":"2026-01-01T00:00:02Z","from":"10"}]]}`,
	}
	if diff := cmp.Diff(want, data); diff != "" || len(leftOut.Nodes) > 0 || leftOut.Guards {
		t.Errorf("left out %v, (-want +got):\n%s", leftOut, diff)
	}
	got, problems, err := journal.Decode(0, data)
	if diff := cmp.Diff(p, got); diff != "" || len(problems) > 0 || err != nil {
		t.Errorf("problems %v, error %v, (-want +got):\n%s", problems, err, diff)
	}
}

// The first release decodes the entry like this, and refuses a partition whose entries it does not know.
func TestTheFirstReleaseReadsAPartitionWithTriggersAndGuards(t *testing.T) {
	p, both, _ := withTrigger()
	data, _ := journal.Encode(p)
	var head struct {
		Version int       `json:"version"`
		Written time.Time `json:"written"`
	}
	if err := json.Unmarshal([]byte(data[journal.Head]), &head); err != nil || head.Version != 1 || !head.Written.Equal(at(9.25)) {
		t.Errorf("got %v, error %v", head, err)
	}
	for node, text := range journal.Entries(data) {
		var entry struct {
			UID    string                `json:"uid"`
			Taints [][]map[string]string `json:"taints"`
		}
		if err := json.Unmarshal([]byte(text), &entry); err != nil || node != both || len(entry.Taints) != 1 || entry.Taints[0][0]["effect"] != "NoExecute" {
			t.Errorf("the entry of node %s is %v, error %v", node, entry, err)
		}
	}
}

// This is what the first release writes: it drops what it does not know.
func TestAPartitionOfTheFirstReleaseHasNeitherTriggersNorGuards(t *testing.T) {
	node := onPartition(0, 1)[0]
	p, problems, err := journal.Decode(0, map[string]string{"_journal": `{"version":1,"written":"2026-01-01T00:00:09.25Z"}`, node: good})
	if err != nil || len(problems) > 0 || p.Guards != nil || len(p.Records) != 1 || len(p.Records[node].Triggers) > 0 {
		t.Errorf("got %v, problems %v, error %v", p, problems, err)
	}
}

func TestAddendaThatMakeNoSenseAreDroppedAndNamedAndNothingElse(t *testing.T) {
	names := onPartition(3, 2)
	trigger := strings.Replace(good, "NoExecute", "NoSchedule", 1)
	const opening = `{"version":1,"written":"2026-01-01T00:00:09Z"`
	for _, c := range []struct{ name, addenda, want string }{
		{"guards are a number", `"guards":7`, "the field \"guards\" of its entry _journal is dropped: json"},
		{"an end without a time", `"guards":{"holds":[{"by":"pause"}]}`, `the field "guards" of its entry _journal is dropped: the end of "pause" lacks its time`},
		{"a trip without a breaker", `"guards":{"trips":[{"group":"a","began":"2026-01-01T00:00:09Z"}]}`, "the field \"guards\" of its entry _journal is dropped: the trip of breaker"},
		{"a trip without a time", `"guards":{"trips":[{"breaker":"a"}]}`, "the field \"guards\" of its entry _journal is dropped: the trip of breaker"},
		{"a time that is none", `"guards":{"holds":[{"by":"pause","ended":"x"}]}`, "the field \"guards\" of its entry _journal is dropped: parsing time"},
		{"triggers are a list", `"triggers":[]`, "its entry _journal is dropped in part: json"},
		{"a node is a number", `"triggers":{"` + names[1] + `":7}`, `the triggers of node "` + names[1] + `" are dropped: it can't be read`},
		{"another effect", `"triggers":{"` + names[1] + `":` + good + `}`, `the triggers of node "` + names[1] + `" are dropped: taint 0: state 0: its effect is "NoExecute"; only NoSchedule is allowed`},
		{"another UID", `"triggers":{"` + names[0] + `":` + strings.Replace(trigger, `"u"`, `"v"`, 1) + `}`, `the triggers of node "` + names[0] + `" are dropped: its uid or version differs`},
		{"another version", `"triggers":{"` + names[0] + `":` + strings.Replace(trigger, `"10"`, `"11"`, 1) + `}`, `the triggers of node "` + names[0] + `" are dropped: its uid or version differs`},
		{"another partition", `"triggers":{"node-1x":` + trigger + `}`, `the triggers of node "node-1x" are dropped: this node belongs on partition`},
		{"too big", `"triggers":{"` + names[1] + `":` + strings.Replace(trigger, "gpu", strings.Repeat("x", 70_000), 1) + `}`, `the triggers of node "` + names[1] + `" are dropped: it has 70`},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, problems, err := journal.Decode(3, map[string]string{"_journal": opening + "," + c.addenda + "}", names[0]: good})
			if err != nil || len(problems) != 1 || !strings.HasPrefix(problems[0].Error(), c.want) {
				t.Fatalf("problems %v, error %v", problems, err)
			}
			if p.Guards != nil || len(p.Records) != 1 || len(p.Records[names[0]].Taints) != 1 || len(p.Records[names[0]].Triggers) > 0 || !p.Written.Equal(at(9)) {
				t.Errorf("got %v", p)
			}
		})
	}
}

// bulkTriggers are n nodes, each with one trigger.
func bulkTriggers(n int) map[string]journal.Record {
	records := map[string]journal.Record{}
	for i := range n {
		name := fmt.Sprintf("ip-10-%03d-%03d-%03d.eu-central-1.compute.internal", i>>16, i>>8&255, i&255)
		since := at(float64(i)).Add(123456789 * time.Nanosecond)
		trigger := taint.State{Taint: noSchedule("example.com/maintenance", "firmware"), Since: since, From: "123456789", FoundInList: true}
		records[name] = journal.Record{UID: types.UID(fmt.Sprintf("0d3f2a9c-7b1e-4c55-9a53-%012d", i)), Version: "123456789", Triggers: []taint.History{{trigger}}}
	}
	return records
}

// All of them would not fit into one ConfigMap, so each partition has those of its own nodes.
func TestTriggersOfTenThousandNodesFitIntoTheirPartitions(t *testing.T) {
	whole, biggest := 0, 0
	for i, records := range partitioned(bulkTriggers(10_000)) {
		data, leftOut := journal.Encode(journal.Partition{Records: records, Written: at(0)})
		if len(leftOut.Nodes) > 0 {
			t.Errorf("%d nodes are left out of partition %d", len(leftOut.Nodes), i)
		}
		whole, biggest = whole+journal.Size(data), max(biggest, journal.Size(data))
	}
	t.Logf("%d bytes for each node, %d bytes in the biggest partition, %d in all", whole/10_000, biggest, whole)
	if biggest > 400_000 || whole < 2<<20 {
		t.Errorf("%d bytes in the biggest partition, %d in all", biggest, whole)
	}
}

func TestTriggersThatHaveNoRoomAreLeftOutAndNoTaint(t *testing.T) {
	taints, all := bulk(1200, true), bulkTriggers(3000)
	for name, r := range taints {
		r.Triggers = all[name].Triggers
		all[name] = r
	}
	data, leftOut := journal.Encode(journal.Partition{Records: all, Written: at(0), Guards: new(holds())})
	if size := journal.Size(data); size > 900_000 || size < 850_000 {
		t.Errorf("%d bytes, want up to 900000", size)
	}
	if len(data) != 1201 || len(leftOut.Nodes) == 0 || leftOut.Guards {
		t.Errorf("%d entries, left out %d", len(data), len(leftOut.Nodes))
	}
	names := slices.Sorted(maps.Keys(all))
	if kept := len(names) - len(leftOut.Nodes); !slices.Equal(leftOut.Nodes, names[kept:]) {
		t.Errorf("%d are kept; left out are %d, from %s on; want the youngest", kept, len(leftOut.Nodes), leftOut.Nodes[0])
	}
}

// What is not recorded is unknown to the next leader: later, never earlier.
func TestARecordOfHoldsThatIsTooBigIsLeftOut(t *testing.T) {
	r := holds()
	for i := range 5000 {
		r.Trips = append(r.Trips, breaker.TripRecord{Breaker: "nodes", Group: fmt.Sprintf("node-%d", i), Began: at(3)})
	}
	if data, leftOut := journal.Encode(journal.Partition{Written: at(9), Guards: &r}); !leftOut.Guards || strings.Contains(data[journal.Head], "guards") {
		t.Errorf("left out %v, %d bytes", leftOut, journal.Size(data))
	}
}

// A record passes from process to process, of which each has its own clock. No difference between their clocks, and no
// step of one of them, makes the end of a hold earlier than it was.
func TestNoClockMakesTheEndOfAHoldEarlier(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		// True seconds since zero; the wall clock of a process is off by some seconds, and may be set while it runs.
		passed := 100.0
		off := func(name string) float64 { return float64(rapid.IntRange(-4000, 4000).Draw(t, name)) }
		clock := func(off float64) time.Time {
			return faketime.Of(at(passed+off), time.Duration(passed*float64(time.Second)))
		}
		ended := passed
		ofWriter := off("writer")
		r := breaker.Record{Holds: []policy.HoldRecord{{By: policy.ByPause, Ended: clock(ofWriter)}}}
		for i := range rapid.IntRange(1, 5).Draw(t, "processes") {
			if rapid.Bool().Draw(t, "set") {
				ofWriter = off("set to")
			}
			passed += float64(rapid.IntRange(0, 50).Draw(t, "held"))
			written := clock(ofWriter)
			stored := journal.GuardsOf(r, written).Converted(func(t time.Time) time.Time { return t.Round(0) })
			writing := journal.Writing{At: written.Round(0), Stored: at(passed).Truncate(time.Second)}
			ofReader := off(fmt.Sprint("reader ", i))
			if rapid.Bool().Draw(t, "received") {
				writing.Received = clock(ofReader)
			} else {
				passed += float64(rapid.IntRange(0, 500).Draw(t, "stopped"))
			}
			passed += float64(rapid.IntRange(0, 5).Draw(t, "read after"))
			ahead := max(time.Duration(ofReader*float64(time.Second)), 0)
			r, ofWriter = writing.Guards(stored, clock(ofReader), ahead), ofReader

			// The age by the monotonic clock; a wall clock that agrees within 2 s is believed.
			age := clock(ofReader).Sub(r.Holds[0].Ended)
			if truth := time.Duration((passed - ended) * float64(time.Second)); age > truth+time.Duration(i+1)*2*time.Second {
				t.Fatalf("process %d: the hold ended %v ago, and counts as %v ago", i, truth, age)
			}
		}
	})
}
