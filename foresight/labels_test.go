package foresight_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/foresight"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// unlabelled selects nodes without the label pool.
var unlabelled = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: metav1.LabelSelectorOpDoesNotExist}}}

// onSomeNodes returns a policy for the nodes of a selector that carry the taint.
func onSomeNodes(name, key string, nodes *metav1.LabelSelector, m policy.Method) policy.Policy {
	return policy.Policy{Name: name, Method: m, Match: policy.Match{Taints: []policy.Taint{{Key: key}}, NodeSelector: nodes}}
}

// The journal has no labels of nodes. A policy that selects by them matches no pod then, whatever its selector is, and is
// named if it may match one.
func TestFromRecordsAloneAPolicyForSomeNodesIsNamedAndMatchesNothing(t *testing.T) {
	gpu := &metav1.LabelSelector{MatchLabels: map[string]string{"pool": "gpu"}}
	all := func(m policy.Method) policy.Policy { return onSomeNodes("all", "out", nil, m) }
	const goes = "goes at -4m59s"
	for name, c := range map[string]struct {
		policies []policy.Policy
		want     string
		unknown  []string
	}{
		"one for labels that a node has":             {[]policy.Policy{onSomeNodes("gpu", "out", gpu, policy.Hold)}, goes, []string{"gpu"}},
		"one for nodes without a label":              {[]policy.Policy{onSomeNodes("rest", "out", unlabelled, policy.Ignore)}, goes, []string{"rest"}},
		"two":                                        {[]policy.Policy{onSomeNodes("rest", "out", unlabelled, policy.Ignore), onSomeNodes("gpu", "out", gpu, policy.Hold)}, goes, []string{"gpu", "rest"}},
		"one of another taint":                       {[]policy.Policy{onSomeNodes("rest", "disk", unlabelled, policy.Ignore)}, goes, nil},
		"one after another one that matches":         {[]policy.Policy{all(policy.Delete), onSomeNodes("gpu", "out", gpu, policy.Hold)}, goes, nil},
		"one before another one, which decides here": {[]policy.Policy{onSomeNodes("gpu", "out", gpu, policy.Delete), all(policy.Hold)}, "held by policy all", []string{"gpu"}},
		"one in mode Audit": {[]policy.Policy{func() policy.Policy {
			p := onSomeNodes("gpu", "out", gpu, policy.Hold)
			p.Mode = policy.Audit
			return p
		}()}, goes, []string{"gpu"}},
		"one for all nodes in mode Audit": {[]policy.Policy{func() policy.Policy { p := all(policy.Hold); p.Mode = policy.Audit; return p }()}, goes, nil},
		"one for all nodes":               {[]policy.Policy{all(policy.Hold)}, "held by policy all", nil},
	} {
		m := foresight.NewModel(basis(t, policy.Config{Policies: c.policies}), foresight.Focus{})
		m.AddPod(pod("a"))
		m.AddPod(pod("b", on("n2"))) // no record has its node
		m.Begin(noon)
		m.ReplaceByRecords([]journal.Partition{page(recorded("uid-n1", -5, taint.History{{Taint: parsed("out:NoExecute"), Since: at(-299)}}))}, noon)
		e := m.MustExplain("shop", "a", noon)
		got := told(e.Prediction)
		if e.Prediction.HeldBy != "" {
			got = "held by " + e.Prediction.HeldBy
		}
		if got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		if diff := cmp.Diff(c.unknown, m.UnknownMatches(nil)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if of := m.UnknownMatches([]string{"n2"}); of != nil {
			t.Errorf("%s: on a node without taints %v", name, of)
		}
	}
}

func TestWithNodesNothingIsUnknownOfTheirLabels(t *testing.T) {
	m := judgedBy(basis(t, policy.Config{Policies: []policy.Policy{onSomeNodes("rest", "out", unlabelled, policy.Ignore)}}), foresight.Focus{}, node("n1", timed("out:NoExecute", -300)), pod("a"))
	if got := told(m.MustExplain("shop", "a", noon).Prediction); m.UnknownMatches(nil) != nil || got != "stays" {
		t.Errorf("%s, unknown: %v", got, m.UnknownMatches(nil))
	}
}

// Whether a hold that has ended held pods on a node may depend on its labels, and deleteAfter counts from that end.
func TestFromRecordsAloneTheEndOfAHoldForSomeNodesMayCount(t *testing.T) {
	lingers := policy.Policy{Name: "lingers", Method: policy.Evict, DeleteAfter: lasting(3600)}
	of := func(h policy.HoldRecord) *guard.Record {
		h.Ended = at(-60)
		return &guard.Record{Holds: []policy.HoldRecord{h}}
	}
	ofSome := policy.HoldRecord{By: "breaker zones", TopologyKey: "zone", Group: "a"}
	present := ofSome
	present.Holds = true
	for name, c := range map[string]struct {
		policy policy.Policy
		record *guard.Record
		want   bool
	}{
		"of a breaker with groups":           {lingers, of(ofSome), true},
		"of one that is recorded as present": {lingers, &guard.Record{Holds: []policy.HoldRecord{present}}, true},
		"of a pause":                         {lingers, of(policy.HoldRecord{By: policy.ByPause}), false},
		"of a policy":                        {lingers, of(policy.HoldRecord{By: "policy gone", Taints: []policy.KeyPattern{{}}}), false},
		"without deleteAfter":                {policy.Policy{Name: "at-once", Method: policy.Delete}, of(ofSome), false},
		"not recorded":                       {lingers, nil, false},
	} {
		m := foresight.NewModel(basis(t, policy.Config{Policies: []policy.Policy{c.policy}}), foresight.Focus{})
		m.SetGuards(c.record, journal.Writing{At: at(-5)})
		m.Begin(noon)
		if m.UnknownEnds() {
			t.Errorf("%s: with nodes, it may count from later", name)
		}
		m.ReplaceByRecords(nil, noon)
		if got := m.UnknownEnds(); got != c.want {
			t.Errorf("%s: %t", name, got)
		}
	}
}
