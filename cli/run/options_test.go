package run

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestEachSettingOfEvictionReachesTheManager(t *testing.T) {
	s := &settings{Configuration: config.Configuration{
		Shards: 3, Eviction: config.Eviction{Workers: 5, MaxEvictionsPerSecond: 7, Method: policy.Evict}, Paused: true, DryRun: true,
	}}
	got := s.managerOptions()
	want := taintmanager.Options{
		Shards: 3, Workers: 5, MaxEvictionsPerSecond: 7, Method: taintmanager.Evict, Paused: true, DryRun: true, Rules: taint.Rules{NoComparison: true},
	}
	if diff := cmp.Diff(want, got, cmpopts.IgnoreFields(taintmanager.Options{}, "Leading", "Logger")); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestTheDefaultsAreThoseOfTheLibrary(t *testing.T) {
	got := newSettings().managerOptions()
	if got.Shards != 8 || got.Workers != 32 || got.Method != taintmanager.Delete || got.Rules.NoComparison || got.DryRun || got.Paused || got.MaxEvictionsPerSecond != 0 {
		t.Errorf("got %+v", got)
	}
}
