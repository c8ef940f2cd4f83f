package foresight

import (
	"errors"
	"strings"
	"testing"
	"time"

	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/policy"
)

// leaseOf is a Lease that was renewed at this time, for 15 s.
func leaseOf(holder string, renewed time.Time) Lease {
	return Lease{Spec: &coordinationv1.LeaseSpec{
		HolderIdentity: &holder, LeaseDurationSeconds: new(int32(15)), RenewTime: &metav1.MicroTime{Time: renewed},
	}}
}

var noon = time.Date(2026, 5, 1, 12, 0, 0, 0, time.UTC)

// state is the state of a journal, written that long before noon.
func state(c *journal.Config, ago time.Duration) journal.StoredPartition {
	var text []byte
	if c != nil {
		text, _ = c.Encode()
	}
	return journal.StoredPartition{Name: "the state", Version: "1", Data: journal.EncodeState(journal.Heartbeat{Written: noon.Add(-ago)}, nil, text)}
}

func TestByWhoseRulesPodsAreJudgedAndWhatIsNotKnown(t *testing.T) {
	drain := &journal.Config{Method: policy.Delete, Policies: []policy.Policy{{Name: "drain", Method: policy.Delete}}}
	renewed, stale, none := leaseOf("a", noon.Add(-2*time.Second)), leaseOf("a", noon.Add(-time.Hour)), Lease{}
	unread := Lease{Unknown: "no lease"}
	forbidden := apierrors.NewForbidden(schema.GroupResource{Resource: "configmaps"}, "x", nil)
	absent := journal.StoredPartition{}
	const byDefault = "under the default rules"
	const byRunning = "under the policies of the running manager"
	const ended = "under the policies of a manager that no longer runs (its journal was last written at 2026-05-01T11:00:00Z)"
	const next = ", so the policies in use are unknown; set --config, or --config=none for the default rules"
	for name, test := range map[string]struct {
		lease      Lease
		state      journal.StoredPartition
		err        error // of reading the state
		partitions int   // that exist
		dumped     bool
		listed     bool // the dump lists the ConfigMaps
		by, gaps   string
		ended      bool
	}{
		"neither a Lease nor a journal":           {lease: none, state: absent},
		"a manager runs by policies":              {lease: renewed, state: state(drain, 20*time.Second), by: byRunning},
		"a manager without a lease":               {lease: none, state: state(drain, 20*time.Second), by: byRunning},
		"a manager whose Lease may not be read":   {lease: unread, state: state(drain, 20*time.Second), by: byRunning},
		"a manager whose clock is ahead":          {lease: renewed, state: state(drain, -time.Hour), by: byRunning},
		"a manager without a configuration":       {lease: renewed, state: state(&journal.Config{Method: policy.Delete}, 0)},
		"a manager that is paused":                {lease: renewed, state: state(&journal.Config{Paused: true}, 0), by: byRunning},
		"a manager that evicts by another method": {lease: renewed, state: state(&journal.Config{Method: policy.Evict}, 0), by: byRunning},
		"the journal may not be read":             {lease: none, err: forbidden, by: byDefault, gaps: "this user may not get the ConfigMaps ('grant' grants it)" + next},
		"the journal can't be read":               {lease: none, err: errors.New("oops"), by: byDefault, gaps: "the journal can't be read (oops)" + next},
		"it is not in a dump":                     {lease: unread, dumped: true, by: byDefault, gaps: "a dump has no the state" + next},
		"a dump lists all, and has none":          {lease: none, dumped: true, listed: true},
		"a dump lists the ConfigMaps alone":       {lease: unread, dumped: true, listed: true, by: byDefault, gaps: "no lease, and there is no the state" + next},
		"a dump has it, and no Lease":             {lease: unread, state: state(drain, 0), dumped: true, by: byRunning},
		"a Lease without a journal":               {lease: renewed, state: absent, by: byDefault, gaps: "there is a Lease or a journal of a manager, but no the state" + next},
		"an old Lease without a journal":          {lease: stale, state: absent, by: byDefault, gaps: "there is a Lease or a journal of a manager, but no the state" + next},
		"a partition without a state":             {lease: none, state: absent, partitions: 1, by: byDefault, gaps: "there is a Lease or a journal of a manager, but no the state" + next},
		"no journal, and an unread Lease":         {lease: unread, state: absent, by: byDefault, gaps: "no lease, and there is no the state" + next},
		"a journal without a configuration":       {lease: renewed, state: state(nil, 0), by: byDefault, gaps: "the state has no _config" + next},
		"a journal that is empty":                 {lease: none, state: journal.StoredPartition{Version: "1"}, by: byDefault, gaps: "the state has no _config" + next},
		"the manager can't write its journal":     {lease: renewed, state: state(drain, time.Hour), by: byRunning, gaps: "the manager can't write its journal, which was last written at 2026-05-01T11:00:00Z, so its policies may have changed"},
		"an old journal, and an unread Lease":     {lease: unread, state: state(drain, time.Hour), by: byRunning, gaps: "no lease, and the journal was last written at 2026-05-01T11:00:00Z, so it is unknown whether a manager runs"},
		"no manager runs any longer":              {lease: stale, state: state(drain, time.Hour), by: ended, ended: true},
		"the manager has released its Lease":      {lease: leaseOf("", noon), state: state(drain, time.Hour), by: ended, ended: true},
		"an old journal without a Lease":          {lease: none, state: state(drain, time.Hour), by: ended, ended: true},
	} {
		t.Run(name, func(t *testing.T) {
			j := NewJournal("the ConfigMaps", "the state", "grant")
			if !test.dumped || test.state.Version != "" {
				j.Add(journal.StateObject, test.state, test.err)
			}
			for number := range journal.Partitions {
				page := journal.StoredPartition{}
				if number < test.partitions {
					page.Data, _ = journal.Encode(journal.Partition{Heartbeat: journal.Heartbeat{Written: noon}})
					page.Version = "1"
				}
				j.Add(number, page, nil)
			}
			if test.listed {
				j.Complete()
			}
			j.Lease, j.Now = test.lease, noon
			rules := Ruleset{}
			if c := j.Config(); c != nil {
				rules, _ = NewRuleset(policy.Config{Method: c.Method, Policies: c.Policies}, c.Paused)
				rules.Running = c
			}
			m, err := NewBuilder(rules, Focus{}).Load(Reading{Journal: j, AsRunning: true, Dumped: test.dumped, From: "a dump"}, Moment{At: noon})
			if err != nil {
				t.Fatal(err)
			}
			p := m.Pending(noon, nil)
			paused := strings.Contains(strings.Join(p.Notes, "|"), "taint-manager is paused")
			if gaps := strings.Join(p.Incomplete, "|"); p.By != test.by || gaps != test.gaps || paused != rules.paused {
				t.Errorf("by %q, lacks %q; want %q, %q; notes %q", p.By, gaps, test.by, test.gaps, p.Notes)
			}
			if ended := p.Heartbeat != nil && p.Heartbeat.Ended; ended != test.ended {
				t.Errorf("no manager runs any longer: %t", ended)
			}
			m.reading.AsRunning = false
			if p := m.Pending(noon, nil); p.By != "" || p.Incomplete != nil || p.Heartbeat != nil {
				t.Errorf("a question that names the rules is answered by the manager's: by %q, lacks %q", p.By, p.Incomplete)
			}
		})
	}
}

