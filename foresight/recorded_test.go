package foresight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func lasting(seconds float64) *metav1.Duration {
	return &metav1.Duration{Duration: time.Duration(seconds * float64(time.Second))}
}

// drains returns a policy that drains nodes with this NoSchedule taint: after a minute, and an hour later by deletion.
func drains(key string) policy.Policy {
	return policy.Policy{
		Name: key, Method: policy.Evict, DeleteAfter: lasting(3600), Tolerations: &policy.Tolerations{Absent: lasting(60)},
		Match: policy.Match{Taints: []policy.Taint{{Key: key, Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}}},
	}
}

// outage returns a breaker for zones, which trips above half of their nodes.
func outage(reset policy.Reset) policy.Breaker {
	return policy.Breaker{
		Name: "outage", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "out"}},
		MaxNodes: intstr.FromString("50%"), MinNodes: new(int32(1)), Reset: reset, Settle: lasting(0),
	}
}

func basis(t *testing.T, c policy.Config) foresight.Ruleset {
	t.Helper()
	b, err := foresight.NewRuleset(c, false)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// A trigger's start is taken from the journal as a manager takes it that begins to lead.
func TestTheStartOfATriggerIsTheRecordedOne(t *testing.T) {
	since := func(key string, seconds float64) taint.History {
		return taint.History{{Taint: parsed(key), Since: at(seconds)}}
	}
	ahead := recorded("uid-n1", 1000, since("drain:NoSchedule", 950))
	ahead.Writing.Stored = at(0)
	versioned := recorded("uid-n1", 0, taint.History{{Taint: parsed("drain=a:NoSchedule"), Since: at(-50)}})
	by := basis(t, policy.Config{Policies: []policy.Policy{drains("drain"), {Name: "tried", Mode: policy.Audit, Method: policy.Delete, Match: policy.Match{
		Taints: []policy.Taint{{Key: "try", Effects: []v1.TaintEffect{v1.TaintEffectNoSchedule}}},
	}, Tolerations: &policy.Tolerations{Absent: lasting(60)}}}})
	for name, c := range map[string]struct {
		taint    v1.Taint
		recorded journal.Record
		want     string
	}{
		"recorded":                            {parsed("drain:NoSchedule"), recorded("uid-n1", 0, since("drain:NoSchedule", -50)), "goes at 10s, journal"},
		"not recorded":                        {parsed("drain:NoSchedule"), journal.Record{}, "goes at 1m0s, policy"},
		"by a clock that is ahead":            {parsed("drain:NoSchedule"), ahead, "goes at 11s, journal"},
		"from before the node was made":       {parsed("drain:NoSchedule"), recorded("uid-n1", 0, since("drain:NoSchedule", -90000)), "goes at -8h58m59s, journal"},
		"of another node of that name":        {parsed("drain:NoSchedule"), recorded("uid-n0", 0, since("drain:NoSchedule", -50)), "goes at 1m0s, policy"},
		"of another key":                      {parsed("drain:NoSchedule"), recorded("uid-n1", 0, since("drained:NoSchedule", -50)), "goes at 1m0s, policy"},
		"of a key that no policy names":       {parsed("reboot:NoSchedule"), recorded("uid-n1", 0, since("reboot:NoSchedule", -50)), "stays, "},
		"as a NoExecute taint":                {parsed("drain:NoSchedule"), recorded("uid-n1", 0, since("drain:NoExecute", -50)), "goes at 1m0s, policy"},
		"lifted and set again since":          {timed("drain:NoSchedule", -20), recorded("uid-n1", -30, since("drain:NoSchedule", -50)), "goes at 1m0s, policy"},
		"a timeAdded does not count":          {timed("drain:NoSchedule", -20), recorded("uid-n1", -10, taint.History{{Taint: timed("drain:NoSchedule", -20), Since: at(-15)}}), "goes at 45s, journal"},
		"with another value, which has ended": {parsed("drain=b:NoSchedule"), versioned, "goes at 10s, journal"},
		"only audited":                        {parsed("try:NoSchedule"), recorded("uid-n1", 0, since("try:NoSchedule", -50)), "stays, "},
	} {
		m := judgedBy(by, foresight.Focus{}, node("n1", c.taint), pod("a", ownedBy("ReplicaSet/a")), page(c.recorded))
		e := m.MustExplain("shop", "a", noon)
		if got := told(e.Prediction) + ", " + e.Prediction.SinceFrom; got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		pending := m.Pending(noon, nil)
		if asIfNow := strings.HasSuffix(c.want, "policy"); pending.AsIfNow() != asIfNow {
			t.Errorf("%s: as if now is %t", name, !asIfNow)
		}
	}
}

// A plan that sets a trigger says so, and one that only compares judges each configuration by its own triggers.
func TestAPlanKnowsWhichTriggersAreItsOwn(t *testing.T) {
	record := recorded("uid-n1", 0, taint.History{{Taint: parsed("drain:NoSchedule"), Since: at(-50)}})
	web, other := pod("a", ownedBy("ReplicaSet/a")), pod("b", ownedBy("ReplicaSet/a"), on("n2"))
	ofOther := journal.Partition{Records: map[string]journal.Record{"n2": recorded("uid-n2", 0, record.Triggers[0])}}
	by, old := basis(t, policy.Config{Policies: []policy.Policy{drains("drain"), drains("reboot")}}), basis(t, policy.Config{Policies: []policy.Policy{drains("drain")}})
	for name, c := range map[string]struct {
		question foresight.Question
		compare  *foresight.Ruleset
		want     []string
	}{
		"another taint":       {ask("reboot:NoSchedule"), nil, []string{"a anyway goes at 10s by drain, journal; goes at 10s", "b anyway goes at 10s by drain, journal; goes at 10s"}},
		"another value":       {ask("drain=b:NoSchedule"), nil, []string{"a anyway goes at 10s by drain, journal; goes at 10s", "b anyway goes at 10s by drain, journal; goes at 10s"}},
		"the taint is lifted": {ask("drain:NoSchedule-"), nil, []string{"b anyway goes at 10s by drain, journal; goes at 10s", "a saved stays by , ; goes at 10s"}},
		"compared":            {ask(), &old, []string{"a anyway goes at 10s by drain, journal; goes at 10s", "b anyway goes at 10s by drain, journal; goes at 10s"}},
	} {
		c.question.Compare = c.compare
		p, err := judgedBy(by, foresight.Focus{}, node("n1", parsed("drain:NoSchedule")), node("n2", parsed("drain:NoSchedule")), web, other, page(record), ofOther).Plan(c.question)
		if err != nil {
			t.Fatal(err)
		}
		var got []string
		for _, one := range p.Pods {
			got = append(got, one.Name+" "+one.Effect+" "+told(&one.Prediction)+" by "+one.Policy+", "+one.SinceFrom+"; "+told(one.Without))
		}
		if diff := cmp.Diff(c.want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	both := []v1.Taint{parsed("reboot:NoSchedule"), parsed("drain:NoSchedule")}
	reboots := taint.History{{Taint: both[0], Since: at(-70)}}
	m := judgedBy(old, foresight.Focus{}, node("n1", both[0]), node("n2", both...), web, other, page(recorded("uid-n1", 0, reboots)),
		journal.Partition{Records: map[string]journal.Record{"n2": recorded("uid-n2", 0, reboots, record.Triggers[0])}})
	dropped := ask()
	dropped.Compare = &by
	p, err := m.Plan(dropped)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range []string{"b later goes at 10s, without it goes at -10s", "a saved stays, without it goes at -10s"} {
		if got := p.Pods[i].Name + " " + p.Pods[i].Effect + " " + told(&p.Pods[i].Prediction) + ", without it " + told(p.Pods[i].Without); got != want {
			t.Errorf("a policy is dropped: %s, want %s", got, want)
		}
	}
	fresh, err := judgedBy(by, foresight.Focus{}, node("n1"), web).Plan(ask("drain:NoSchedule"))
	if err != nil || fresh.Pods[0].SinceFrom != foresight.FromPlan || fresh.AsIfNow() {
		t.Errorf("a trigger that the plan sets: %+v, %v", fresh.Pods[0], err)
	}
}

// Trips and ends of holds are those that a manager adopts that begins to lead.
func TestWhatTheJournalRecordsOfGuardsCounts(t *testing.T) {
	trip := guard.TripRecord{Breaker: "outage", TopologyKey: "zone", Group: "a", Began: at(-300)}
	spent := trip
	spent.Ended = true
	paused := []policy.HoldRecord{{By: policy.ByPause, Holds: true}}
	ended := []policy.HoldRecord{{By: policy.ByPause, Ended: at(-100)}}
	of := func(breakers ...policy.Breaker) policy.Config {
		lingers := policy.Policy{Name: "lingers", Method: policy.Evict, DeleteAfter: lasting(3600)}
		return policy.Config{Policies: []policy.Policy{lingers}, Guards: policy.Guards{Breakers: breakers}}
	}
	recordedTrip := func(reset string) []foresight.Trip {
		return []foresight.Trip{{Breaker: "outage", Group: "a", Since: at(-300), Recorded: true, Reset: reset}}
	}
	const goes, deleted = "goes at -4m59s", ", deleted at 55m1s"
	for name, c := range map[string]struct {
		config policy.Config
		record *guard.Record
		want   string
		trips  []foresight.Trip
	}{
		"nothing":                              {of(outage("")), &guard.Record{}, goes + deleted, nil},
		"not known":                            {of(outage("")), nil, goes + deleted, nil},
		"a trip":                               {of(outage("")), &guard.Record{Trips: []guard.TripRecord{trip}}, "held by breaker outage (a)", recordedTrip("Automatic")},
		"one that is reset by hand":            {of(outage(policy.Manual)), &guard.Record{Trips: []guard.TripRecord{trip}}, "held by breaker outage (a)", recordedTrip("Manual")},
		"one that was reset by hand":           {of(outage(policy.Manual)), &guard.Record{Trips: []guard.TripRecord{spent}}, goes + deleted, nil},
		"one of a breaker that is not known":   {of(), &guard.Record{Trips: []guard.TripRecord{trip}}, goes + deleted, recordedTrip("")},
		"one of such a breaker that was reset": {of(), &guard.Record{Trips: []guard.TripRecord{spent}}, goes + deleted, nil},
		"an end":                               {of(), &guard.Record{Holds: ended}, goes + ", deleted at 58m20s", nil},
		"a pause that is over":                 {of(), &guard.Record{Holds: paused}, goes + ", deleted at 1h0m0s", nil},
	} {
		n := node("n1", timed("out:NoExecute", -300))
		n.Labels["zone"] = "a"
		calm := node("n2")
		calm.Labels["zone"] = "a"
		m := judgedBy(basis(t, c.config), foresight.Focus{}, n, calm, pod("a"))
		m.SetGuards(c.record, journal.Writing{At: at(-5)})
		e, pending := m.MustExplain("shop", "a", noon), m.Pending(noon, nil)
		got := told(e.Prediction)
		if e.Prediction.DeleteAt != nil {
			got += ", deleted at " + e.Prediction.DeleteAt.Sub(noon).String()
		}
		if e.Prediction.HeldBy != "" {
			got = "held by " + e.Prediction.HeldBy
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		q := ask("other:NoSchedule")
		plan, err := m.Plan(q)
		if err != nil {
			t.Fatal(err)
		}
		for what, trips := range map[string][]foresight.Trip{"explain": e.Trips, "pending": pending.Trips, "plan": plan.Trips} {
			if diff := cmp.Diff(c.trips, trips); diff != "" {
				t.Errorf("%s: %s (-want +got):\n%s", name, what, diff)
			}
		}
		if m.GuardsKnown() != (c.record != nil) || m.PauseRecorded() != (name == "a pause that is over") {
			t.Errorf("%s: known %t, paused %t", name, m.GuardsKnown(), m.PauseRecorded())
		}
	}
}

func TestABreakerThatTheTaintsTripIsToldOf(t *testing.T) {
	n := node("n1")
	n.Labels["zone"] = "a"
	m := judgedBy(basis(t, policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{outage("")}}}), foresight.Focus{}, n, pod("a"))
	p, err := m.Plan(ask("out:NoExecute"))
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff([]foresight.Trip{{Breaker: "outage", Group: "a", Since: noon, Reset: "Automatic"}}, p.Trips); diff != "" || p.Total.Held != 1 {
		t.Errorf("%d are held (-want +got):\n%s", p.Total.Held, diff)
	}
	if got := m.Pending(noon, nil).Trips; got != nil {
		t.Errorf("without the plan: %v", got)
	}
}

func TestWithoutNodesTheJournalTellsTheTriggers(t *testing.T) {
	m := foresight.NewModel(basis(t, policy.Config{Policies: []policy.Policy{drains("drain")}}), foresight.Focus{})
	m.AddPod(pod("a", ownedBy("ReplicaSet/a")))
	m.Begin(noon)
	m.ReplaceByRecords([]journal.Partition{page(recorded("uid-n1", -5, taint.History{{Taint: parsed("drain:NoSchedule"), Since: at(-50)}}))}, noon)
	if diff := cmp.Diff([]string{"a goes at 10s, scheduled by journal, in 10 s"}, scheduled(m.Pending(noon, nil))); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A record of guards that a manager has not written for a minute is old, if it has something.
func TestARecordOfGuardsThatNobodyKeepsIsToldOf(t *testing.T) {
	trips := &guard.Record{Trips: []guard.TripRecord{{Breaker: "outage", Began: at(-300)}}}
	for name, c := range map[string]struct {
		record  *guard.Record
		written float64
		want    time.Time
	}{
		"kept": {trips, -20, time.Time{}}, "old": {trips, -120, at(-120)}, "old, and empty": {&guard.Record{}, -120, time.Time{}}, "older than that of a node": {trips, -200, at(-200)},
		"younger than that of a node": {trips, -70, at(-70)},
	} {
		m := foresight.NewModel(foresight.Ruleset{}, foresight.Focus{})
		m.SetGuards(c.record, journal.Writing{At: at(c.written)})
		if strings.Contains(name, "of a node") {
			m.AddNode(node("n1", parsed("gpu:NoExecute")))
			m.AddRecords(page(recorded("uid-n1", -100)), noon)
			if c.written > -100 {
				c.want = at(-100)
			}
		}
		if got := m.Stale(nil, noon); !got.Equal(c.want) {
			t.Errorf("%s: %v, want %v", name, got, c.want)
		}
	}
}

func TestAnAuditSaysWhenAPolicyWouldDelete(t *testing.T) {
	audited := drains("drain")
	audited.Mode = policy.Audit
	by := basis(t, policy.Config{Policies: []policy.Policy{audited}})
	e := judgedBy(by, foresight.Focus{}, node("n1", parsed("drain:NoSchedule")), pod("a", ownedBy("ReplicaSet/a"))).MustExplain("shop", "a", noon)
	want := []string{"policy drain (Audit) would evict it at 2026-05-01T12:01:00Z, and delete it from 2026-05-01T13:01:00Z on, because of taint drain:NoSchedule"}
	if diff := cmp.Diff(want, e.Prediction.Audits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// Breakers compare affected nodes with all nodes. From some of them no trip follows, and only recorded trips count.
func TestFromSomeNodesNoTripFollows(t *testing.T) {
	zones, whole, unpooled := outage(""), outage(""), outage("")
	whole.TopologyKey, unpooled.TopologyKey = "", ""
	unpooled.NodeSelector = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: metav1.LabelSelectorOpDoesNotExist}}}
	trip := func(key, group string) *guard.Record {
		return &guard.Record{Trips: []guard.TripRecord{{Breaker: "outage", TopologyKey: key, Group: group, Began: at(-300)}}}
	}
	const goes, held = "goes at -4m59s", "held by breaker outage"
	for name, c := range map[string]struct {
		breaker           policy.Breaker
		record            *guard.Record
		all, some, hidden string
		known             bool // which pods the trip holds is known by the journal alone
	}{
		"no trip is recorded":                   {zones, &guard.Record{}, held + " (a)", goes, goes, false},
		"the record is not known":               {whole, nil, held, goes, goes, false},
		"a trip of the whole cluster":           {whole, trip("", ""), held, held, held, true},
		"one that is reset by hand":             {func() policy.Breaker { b := whole; b.Reset = policy.Manual; return b }(), trip("", ""), held, held, held, true},
		"one that resetBefore has ended":        {func() policy.Breaker { b := whole; b.ResetBefore = new(metav1.NewTime(at(-60))); return b }(), trip("", ""), goes, goes, goes, false},
		"a trip of the node's group":            {zones, trip("zone", "a"), held + " (a)", held + " (a)", goes, false},
		"a trip of another group":               {zones, trip("zone", "b"), held + " (a)", goes, goes, false},
		"a trip of the nodes without the label": {zones, trip("zone", policy.NoGroup), held + " (a)", goes, goes, false},
		"a trip of a breaker for some nodes":    {unpooled, trip("", ""), held, held, goes, false},
	} {
		n := node("n1", timed("out:NoExecute", -300))
		n.Labels["zone"] = "a"
		of := func(prepare func(*foresight.Model)) *foresight.Model {
			m := foresight.NewModel(basis(t, policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{c.breaker}}}), foresight.Focus{})
			m.AddPod(pod("a"))
			prepare(m)
			m.SetGuards(c.record, journal.Writing{At: at(-5)})
			m.Begin(noon)
			return m
		}
		for what, of := range map[string]struct {
			*foresight.Model
			want    string
			partial bool
		}{
			"all":  {of(func(m *foresight.Model) { m.AddNode(n) }), c.all, false},
			"some": {of(func(m *foresight.Model) { m.AddNode(n); m.SetPartial() }), c.some, true},
			"hidden": {of(func(m *foresight.Model) {
				m.ReplaceByRecords([]journal.Partition{page(recorded("uid-n1", -5, taint.History{{Taint: parsed("out:NoExecute"), Since: at(-299)}}))}, noon)
			}), c.hidden, true},
		} {
			e, pending := of.MustExplain("shop", "a", noon), of.Pending(noon, nil)
			got := told(e.Prediction)
			if e.Prediction.HeldBy != "" {
				got = "held by " + e.Prediction.HeldBy
			}
			if state := pending.Pods[0].State; got != of.want || of.Partial() != of.partial || (state == foresight.Held) != (e.Prediction.HeldBy != "") {
				t.Errorf("%s, %s: %s, %s, want %s, partial %t", name, what, got, state, of.want, of.Partial())
			}
			if diff := cmp.Diff(e.Trips, pending.Trips); diff != "" {
				t.Errorf("%s, %s: the trips differ: %s", name, what, diff)
			}
			for _, trip := range e.Trips {
				if of.partial && !trip.Recorded {
					t.Errorf("%s, %s: a trip follows from the taints: %+v", name, what, trip)
				}
				if known := of.HeldKnown(trip); known != (what != "hidden" || c.known) {
					t.Errorf("%s, %s: known %t: %+v", name, what, known, trip)
				}
			}
		}
	}
}
