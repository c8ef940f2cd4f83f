package guard_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/taint-manager/taint-manager/internal/guard"
	"github.com/taint-manager/taint-manager/policy"
)

// recordOf01 is a record as release 0.1 has stored it.
const recordOf01 = `{
	"trips": [{"breaker":"zones","topologyKey":"zone","group":"a","began":"2026-01-01T00:00:03Z"}],
	"holding": [
		{"by":"policy quarantine","match":{"taints":[{"key":"quarantine","values":["disk"]},{"key":"quarantine","values":["net"]}],"namespaces":["shop"]},"before":"1y2p0ij32e8e7"},
		{"by":"breaker zones","match":{"taints":[{"key":"out","effects":["NoExecute","NoSchedule"]}]},"topologyKey":"zone","group":"a"},
		{"by":"pause"}
	],
	"ended": [
		{"by":"policy all","match":{},"before":"x","at":"2026-01-01T00:00:05Z"},
		{"by":"policy quarantine","match":{"taints":[{"key":"quarantine"}]},"before":"x","at":"2026-01-01T00:00:07Z"},
		{"by":"policy quarantine","match":{"taints":[{"key":"quarantine"}]},"before":"y","at":"2026-01-01T00:00:06Z"},
		{"by":"policy team","match":{"taints":[{"keyPrefix":"team/"}],"nodeSelector":{"matchLabels":{"pool":"db"}}},"at":"2026-01-01T00:00:08Z"},
		{"by":"holds before 2026-01-01T00:00:01Z","at":"2026-01-01T00:00:01Z"}
	]}`

func TestAllHoldsOfARecordOfRelease01EndWhenTheNextLeaderBegins(t *testing.T) {
	var got guard.Record
	if err := json.Unmarshal([]byte(recordOf01), &got); err != nil {
		t.Fatal(err)
	}
	want := guard.Record{
		Trips: []guard.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(3)}},
		Holds: []policy.HoldRecord{{By: "holds of release 0.1", Rules: "?", Holds: true}},
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if err := got.Validate(); err != nil {
		t.Error(err)
	}
	c := whole(true)
	next := got.With(at(100), got.Trips, c.Holds(map[policy.Trip]bool{{Breaker: "zones", Group: "b"}: true}, true))
	if diff := cmp.Diff([]string{"holds of release 0.1 at 100s"}, endsOf(next)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Release 0.1 takes an entry that it does not know as a hold of all pods that has ended when it begins to lead. It
// knows the trips.
func TestRelease01CountsTheHoldsOfALaterRecordFromItsBegin(t *testing.T) {
	c := whole(true)
	trips := []guard.TripRecord{{Breaker: "zones", TopologyKey: "zone", Group: "a", Began: at(3)}}
	text, err := json.Marshal(guard.Record{}.With(at(5), trips, c.Holds(nil, true)))
	if err != nil {
		t.Fatal(err)
	}
	if want := `"holding":[{"by":"holds of a later release"}]`; !strings.Contains(string(text), want) || strings.Contains(string(text), `"ended"`) {
		t.Errorf("got %s, want %s, which holds all pods in release 0.1", text, want)
	}
	var again guard.Record
	if err := json.Unmarshal(text, &again); err != nil || len(again.Holds) != 2 || len(again.Trips) != 1 {
		t.Errorf("read again it is %+v, %v", again, err)
	}
	if text, err := json.Marshal(guard.Record{}); err != nil || string(text) != "{}" {
		t.Errorf("a record without holds is %s, %v", text, err)
	}
}

func TestARecordThatNoProgramHasMadeIsRefused(t *testing.T) {
	for name, text := range map[string]string{
		"an end without a time": `{"holds":[{"by":"pause"}]}`,
		"a trip without a time": `{"trips":[{"breaker":"zones"}]}`,
		"another type":          `{"holds":"none"}`,
	} {
		var r guard.Record
		if err := json.Unmarshal([]byte(text), &r); err == nil && r.Validate() == nil {
			t.Errorf("%s: got %+v", name, r)
		}
	}
}
