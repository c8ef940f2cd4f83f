package foresight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/foresight"
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

// audited returns the policy in mode Audit.
func audited(p policy.Policy) policy.Policy {
	p.Mode = policy.Audit
	return p
}

// lingers evicts pods at their deadlines, and deletes them an hour later.
var lingers = policy.Policy{Name: "lingers", Method: policy.Evict, DeleteAfter: lasting(3600)}

// outage returns a breaker for zones, which trips above half of their nodes.
func outage(change ...func(*policy.Breaker)) policy.Breaker {
	b := policy.Breaker{
		Name: "outage", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "out"}},
		MaxNodes: intstr.FromString("50%"), MinNodes: new(int32(1)), Settle: lasting(0),
	}
	for _, c := range change {
		c(&b)
	}
	return b
}

func byHand(b *policy.Breaker) { b.Reset = policy.Manual }

func rulesOf(c policy.Config) foresight.Ruleset { return must(foresight.NewRuleset(c, false)) }

func policies(list ...policy.Policy) foresight.Ruleset {
	return rulesOf(policy.Config{Policies: list})
}

func breakers(list ...policy.Breaker) foresight.Ruleset {
	return rulesOf(policy.Config{Policies: []policy.Policy{lingers}, Guards: policy.Guards{Breakers: list}})
}

// zoned returns a node of zone a.
func zoned(name string, taints ...v1.Taint) *v1.Node {
	n := node(name, taints...)
	n.Labels["zone"] = "a"
	return n
}

// since returns the history of a taint that started once.
func since(key string, seconds float64) taint.History {
	return taint.History{{Taint: parsed(key), Since: at(seconds)}}
}

// tripped returns the record of a trip of the breaker outage for zone a, five minutes ago.
func tripped() breaker.TripRecord {
	return breaker.TripRecord{Breaker: "outage", TopologyKey: "zone", Group: "a", Began: at(-300)}
}

func trips(list ...breaker.TripRecord) *breaker.Record { return &breaker.Record{Trips: list} }

