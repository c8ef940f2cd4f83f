package foresight_test

import (
	"testing"

	coordinationv1 "k8s.io/api/coordination/v1"
	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
)

func TestAnswersSayThatTheProgramsOwnPodsGoLast(t *testing.T) {
	manager := func(name string, change ...func(*v1.Pod)) *v1.Pod {
		return pod(name, append(change, ownedBy("ReplicaSet/tm"))...)
	}
	stranger := func(p *v1.Pod) { p.Namespace, p.UID = "alpha", "uid-stranger" } // the first by name
	byLabel := labelled("app.kubernetes.io/name", "taint-manager")
	for name, test := range map[string]struct {
		holder string // of the Lease
		pods   []any
		want   string // the pods that are named
	}{
		"by the label of the manifests":              {"", []any{manager("b", byLabel), manager("a", byLabel), pod("z")}, "shop/a, shop/b"},
		"by the Lease, and its replica":              {"b_1234", []any{manager("b"), manager("a"), pod("z")}, "shop/a, shop/b"},
		"the Lease names the pod, not the label":     {"b_1234", []any{pod("b"), manager("a", byLabel), pod("z")}, "shop/b"},
		"a tenant's pod with the same name":          {"b_1234", []any{pod("b", stranger), manager("b", byLabel), pod("a"), pod("z")}, "shop/b"},
		"two programs with the label":                {"", []any{manager("b", byLabel), pod("c", byLabel, ownedBy("ReplicaSet/x")), pod("a"), pod("z")}, "shop/b"},
		"a process outside of the cluster":           {"a", []any{pod("a"), pod("b"), pod("z")}, ""},
		"another program":                            {"", []any{pod("a"), pod("b"), pod("z")}, ""},
		"pods that the DaemonSet controller deletes": {"", []any{pod("a", byLabel, ownedBy("DaemonSet/tm")), pod("z")}, ""},
	} {
		objects := append([]any{node("n1", timed("gpu:NoExecute", -60))}, test.pods...)
		journal := foresight.NewJournal("", "", "")
		journal.Lease.Spec = &coordinationv1.LeaseSpec{HolderIdentity: &test.holder}
		m := must(load(foresight.Ruleset{}, foresight.Focus{}, foresight.Reading{Journal: journal}, objects...))
		want := ""
		if test.want != "" {
			want = "taint-manager's own pods are evicted last, one at a time: " + test.want + "; each waits up to 1m for other evictions, and up to 1m for another replica to be Ready"
		}
		p := must(m.Plan(ask("disk:NoExecute")))
		pending := m.Pending(noon, nil)
		for answer, notes := range map[string][]string{"plan": p.Notes, "pending": pending.Notes} {
			if got := noted(notes, "own pods"); got != (want != "") || !noted(notes, want) {
				t.Errorf("%s, %s: %q", name, answer, notes)
			}
		}
		if test.want == "shop/a, shop/b" && (pending.Pods[0].Name != "z" || p.Pods[0].Name != "z" || !pending.Pods[1].Own || !p.Pods[2].Own) {
			t.Errorf("%s: they are not last: %+v", name, pending.Pods)
		}
		if e := explained(m, noon); e.Prediction.Own != (test.want == "shop/a, shop/b") || noted(e.Notes, "own pods") != e.Prediction.Own {
			t.Errorf("%s, explain: %q", name, e.Notes)
		}
	}
}
