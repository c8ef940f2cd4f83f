package foresight

import (
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// leaseOf is a Lease that was renewed at this time, for 15 s.
func leaseOf(holder string, renewed time.Time) *coordinationv1.LeaseSpec {
	return &coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: renewed},
	}
}

func TestByWhoseRulesPodsAreJudgedAndWhatIsNotKnown(t *testing.T) {
	noon := time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)
	drain := &journal.Config{Method: policy.Delete, Policies: []policy.Policy{{Name: "drain"}}}
	state := func(c *journal.Config, ago time.Duration) journal.State {
		return journal.State{Heartbeat: journal.Heartbeat{Version: 1, Written: noon.Add(-ago)}, Config: c}
	}
	renewed, stale := leaseOf("a", noon.Add(-2*time.Second)), leaseOf("a", noon.Add(-time.Hour))
	const running = "by the policies of the running manager"
	const ended = "No manager is running; judged by the policies of the one that last wrote its journal at 2026-05-01T11:00:00Z"
	for name, test := range map[string]struct {
		m        Manager
		by, gaps string // gaps is a part of them; empty if there are none
		ended    bool
	}{
		"neither a Lease nor a journal":           {m: Manager{}},
		"a manager runs by policies":              {m: Manager{Lease: renewed, State: state(drain, 20*time.Second)}, by: running},
		"a manager without a lease":               {m: Manager{State: state(drain, 20*time.Second)}, by: running},
		"a manager whose Lease may not be read":   {m: Manager{LeaseUnknown: "no lease", State: state(drain, 20*time.Second)}, by: running},
		"a manager whose clock is ahead":          {m: Manager{Lease: renewed, State: state(drain, -time.Hour)}, by: running},
		"a manager without a configuration":       {m: Manager{Lease: renewed, State: state(&journal.Config{Method: policy.Delete}, 0)}},
		"a manager that is paused":                {m: Manager{Lease: renewed, State: state(&journal.Config{Paused: true}, 0)}, by: running},
		"a manager that evicts by another method": {m: Manager{Lease: renewed, State: state(&journal.Config{Method: policy.Evict}, 0)}, by: running},
		"the journal may not be read":             {m: Manager{Lease: renewed, Unknown: "no journal"}, gaps: "no journal, so by which policies pods are evicted is not known; give --config"},
		"a Lease without a journal":               {m: Manager{Lease: renewed}, gaps: "there is a Lease of a manager, but no the state"},
		"an old Lease without a journal":          {m: Manager{Lease: stale}, gaps: "there is a Lease of a manager, but no the state"},
		"no journal, and an unread Lease":         {m: Manager{LeaseUnknown: "no lease"}, gaps: "no lease, and there is no the state"},
		"a journal without a configuration":       {m: Manager{Lease: renewed, State: state(nil, 0)}, gaps: "the state has no configuration of the manager"},
		"the manager can't write its journal":     {m: Manager{Lease: renewed, State: state(drain, time.Hour)}, by: running, gaps: "the manager can't write its journal, which was last written at 2026-05-01T11:00:00Z"},
		"an old journal, and an unread Lease":     {m: Manager{LeaseUnknown: "no lease", State: state(drain, time.Hour)}, by: running, gaps: "whether a manager runs is not known"},
		"no manager runs any longer":              {m: Manager{Lease: stale, State: state(drain, time.Hour)}, by: ended, ended: true},
		"the manager has released its Lease":      {m: Manager{Lease: leaseOf("", noon), State: state(drain, time.Hour)}, by: ended, ended: true},
		"an old journal without a Lease":          {m: Manager{State: state(drain, time.Hour)}, by: ended, ended: true},
	} {
		test.m.At, test.m.Asked, test.m.Named = noon, true, "the state"
		gaps := strings.Join(test.m.gaps(), "|")
		if got := test.m.by(); got != test.by || (gaps == "") != (test.gaps == "") || !strings.Contains(gaps, test.gaps) || test.m.Ended().IsZero() == test.ended {
			t.Errorf("%s: by %q, lacks %q, ended at %v; want %q, %q, %t", name, got, gaps, test.m.Ended(), test.by, test.gaps, test.ended)
		}
	}
	if m := (Manager{Lease: renewed, Unknown: "no journal"}); m.by() != "" || m.gaps() != nil || !m.Ended().IsZero() {
		t.Error("a question that names the rules asks for the manager's")
	}
}

func TestARuleThatChangesIsNoticedAndAFailureIsNot(t *testing.T) {
	with := func(names ...string) *Manager {
		c := &journal.Config{}
		for _, name := range names {
			c.Policies = append(c.Policies, policy.Policy{Name: name})
		}
		return &Manager{State: journal.State{Config: c}}
	}
	for _, test := range []struct {
		name          string
		before, later *Manager
		same          bool
	}{
		{"as before", with("a"), with("a"), true},
		{"another policy", with("a"), with("a", "b"), false},
		{"the configuration is gone", with("a"), &Manager{}, false},
		{"it can't be read", with("a"), &Manager{Unknown: "forbidden"}, true},
	} {
		if test.before.SameRules(test.later) != test.same {
			t.Errorf("%s: want the same rules: %t", test.name, test.same)
		}
	}
}