// A taint counts from its start in the journal as far as a manager that begins to lead would believe it. If the journal
// has no start of it, a NoExecute taint counts from its timeAdded, and a NoSchedule taint that a policy names from now.
func TestATaintCountsFromItsRecordedStart(t *testing.T) {
	unreachable := taint.History{{Taint: timed("node.kubernetes.io/unreachable:NoExecute", -500), Since: at(-499)}}
	rules := policies(drains("drain"), audited(drains("try")))
	ahead := recorded("uid-n1", 1000, since("drain:NoSchedule", 950))
	added := taint.History{{Taint: timed("drain:NoSchedule", -20), Since: at(-15)}}
	for _, c := range []struct {
		name     string
		taint    v1.Taint
		recorded []any
		want     string
	}{
		{"a NoExecute taint", parsed("gpu:NoExecute"), []any{recorded("uid-n1", 0, since("gpu:NoExecute", -50))}, "goes at -50s, journal"},
		{"a NoExecute taint by a clock that is ahead", parsed("gpu:NoExecute"), []any{recorded("uid-n1", 7, since("gpu:NoExecute", 7))}, "goes at 0s, journal"},
		{"a NoExecute taint, older than the node", parsed("gpu:NoExecute"), []any{recorded("uid-n1", 0, since("gpu:NoExecute", -90000))}, "goes at -8h59m59s, journal"},
		{"a NoExecute taint of another node of that name", parsed("gpu:NoExecute"), []any{recorded("uid-n0", 0, since("gpu:NoExecute", -50))}, "goes at -9h0m0s to 0s, unknown"},
		{"another NoExecute taint", parsed("disk:NoExecute"), []any{recorded("uid-n1", 0, since("gpu:NoExecute", -50))}, "goes at -9h0m0s to 0s, unknown"},
		{"a NoExecute taint that was lifted and set again since", timed("gpu:NoExecute", -20), []any{recorded("uid-n1", -30, since("gpu:NoExecute", -50))}, "goes at -19s, timeAdded"},
		{"swapped while the journal is kept", timed("node.kubernetes.io/not-ready:NoExecute", -20), []any{recorded("uid-n1", -30, unreachable)}, "goes at -8m19s, journal"},
		{"swapped after nobody kept it any more", timed("node.kubernetes.io/not-ready:NoExecute", -20), []any{recorded("uid-n1", -100, unreachable)}, "goes at -19s, timeAdded"},
		{"the journal has it", parsed("drain:NoSchedule"), []any{recorded("uid-n1", 0, since("drain:NoSchedule", -50))}, "goes at 10s, journal"},
		{"the journal has it with another value", parsed("drain=b:NoSchedule"), []any{recorded("uid-n1", 0, since("drain=a:NoSchedule", -50))}, "goes at 1m0s, policy"},
		{"the journal's clock is ahead", parsed("drain:NoSchedule"), []any{ahead}, "goes at 1m0s, journal"},
		{"the record is older than the node", parsed("drain:NoSchedule"), []any{recorded("uid-n1", 0, since("drain:NoSchedule", -90000))}, "goes at -8h58m59s, journal"},
		{"a timeAdded does not count", timed("drain:NoSchedule", -20), []any{recorded("uid-n1", -10, added)}, "goes at 45s, journal"},
		{"no journal", parsed("drain:NoSchedule"), nil, "goes at 1m0s, policy"},
		{"a record of another node of that name", parsed("drain:NoSchedule"), []any{recorded("uid-n0", 0, since("drain:NoSchedule", -50))}, "goes at 1m0s, policy"},
		{"a record of another key", parsed("drain:NoSchedule"), []any{recorded("uid-n1", 0, since("drained:NoSchedule", -50))}, "goes at 1m0s, policy"},
		{"a record of a NoExecute taint", parsed("drain:NoSchedule"), []any{recorded("uid-n1", 0, since("drain:NoExecute", -50))}, "goes at 1m0s, policy"},
		{"a record from before the taint was set again", timed("drain:NoSchedule", -20), []any{recorded("uid-n1", -30, since("drain:NoSchedule", -50))}, "goes at 1m0s, policy"},
		{"a taint that no policy names", parsed("reboot:NoSchedule"), []any{recorded("uid-n1", 0, since("reboot:NoSchedule", -50))}, "stays, "},
		{"a taint that only a policy in mode Audit names", parsed("try:NoSchedule"), []any{recorded("uid-n1", 0, since("try:NoSchedule", -50))}, "stays, "},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := judgedBy(rules, foresight.Focus{}, append(c.recorded, node("n1", c.taint), pod("a", ownedBy("ReplicaSet/a")))...)
			e := explained(m, noon)
			if got := told(e.Prediction) + ", " + e.Prediction.SinceFrom; got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			if asIfNow := noted(m.Pending(noon, nil).Notes, "this answer assumes now"); asIfNow != (e.Prediction.SinceFrom == foresight.FromPolicy) {
				t.Errorf("pending notes that the start is not known: %t", asIfNow)
			}
		})
	}
}

// A writer whose clock is ahead has recorded a start that is too late, but acts by the true one.
func TestANoteSaysThatTheManagersClockIsAhead(t *testing.T) {
	for written, want := range map[float64]bool{0: false, 2: false, 3: true} {
		page := recorded("uid-n1", written, since("gpu:NoExecute", -50))
		m := modelOf(foresight.Focus{}, page, node("n1", parsed("gpu:NoExecute")), pod("a"))
		if got := noted(m.Pending(noon, nil).Notes, "clock is at least 3s ahead of the API server's"); got != want {
			t.Errorf("written at %vs: the note is there: %t", written, got)
		}
	}
}

