package foresight_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

// orders returns the objects in all orders.
func orders[T any](objects []T) (all [][]T) {
	if len(objects) == 0 {
		return [][]T{nil}
	}
	for i := range objects {
		rest := slices.Delete(slices.Clone(objects), i, i+1)
		for _, order := range orders(rest) {
			all = append(all, append([]T{objects[i]}, order...))
		}
	}
	return all
}

// versioned returns a state of the pod, which was created at this number of seconds from noon.
func versioned(p *v1.Pod, uid, revision string, created float64) *v1.Pod {
	p.UID, p.ResourceVersion, p.CreationTimestamp = types.UID(uid), revision, metav1.NewTime(at(created))
	return p
}

// The files of a dump may be given in any order.
func TestTheOrderOfStatesDoesNotMatter(t *testing.T) {
	const one, twice = "1 object of x was there in a newer state, which counts", " appears more than once in x, in states of unknown order"
	goes := func(uid, revision string, created float64) *v1.Pod {
		return versioned(pod("a"), uid, revision, created)
	}
	stays := func(uid, revision string, created float64) *v1.Pod {
		return versioned(pod("a", tolerates("gpu", -1)), uid, revision, created)
	}
	other := func(revision string) *v1.Pod { return versioned(pod("b"), "b", revision, -90) }
	tainted := func(uid, revision string, taints ...v1.Taint) *v1.Node {
		n := node("n1", taints...)
		n.UID, n.ResourceVersion = types.UID(uid), revision
		return n
	}
	before, after := gpus(), gpus("xid:NoExecute")
	before.UID, before.ResourceVersion, after.UID, after.ResourceVersion = "s", "5", "s", "6"
	gpu := timed("gpu:NoExecute", -5)
	n1 := node("n1", gpu)
	for _, c := range []struct {
		name    string
		objects []any
		want    string
	}{
		{"one is older, and there twice", []any{n1, goes("u", "7", -90), goes("u", "7", -90), stays("u", "8", -90)}, "|" + one},
		{"two are older", []any{n1, goes("u", "7", -90), goes("u", "8", -90), stays("u", "10", -90)}, "|" + one},
		{"two objects", []any{n1, goes("u", "7", -90), goes("u", "8", -90), other("3"), other("4")}, "shop/a shop/b|2 objects of x were there in newer states, which count"},
		{"two without a version, and one that was created later", []any{n1, goes("u", "", -90), versioned(pod("a", unready), "u", "", -90), stays("v", "", -80)}, "|" + one},
		{"two without a version", []any{n1, goes("u", "", -90), stays("u", "", -90)}, "pod shop/a" + twice},
		{"one without a version", []any{n1, goes("u", "", -90), goes("u", "7", -90), stays("u", "8", -90)}, "pod shop/a" + twice},
		{"two that were created at once", []any{n1, goes("u", "7", -90), stays("v", "8", -90)}, "pod shop/a" + twice},
		{"one version with two contents", []any{n1, goes("u", "7", -90), stays("u", "7", -90)}, "pod shop/a" + twice},
		{"one version with two contents, and a newer one", []any{n1, goes("u", "7", -90), stays("u", "7", -90), goes("u", "8", -90)}, "shop/a|" + one},
		{"the older one lacks its phase", []any{n1, versioned(pod("a", in("")), "u", "4", -90), goes("u", "9", -90)}, "shop/a|" + one},
		{"a node", []any{tainted("n", "5"), tainted("n", "6", gpu), pod("a")}, "shop/a|" + one},
		{"a slice of devices", []any{node("n1"), before, after, pod("a", using), uses("a", "a", 0)}, "shop/a|" + one},
		{"a node with two UIDs", []any{tainted("n", "5", gpu), tainted("m", "6", gpu), pod("a")}, "node n1" + twice},
	} {
		for _, order := range orders(c.objects) {
			m, err := load(foresight.Ruleset{}, foresight.Focus{}, foresight.Reading{From: "x", Dumped: true, At: noon}, order...)
			got := fmt.Sprint(err)
			if err == nil {
				p := m.Pending(noon, nil)
				got = strings.Join(p.Names(), " ") + "|" + strings.Join(p.All(), "|")
			}
			if got != c.want {
				t.Fatalf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// velero and kubectl may have read one budget in two versions of the API. An empty selector selects no pod in
// policy/v1beta1, and all pods in policy/v1, whose copy counts.
func TestOfABudgetInTwoVersionsOfTheAPITheLaterVersionCounts(t *testing.T) {
	older := func(revision string) *policyv1.PodDisruptionBudget {
		return budget("a", 0, func(b *policyv1.PodDisruptionBudget) {
			b.APIVersion, b.UID, b.ResourceVersion, b.Spec.Selector = "policy/v1beta1", "b", revision, nil
		})
	}
	later := func(revision string, s metav1.LabelSelector) *policyv1.PodDisruptionBudget {
		return budget("a", 0, func(b *policyv1.PodDisruptionBudget) {
			b.UID, b.ResourceVersion, b.Spec.Selector = "b", revision, &s
		})
	}
	all := metav1.LabelSelector{}
	for _, c := range []struct {
		name    string
		budgets []any
		want    string
	}{
		{"one state", []any{older("7"), later("7", all)}, "1, "},
		{"without a resourceVersion", []any{older(""), later("", all)}, "1, "},
		{"three copies", []any{older(""), later("", all), older("")}, "1, "},
		{"an older state", []any{older("7"), later("8", all)}, "1, 1 object of x was there in a newer state, which counts"},
		{"a newer state", []any{older("8"), later("7", all)}, "0, 1 object of x was there in a newer state, which counts"},
		{"the older version alone", []any{older("7")}, "0, "},
		{"two states of the later version", []any{later("", all), later("", metav1.LabelSelector{MatchLabels: map[string]string{"app": "b"}}), older("")}, "PodDisruptionBudget shop/a appears more than once in x, in states of unknown order"},
	} {
		for _, order := range orders(append(c.budgets, node("n1"), pod("a"))) {
			m, err := load(foresight.Ruleset{}, foresight.Focus{}, foresight.Reading{From: "x"}, order...)
			got := fmt.Sprint(err)
			if err == nil {
				e := explained(m, noon)
				got = fmt.Sprint(len(e.Budgets)) + ", " + strings.Join(e.Notes, "|")
			}
			if got != c.want {
				t.Fatalf("%s: got %q, want %q", c.name, got, c.want)
			}
		}
	}
}

// Of a Lease without a resourceVersion, the renewal that is later counts.
func TestTheStateThatWasWrittenLaterCounts(t *testing.T) {
	lease := func(holder string) *coordinationv1.Lease {
		return &coordinationv1.Lease{Spec: coordinationv1.LeaseSpec{HolderIdentity: &holder}}
	}
	for want, written := range map[bool][2]float64{true: {-9, -8}, false: {-8, -9}} {
		b := foresight.NewBuilder(foresight.Ruleset{}, foresight.Focus{})
		b.IsNew("Lease", lease("a"), at(written[0]))
		if got := b.IsNew("Lease", lease("b"), at(written[1])); got != want {
			t.Errorf("written at %v: new: %v", written, got)
		}
		if _, err := b.Load(foresight.Reading{}, foresight.Moment{At: noon}); err != nil {
			t.Errorf("written at %v: %v", written, err)
		}
	}
}

// Pods on a node without taints are only counted. They are not forgotten if a newer state of the node has one.
func TestNoPodIsForgottenThatWasReadBeforeTheTaintOfItsNode(t *testing.T) {
	before, after := node("n1"), node("n1", timed("gpu:NoExecute", -60))
	before.ResourceVersion, after.ResourceVersion = "5", "6"
	q := foresight.Question{Selection: foresight.Selection{Names: []string{"n2"}}, At: noon}
	for _, order := range orders([]any{before, after, pod("a"), node("n2")}) {
		m, err := load(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, foresight.Reading{From: "x", At: noon}, order...)
		if err != nil {
			if err.Error() != "node n1 appears more than once in x, in states of unknown order" {
				t.Error(err)
			}
			continue
		}
		if p, err := m.Plan(q); err != nil || len(p.Pods) != 1 {
			t.Errorf("%+v, %v", p, err)
		}
	}
}

func TestNoPodIsForgottenWhoseTaintOnlyLaterRulesName(t *testing.T) {
	q := foresight.Question{Selection: foresight.Selection{Names: []string{"n2"}}, At: noon}
	b := foresight.NewBuilder(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection})
	for _, o := range []any{node("n1", parsed("drain:NoSchedule")), node("n2"), pod("a", ownedBy("ReplicaSet/a"))} {
		b.Add(o)
	}
	b.Judge(policies(drains("drain")))
	if p := must(must(b.Load(foresight.Reading{}, foresight.Moment{At: noon})).Plan(q)); len(p.Pods) != 1 {
		t.Errorf("%+v", p)
	}
}