func TestAConfigurationThatChangesIsNoticedAndAFailureIsNot(t *testing.T) {
	with := func(name string) *journal.Config {
		return &journal.Config{Policies: []policy.Policy{{Name: name}}}
	}
	for name, test := range map[string]struct {
		later   journal.StoredPartition
		err     error
		changed bool
	}{
		"as before":                 {state(with("a"), 0), nil, false},
		"another policy":            {state(with("b"), 0), nil, true},
		"it can't be read any more": {journal.StoredPartition{}, errors.New("oops"), false},
	} {
		j := NewJournal("", "", "")
		j.Add(journal.StateObject, state(with("a"), 20*time.Second), nil)
		m, _ := NewBuilder(Ruleset{Running: j.Config()}, Focus{}).Load(Reading{Journal: j, AsRunning: true}, Moment{At: noon})
		later := NewJournal("", "", "")
		later.Add(journal.StateObject, test.later, test.err)
		m.UpdateJournal(later, noon)
		if m.ConfigChanged() != test.changed || (m.unknownRules() != nil) != test.changed {
			t.Errorf("%s: changed %t, lacks %q", name, m.ConfigChanged(), m.unknownRules())
		}
		if m.reading.AsRunning = false; m.ConfigChanged() {
			t.Errorf("%s: changed for a question that names the rules", name)
		}
	}
}