func TestAnAuditSaysWhenAPolicyWouldDelete(t *testing.T) {
	deletes := drains("drain")
	deletes.Name, deletes.Method, deletes.DeleteAfter = "deletes", policy.Delete, nil
	e := explained(judgedBy(policies(audited(drains("drain")), audited(deletes)), foresight.Focus{}, node("n1", parsed("drain:NoSchedule")), pod("a", ownedBy("ReplicaSet/a"))), noon)
	want := []string{
		"policy drain (Audit) would evict it at 2026-05-01T12:01:00Z (and delete it at 2026-05-01T13:01:00Z) because of taint drain:NoSchedule",
		"policy deletes (Audit) would delete it at 2026-05-01T12:01:00Z because of taint drain:NoSchedule",
	}
	if diff := cmp.Diff(want, e.Prediction.Audits); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// The triggers of a plan are those of the nodes, or of the plan itself. With --compare each configuration has its own.
func TestAPlanCountsTriggersFromTheirRecordedStart(t *testing.T) {
	drain, both := policies(drains("drain")), policies(drains("drain"), drains("reboot"))
	world := []any{
		pod("a", ownedBy("ReplicaSet/a")), pod("b", ownedBy("ReplicaSet/a"), on("n2")),
		node("n1", parsed("drain:NoSchedule")), recorded("uid-n1", 0, since("drain:NoSchedule", -50)),
		node("n2", parsed("drain:NoSchedule")), recordedOf("n2", "uid-n2", 0, since("drain:NoSchedule", -50)),
	}
	rebooted := []any{
		pod("a", ownedBy("ReplicaSet/a")), pod("b", ownedBy("ReplicaSet/a"), on("n2")),
		node("n1", parsed("reboot:NoSchedule")), recorded("uid-n1", 0, since("reboot:NoSchedule", -70)),
		node("n2", parsed("reboot:NoSchedule"), parsed("drain:NoSchedule")),
		recordedOf("n2", "uid-n2", 0, since("reboot:NoSchedule", -70), since("drain:NoSchedule", -50)),
	}
	const unchanged = " anyway: goes at 10s by drain since journal, without it goes at 10s"
	for _, c := range []struct {
		name     string
		rules    foresight.Ruleset
		compared *foresight.Ruleset
		objects  []any
		change   []string
		want     []string
	}{
		{"another taint", both, nil, world, []string{"reboot:NoSchedule"}, []string{"a" + unchanged, "b" + unchanged}},
		{"another value of the taint", both, nil, world, []string{"drain=b:NoSchedule"}, []string{"a" + unchanged, "b" + unchanged}},
		{"the taint is lifted", both, nil, world, []string{"drain:NoSchedule-"}, []string{"b" + unchanged, "a saved: stays by  since , without it goes at 10s"}},
		{"the plan sets the taint", drain, nil, []any{node("n1"), pod("a", ownedBy("ReplicaSet/a"))}, []string{"drain:NoSchedule"}, []string{"a evicted: goes at 1m0s by drain since plan, without it unknown"}},
		{"a policy is added that matches nothing", both, &drain, world, nil, []string{"a" + unchanged, "b" + unchanged}},
		{"a policy is dropped", drain, &both, rebooted, nil, []string{
			"b later: goes at 10s by drain since journal, without it goes at -10s", "a saved: stays by  since , without it goes at -10s",
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ask(c.change...)
			q.Compare = c.compared
			p := must(judgedBy(c.rules, foresight.Focus{}, c.objects...).Plan(q))
			var got []string
			for _, pod := range p.Pods {
				got = append(got, pod.Name+" "+pod.Effect+": "+told(&pod.Prediction)+" by "+pod.Policy+" since "+pod.SinceFrom+", without it "+told(pod.Without))
			}
			if diff := cmp.Diff(c.want, got); diff != "" || noted(p.Notes, "this answer assumes now") {
				t.Errorf("notes %q (-want +got):\n%s", p.Notes, diff)
			}
		})
	}
}

// The breakers of either configuration may hold pods.
func TestAComparisonSaysThatTripsAreUnknownIfEitherConfigurationHasBreakers(t *testing.T) {
	without, with := breakers(), breakers(outage())
	for _, c := range []struct {
		name          string
		rules, others foresight.Ruleset
		want          bool
	}{
		{"neither", without, without, false}, {"the new one", with, without, true}, {"the old one", without, with, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			q := ask("other:NoSchedule")
			q.Compare = &c.others
			p := must(judgedBy(c.rules, foresight.Focus{}, node("n1"), pod("a"), holding(nil)).Plan(q))
			if got := noted(p.Notes, "tripped breakers and pauses are unknown"); got != c.want {
				t.Errorf("got the notes %q", p.Notes)
			}
		})
	}
}

