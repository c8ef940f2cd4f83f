package foresight_test

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// unlabelled selects nodes without the label pool.
var unlabelled = &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "pool", Operator: metav1.LabelSelectorOpDoesNotExist}}}

// onSomeNodes returns a policy for the nodes of a selector that carry the taint.
func onSomeNodes(name, key string, nodes *metav1.LabelSelector, m policy.Method) policy.Policy {
	return policy.Policy{Name: name, Method: m, Match: policy.Match{Taints: []policy.Taint{{Key: key}}, NodeSelector: nodes}}
}

// The journal has no labels of nodes. A policy that selects by them matches no pod then, whatever its selector is, and
// is named if a node is tainted.
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
		"two":                                        {[]policy.Policy{onSomeNodes("rest", "out", unlabelled, policy.Ignore), onSomeNodes("gpu", "out", gpu, policy.Hold)}, goes, []string{"rest", "gpu"}},
		"one of another taint":                       {[]policy.Policy{onSomeNodes("rest", "disk", unlabelled, policy.Ignore)}, goes, []string{"rest"}},
		"one after another one that matches":         {[]policy.Policy{all(policy.Delete), onSomeNodes("gpu", "out", gpu, policy.Hold)}, goes, []string{"gpu"}},
		"one before another one, which decides here": {[]policy.Policy{onSomeNodes("gpu", "out", gpu, policy.Delete), all(policy.Hold)}, "held by policy all", []string{"gpu"}},
		"one in mode Audit":                          {[]policy.Policy{audited(onSomeNodes("gpu", "out", gpu, policy.Hold))}, goes, []string{"gpu"}},
		"one for all nodes in mode Audit":            {[]policy.Policy{audited(all(policy.Hold))}, goes, nil},
		"one for all nodes":                          {[]policy.Policy{all(policy.Hold)}, "held by policy all", nil},
	} {
		m := hidden(policies(t, c.policies...), pod("a"), pod("b", on("n2")), // no record has its node
			recorded("uid-n1", -5, since("out:NoExecute", -299)))
		if got := foretold(t, m, noon); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		var unknown []string
		if len(c.unknown) > 0 {
			unknown = []string{"this user may not list nodes, so policies with a nodeSelector (" + strings.Join(c.unknown, ", ") + ") are left out, and their pods may be evicted at other times, held, or not evicted"}
		}
		got := m.Pending(noon, nil).Incomplete
		if diff := cmp.Diff(unknown, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
		if of := m.Pending(noon, []string{"n2"}).Incomplete; of != nil {
			t.Errorf("%s: on a node without taints %v", name, of)
		}
	}
}

func TestWithNodesNothingIsUnknownOfTheirLabels(t *testing.T) {
	m := judgedBy(policies(t, onSomeNodes("rest", "out", unlabelled, policy.Ignore)), foresight.Focus{}, node("n1", timed("out:NoExecute", -300)), pod("a"))
	if got, unknown := foretold(t, m, noon), m.Pending(noon, nil).Incomplete; unknown != nil || got != "stays" {
		t.Errorf("%s, unknown: %v", got, unknown)
	}
}

// Whether a hold that has ended held pods on a node may depend on its labels, and deleteAfter counts from that end.
func TestFromRecordsAloneDeleteAfterMayCountFromLater(t *testing.T) {
	for name, c := range map[string]struct {
		policy policy.Policy
		want   bool
	}{
		"with deleteAfter":    {lingers, true},
		"without deleteAfter": {policy.Policy{Name: "at-once", Method: policy.Delete}, false},
	} {
		rules := policies(t, c.policy)
		const later = "deleteAfter may start later"
		if notes := judgedBy(rules, foresight.Focus{}, holding(&breaker.Record{})).Pending(noon, nil).Notes; noted(notes, later) {
			t.Errorf("%s: with nodes, notes %q", name, notes)
		}
		if notes := hidden(rules, holding(&breaker.Record{})).Pending(noon, nil).Notes; noted(notes, later) != c.want {
			t.Errorf("%s: %q", name, notes)
		}
	}
}
