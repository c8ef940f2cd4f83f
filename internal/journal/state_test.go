package journal_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

func aConfig() journal.Config {
	return journal.Config{
		Method: policy.Delete, Paused: true, NoComparison: true, MaxEvictionsPerSecond: 2.5,
		Policies: []policy.Policy{{
			Name: "drain", Method: policy.Evict, DeleteAfter: &metav1.Duration{Duration: time.Hour},
			Match: policy.Match{Taints: []policy.Taint{{Key: "drain"}}},
		}},
		Guards: policy.Guards{Breakers: []policy.Breaker{{
			Name: "zones", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "drain"}},
			MaxNodes: intstr.FromString("30%"),
		}}},
	}
}

func TestTheStateIsReadAsItWasWritten(t *testing.T) {
	config := aConfig()
	text, err := config.Encode()
	if err != nil {
		t.Fatal(err)
	}
	beat := journal.Heartbeat{
		Version: 1, Written: time.Unix(1e9, 5).UTC(), Leader: "me", Unstored: []int{0, 7},
		LastWatch: journal.LastWatch{Watched: time.Unix(1e9-7, 0).UTC(), Reached: "4711"},
	}
	got, err := journal.DecodeState(journal.EncodeState(beat, []byte(`{"trips":[]}`), text))
	if err != nil {
		t.Fatal(err)
	}
	want := journal.State{Heartbeat: beat, Guards: []byte(`{"trips":[]}`), Config: &config}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAStateThatCantBeReadIsNoConfiguration(t *testing.T) {
	for name, data := range map[string]map[string]string{
		"of another version":                 {journal.Head: `{"version":2}`, journal.ConfigKey: `{"method":"Delete"}`},
		"without a version":                  {journal.ConfigKey: `{"method":"Delete"}`},
		"whose heartbeat is no JSON":         {journal.Head: `{"version":1,"written":7}`, journal.ConfigKey: `{}`},
		"whose configuration is no JSON":     {journal.Head: `{"version":1}`, journal.ConfigKey: `{`},
		"whose configuration knows more":     {journal.Head: `{"version":1}`, journal.ConfigKey: `{"method":"Delete","new":1}`},
		"whose policy has an unknown member": {journal.Head: `{"version":1}`, journal.ConfigKey: `{"policies":[{"nam":"x"}]}`},
	} {
		if s, err := journal.DecodeState(data); err == nil || s.Config != nil {
			t.Errorf("%s: got %v, %v", name, s.Config, err)
		}
	}
	if s, err := journal.DecodeState(nil); err != nil || s.Config != nil || !s.Written.IsZero() {
		t.Errorf("an empty one: got %v, %v", s, err)
	}
}

func TestAConfigurationOver256KiBIsRefused(t *testing.T) {
	c := aConfig()
	c.Policies[0].Match.Namespaces = []string{""}
	empty, err := c.Encode()
	if err != nil {
		t.Fatal(err)
	}
	for size, accepted := range map[int]bool{journal.MaxConfig: true, journal.MaxConfig + 1: false} {
		c.Policies[0].Match.Namespaces[0] = strings.Repeat("n", size-len(empty))
		if _, err := c.Encode(); (err == nil) != accepted {
			t.Errorf("%d bytes: %v", size, err)
		}
	}
}

func TestTheLastWatchIsThatOfTheStateIfItSaysThatThePartitionIsStored(t *testing.T) {
	at := func(seconds int64) journal.LastWatch { return journal.LastWatch{Watched: time.Unix(seconds, 0)} }
	state := &journal.State{Heartbeat: journal.Heartbeat{LastWatch: at(20), Unstored: []int{3}}}
	for name, c := range map[string]struct {
		number    int
		partition int64
		want      int64
	}{
		"stored":                   {4, 10, 20},
		"not stored":               {3, 10, 10},
		"written after the state":  {4, 30, 30},
		"written at the same time": {4, 20, 20},
	} {
		p := &journal.Partition{Heartbeat: journal.Heartbeat{LastWatch: at(c.partition)}}
		if got := state.LastWatchOf(c.number, p); !got.Watched.Equal(time.Unix(c.want, 0)) {
			t.Errorf("%s: %v", name, got)
		}
	}
}