// Trips and ends of holds in the journal count as for a manager that begins to lead: each answer names the trips.
func TestRecordedTripsAndHoldsCount(t *testing.T) {
	spent := tripped()
	spent.Ended = true
	paused := &breaker.Record{Holds: []policy.HoldRecord{{By: policy.ByPause, Holds: true}}}
	ended := &breaker.Record{Holds: []policy.HoldRecord{{By: policy.ByPause, Ended: at(-100)}}}
	const goes, held = "goes at -4m59s, deleted at ", "held by breaker outage (a)"
	for _, c := range []struct {
		name     string
		breakers []policy.Breaker
		record   *breaker.Record
		want     string
		reset    []string // of the trips that are named
		note     string
	}{
		{"no trip", []policy.Breaker{outage()}, &breaker.Record{}, goes + "55m1s", nil, ""},
		{"a record that is not known", []policy.Breaker{outage()}, nil, goes + "55m1s", nil, "tripped breakers and pauses are unknown"},
		{"a trip", []policy.Breaker{outage()}, trips(tripped()), held, []string{"Automatic"}, "resets by 2026-05-01T12:05:00Z"},
		{"a trip that is reset by hand", []policy.Breaker{outage(byHand)}, trips(tripped()), held, []string{"Manual"}, "until resetBefore is set"},
		{"a trip that was reset by hand", []policy.Breaker{outage(byHand)}, trips(spent), goes + "55m1s", nil, ""},
		{"a trip of a breaker that is not configured", nil, trips(tripped()), goes + "55m1s", []string{""}, "because these policies have no such breaker"},
		{"a trip of such a breaker that was reset", nil, trips(spent), goes + "55m1s", nil, ""},
		{"the end of a hold", nil, ended, goes + "58m20s", nil, ""},
		{"a pause that is over", nil, paused, goes + "1h0m0s", nil, "taint-manager is paused"},
	} {
		t.Run(c.name, func(t *testing.T) {
			m := judgedBy(breakers(c.breakers...), foresight.Focus{}, zoned("n1", timed("out:NoExecute", -300)), zoned("n2"), pod("a"), holding(c.record))
			if got := foretold(t, m, noon); got != c.want {
				t.Errorf("got %s, want %s", got, c.want)
			}
			plan := must(m.Plan(ask("other:NoSchedule")))
			var want []foresight.Trip
			for _, reset := range c.reset {
				trip := foresight.Trip{Breaker: "outage", Group: "a", Since: at(-300), Recorded: true, Reset: reset}
				if reset == "Automatic" {
					trip.ResetsBy = new(at(300))
				}
				want = append(want, trip)
			}
			for what, r := range map[string]foresight.Remarks{"pending": m.Pending(noon, nil).Remarks, "plan": plan.Remarks} {
				if diff := cmp.Diff(want, r.Trips); diff != "" || !noted(r.Notes, c.note) || c.note == "" && (noted(r.Notes, "tripped") || noted(r.Notes, "paused")) {
					t.Errorf("%s notes %q, trips (-want +got):\n%s", what, r.Notes, diff)
				}
			}
		})
	}
}

func TestAHeldPodMayHaveAnEarlierDeadlineIfTheStartIsUnknown(t *testing.T) {
	hold := policies(policy.Policy{Name: "h", Method: policy.Hold})
	p := judgedBy(hold, foresight.Focus{}, node("n1", parsed("gpu:NoExecute")), pod("a", tolerates("gpu", 300))).Pending(noon, nil).Pods[0]
	if p.Earliest == nil || !p.Earliest.Equal(hoursAgo(9).Add(300*time.Second)) || !strings.Contains(p.Reason, "started between 2026-05-01T03:00:00Z and") {
		t.Errorf("earliest at %v: %s", p.Earliest, p.Reason)
	}
}

func TestABreakerThatAPlanTripsIsNamed(t *testing.T) {
	m := judgedBy(breakers(outage()), foresight.Focus{}, zoned("n1"), pod("a"))
	p := must(m.Plan(ask("out:NoExecute")))
	want := []foresight.Trip{{Breaker: "outage", Group: "a", Since: noon, Reset: "Automatic"}}
	if diff := cmp.Diff(want, p.Trips); diff != "" || p.Total.Held != 1 {
		t.Errorf("%d are held (-want +got):\n%s", p.Total.Held, diff)
	}
	if got := m.Pending(noon, nil).Trips; got != nil {
		t.Errorf("without the plan: %v", got)
	}
}
