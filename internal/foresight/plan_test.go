package foresight_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// The twin has the times of other taints, tolerations and changes.
func TestEachPodOfTheNodesGoesOrStays(t *testing.T) {
	gpu := "gpu=a100:NoExecute"
	young := node("n1", parsed("disk:NoExecute"))
	young.CreationTimestamp = hoursAgo(-1)
	for _, c := range []struct {
		name   string
		taints []string
		node   *v1.Node
		pod    *v1.Pod
		want   string
		reason string // part of it
	}{
		{"no toleration", []string{gpu}, node("n1"), pod("a"), "goes at 0s", "taint gpu=a100:NoExecute (countdown started at 2026-05-01T12:00:00Z) is not tolerated"},
		{"for a while", []string{gpu}, node("n1"), pod("a", tolerates("gpu", 300)), "goes at 5m0s", `is tolerated for 5m by toleration "gpu op=Exists"`},
		{"for ever", []string{gpu}, node("n1"), pod("a", tolerates("gpu", -1)), "stays", "every NoExecute taint of the node is tolerated forever"},
		{"a mirror pod", []string{gpu}, node("n1"), pod("a", func(p *v1.Pod) { p.Annotations = map[string]string{v1.MirrorPodAnnotationKey: "x"} }), "stays", "mirrors"},
		{
			"another taint is there since an unknown time",
			[]string{gpu},
			node("n1", parsed("disk:NoExecute")), pod("a", tolerates("gpu", 300), tolerates("disk", 90)),
			"goes at -8h58m30s to 1m30s", "(countdown started between 2026-05-01T03:00:00Z and 2026-05-01T12:00:00Z",
		},
		{
			"a taint of an unknown time may come before another",
			[]string{gpu},
			node("n1", parsed("disk:NoExecute")), pod("a", tolerates("gpu", 30), tolerates("disk", 90)),
			"goes at -8h58m30s to 30s", `taint gpu=a100:NoExecute (countdown started at 2026-05-01T12:00:00Z) is tolerated for 30s by toleration "gpu op=Exists"; the start of disk:NoExecute is unknown: its countdown did not start before 2026-05-01T03:00:00Z`,
		},
		{"the other value was borne for ever", []string{"load=9:NoExecute"}, node("n1", timed("load=1:NoExecute", -60)), pod("a", func(p *v1.Pod) {
			p.Spec.Tolerations = []v1.Toleration{{Key: "load", Operator: v1.TolerationOpLt, Value: "5"}}
		}, tolerates("load", 60)), "goes at 1m0s", "load=9"},
		{"it was bound after the moment", []string{gpu}, node("n1", timed("disk:NoExecute", -60)), pod("a", tolerates("gpu", -1), tolerates("disk", 300), func(p *v1.Pod) { p.CreationTimestamp, p.Status.Conditions = hoursAgo(-1), nil }), "goes at 5m0s", "disk"},
		{"the node was made after the moment", []string{gpu}, young, pod("a", tolerates("gpu", 300), tolerates("disk", 90)), "goes at 1m30s", "disk"},
		{
			"unreachable takes the place of not-ready",
			[]string{"node.kubernetes.io/not-ready:NoExecute-", "node.kubernetes.io/unreachable:NoExecute"},
			node("n1", timed("node.kubernetes.io/not-ready:NoExecute", -60)), pod("a", tolerates("node.kubernetes.io/not-ready", 300), tolerates("node.kubernetes.io/unreachable", 300)), "goes at 4m1s", "unreachable",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := plan(ask(c.taints...), c.node, c.pod)
			if len(p.Pods) != 1 {
				t.Fatalf("got %d pods", len(p.Pods))
			}
			if got := told(&p.Pods[0].Prediction); got != c.want || !strings.Contains(p.Pods[0].Reason, c.reason) {
				t.Errorf("got %s: %s\nwant %s: %s", got, p.Pods[0].Reason, c.want, c.reason)
			}
		})
	}
}

func TestAPodStaysBecauseAPolicyNamesTheTaintWithNoExecuteOnly(t *testing.T) {
	const only = "policy gpu names this taint with NoExecute only"
	by := policies(policy.Policy{Name: "gpu", Method: policy.Delete, Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}})
	for _, n := range []*v1.Node{node("n1"), node("n1", parsed("gpu:NoSchedule"))} {
		m := judgedBy(by, foresight.Focus{}, n, pod("a"))
		p := must(m.Plan(ask("gpu:NoSchedule")))
		if p.Pods[0].Reason != only+" (gpu:NoSchedule)" || !noted(p.Notes, "its effect is not NoExecute, and "+only) {
			t.Errorf("plan: %s, %q", p.Pods[0].Reason, p.Notes)
		}
		if got := explained(m, noon).Prediction.Reason; len(n.Spec.Taints) > 0 && got != only+" (gpu:NoSchedule)" {
			t.Errorf("explain: %q", got)
		}
	}
}

func TestWhoGoesWithoutThePlanTooIsSaid(t *testing.T) {
	p := plan(ask("gpu:NoExecute", "old-"), node("n1", timed("disk:NoExecute", -60), timed("old:NoExecute", -60)),
		pod("overdue", tolerates("gpu", -1), tolerates("old", -1)),
		pod("both", tolerates("gpu", 30), tolerates("disk", 300), tolerates("old", -1)),
		pod("only-now", tolerates("disk", -1), tolerates("old", -1)),
		pod("saved", tolerates("gpu", -1), tolerates("disk", -1)))
	var got []string
	for _, pod := range p.Pods {
		got = append(got, pod.Name+" "+told(&pod.Prediction)+", without the plan: "+told(pod.Without)+": "+pod.Effect)
	}
	want := []string{
		"overdue goes at -59s, without the plan: goes at -59s: anyway",
		"only-now goes at 0s, without the plan: unknown: evicted",
		"both goes at 30s, without the plan: goes at 4m1s: sooner",
		"saved stays, without the plan: goes at -59s: saved",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	for i, want := range map[int]float64{0: 0, 2: 30} { // the first was to go a while ago
		if s := p.Pods[i].InSeconds; s == nil || *s != want {
			t.Errorf("pod %s goes in %v s, want %v", p.Pods[i].Name, s, want)
		}
	}
	if p.Total != (foresight.Total{Evict: 2, Stay: 1, Saved: 1, Anyway: 1, Now: 1, Last: &p.Pods[2].Prediction}) {
		t.Errorf("total %+v", p.Total)
	}
}

func TestPodsOfOtherNodesAndNamespacesAreLeftOut(t *testing.T) {
	other := pod("other")
	other.Namespace = "bank"
	objects := []any{node("n1"), node("n2"), pod("a", labelled("app", "a")), pod("b", on("n2")), pod("c", on("")), other, budget("a", 1)}
	if p := plan(ask("gpu:NoExecute"), objects...); len(p.Pods) != 2 || len(p.Namespaces) != 2 {
		t.Errorf("got %+v", p.Pods)
	}
	q := ask("gpu:NoExecute")
	p, err := modelOf(foresight.Focus{Nodes: &q.Selection, Namespace: "shop"}, objects...).Plan(q)
	if err != nil || len(p.Pods) != 1 || len(p.Namespaces) != 1 || len(p.Budgets) != 1 {
		t.Errorf("in one namespace: got %+v, %v", p, err)
	}
}

// The objects of a dump may be in any order.
func TestTheOrderOfTheObjectsDoesNotMatter(t *testing.T) {
	hash := func(p *v1.Pod) { ownedBy("ReplicaSet/web-5d4")(p); labelled("pod-template-hash", "5d4")(p) }
	objects := []any{
		node("n1"), node("n2"), node("n3"), budget("web", 0),
		pod("a", hash, labelled("app", "web")), pod("b", hash, on("n2")), pod("c", on("n3")), pod("d", on("n9")),
	}
	backwards := slices.Clone(objects)
	slices.Reverse(backwards)
	selected := ask("gpu:NoExecute")
	selected.Names, selected.Selector = nil, selects("name in (n1, n2)")
	printed := cmpopts.IgnoreUnexported(foresight.BudgetPlan{}, foresight.PlannedPod{})
	for _, q := range []foresight.Question{ask("gpu:NoExecute"), selected} {
		if diff := cmp.Diff(plan(q, objects...), plan(q, backwards...), printed); diff != "" {
			t.Errorf("%v (-forwards +backwards):\n%s", q.Names, diff)
		}
	}
}

func selects(s string) labels.Selector { return must(labels.Parse(s)) }

func TestAnOwnerThatLosesAllItsReplicasIsSaid(t *testing.T) {
	web := func(p *v1.Pod) { ownedBy("ReplicaSet/web-5d4")(p); labelled("pod-template-hash", "5d4")(p) }
	webNew := func(p *v1.Pod) { ownedBy("ReplicaSet/web-7c6")(p); labelled("pod-template-hash", "7c6")(p) }
	p := plan(ask("gpu:NoExecute"), node("n1"), node("n2"),
		pod("web-1", web), pod("web-2", webNew), pod("web-old", web, on("n2"), in(v1.PodFailed)), pod("web-going", web, on("n2"), deleted),
		pod("api-1", ownedBy("ReplicaSet/api-5d4")), pod("api-2", ownedBy("ReplicaSet/api-5d4"), on("n2")),
		pod("db-0", ownedBy("StatefulSet/db")), pod("db-1", ownedBy("StatefulSet/db"), on("")),
		pod("agent", ownedBy("DaemonSet/agent"), tolerates("", -1)), pod("done", ownedBy("Job/done"), in(v1.PodSucceeded)), pod("bare"))
	var got []string
	for _, o := range p.Owners {
		line := o.String() + ": "
		if o.LosesAll {
			line += "loses all "
		}
		got = append(got, line+fmt.Sprintf("%d of %d", o.Evict, o.Replicas))
	}
	want := []string{
		"DaemonSet/agent: 0 of 1", "Deployment/web: loses all 2 of 2", "Job/done: 0 of 0", "ReplicaSet/api-5d4: 1 of 2", "StatefulSet/db: 1 of 2",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestAnOwnerThatLosesItsLastReadyReplicaIsSaid(t *testing.T) {
	web, dead := ownedBy("StatefulSet/web"), timed("old:NoExecute", -60)
	for name, test := range map[string]struct {
		pods  []any
		loses bool
	}{
		"the other is not ready":              {[]any{pod("a", web), pod("b", web, on("n2"), unready)}, true},
		"the other is ready":                  {[]any{pod("a", web), pod("b", web, on("n2"))}, false},
		"it is not ready either":              {[]any{pod("a", web, unready), pod("b", web, on("n2"), unready)}, false},
		"only the other is ready, and stays":  {[]any{pod("a", web, unready), pod("b", web, on("n2"))}, false},
		"it is the only one":                  {[]any{pod("a", web)}, false},
		"the other ready one goes anyway":     {[]any{pod("a", web), pod("b", web, on("n3")), pod("c", web, on("n2"), unready)}, true},
		"the only ready one goes anyway":      {[]any{pod("a", web, unready), pod("b", web, on("n3")), pod("c", web, on("n2"), unready)}, false},
		"the other is on a node not in focus": {[]any{pod("a", web), pod("b", web, on("n2"), unready), pod("c", web, on("n2"))}, false},
	} {
		p := plan(ask("gpu:NoExecute"), append(test.pods, node("n1"), node("n2"), node("n3", dead))...)
		if o := p.Owners[0]; o.LosesReady != test.loses {
			t.Errorf("%s: %+v", name, o)
		}
	}
}

func TestOwnersAreToldApartByTheirUIDsAndTheGroupsOfTheirAPIs(t *testing.T) {
	made := func(uid string) func(*v1.Pod) {
		return func(p *v1.Pod) { ownedBy("StatefulSet/db")(p); p.OwnerReferences[0].UID = types.UID(uid) }
	}
	ofHash := func(uid, hash string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			ownedBy("ReplicaSet/web-" + hash)(p)
			labelled("pod-template-hash", hash)(p)
			p.OwnerReferences[0].UID = types.UID(uid)
		}
	}
	volcano := func(p *v1.Pod) {
		ownedBy("Job/train")(p)
		p.OwnerReferences[0].APIVersion = "batch.volcano.sh/v1alpha1"
	}
	uncontrolled := func(p *v1.Pod) { p.OwnerReferences[0].Controller = nil }
	for name, c := range map[string]struct {
		pods []any
		want string // the owners that lose all replicas
	}{
		"another UID":                    {[]any{pod("a", made("u1")), pod("b", made("u2"), on("n2"))}, "[StatefulSet/db]"},
		"two of one Deployment":          {[]any{pod("a", ofHash("u1", "5d4")), pod("b", ofHash("u2", "7c6"))}, "[Deployment/web]"},
		"another group":                  {[]any{pod("a", ownedBy("Job/train")), pod("b", volcano, on("n2"))}, "[Job/train]"},
		"a group that is not built in":   {[]any{pod("a", volcano)}, "[Job.batch.volcano.sh/train]"},
		"an owner that is no controller": {[]any{pod("a", ownedBy("Job/x"), uncontrolled)}, "[]"},
	} {
		var got []string
		for _, o := range plan(ask("gpu:NoExecute"), append(c.pods, node("n1"), node("n2"))...).Owners {
			if o.LosesAll {
				got = append(got, o.String())
			}
		}
		if fmt.Sprint(got) != c.want {
			t.Errorf("%s: got %v, want %s", name, got, c.want)
		}
	}
}

func TestAQuestionThatDoesNotFitIsRefused(t *testing.T) {
	unknown := ask("gpu:NoExecute")
	unknown.Names = []string{"n1", "n7", "n8"}
	_, err := planned(unknown, node("n1"))
	if e := new(foresight.QuestionError); !errors.As(err, &e) || e.Typed != "n7" || err.Error() != "nodes n7, n8 not found" {
		t.Errorf("unknown nodes: got %v", err)
	}
	none := ask("gpu:NoExecute")
	none.Selection = foresight.Selection{Selector: selects("rack=7")}
	_, err = planned(none, node("n1"))
	if e := new(foresight.QuestionError); !errors.As(err, &e) || err.Error() != "no node matches rack=7" {
		t.Errorf("nothing selected: got %v", err)
	}
	_, err = planned(ask("gpu:NoExecute-"), node("n1", parsed("gpu:NoSchedule")))
	if e := new(foresight.QuestionError); !errors.As(err, &e) || err.Error() != "taint gpu:NoExecute not found on n1" {
		t.Errorf("nothing to be removed: got %v", err)
	}
}

func TestChangesThatDoLessThanOneMightExpectAreNoted(t *testing.T) {
	q := ask("gpu=a:NoExecute", "disk:NoSchedule", "old-")
	q.Names = []string{"n1", "n2"}
	p := plan(q, node("n1", timed("gpu=a:NoExecute", -60), parsed("old:NoSchedule")), node("n2", parsed("gpu=b:NoExecute")))
	want := []string{
		"gpu=a:NoExecute is already on n1, so its countdowns continue",
		"gpu=a:NoExecute replaces a taint with another value on n2",
		"disk:NoSchedule evicts no pod, because its effect is not NoExecute",
		"there is no old to remove on n2",
	}
	if diff := cmp.Diff(want, p.Notes); diff != "" {
		t.Errorf("notes (-want +got):\n%s", diff)
	}
	changes := []foresight.PlannedNode{
		{Name: "n1", Changes: []foresight.NodeChange{{"gpu=a:NoExecute", "unchanged", ""}, {"disk:NoSchedule", "added", ""}, {"old:NoSchedule", "removed", ""}}},
		{Name: "n2", Changes: []foresight.NodeChange{{"gpu=a:NoExecute", "replaced", "gpu=b:NoExecute"}, {"disk:NoSchedule", "added", ""}, {"old", "absent", ""}}},
	}
	if diff := cmp.Diff(changes, p.Nodes); diff != "" {
		t.Errorf("nodes (-want +got):\n%s", diff)
	}
}

func TestARemovalThatIsGivenTwiceCountsOnce(t *testing.T) {
	for _, c := range []struct {
		changes []string
		want    []foresight.NodeChange // on a node that has the taint
		notes   []string               // about one that does not
	}{
		{[]string{"gpu:NoExecute-", "gpu:NoExecute-"}, []foresight.NodeChange{{"gpu:NoExecute", "removed", ""}}, []string{"there is no gpu:NoExecute to remove on n2"}},
		{[]string{"gpu-", "gpu:NoExecute-"}, []foresight.NodeChange{{"gpu:NoExecute", "removed", ""}}, []string{"there is no gpu to remove on n2", "there is no gpu:NoExecute to remove on n2"}},
		{[]string{"gpu:NoExecute-", "gpu-"}, []foresight.NodeChange{{"gpu:NoExecute", "removed", ""}}, []string{"there is no gpu:NoExecute to remove on n2", "there is no gpu to remove on n2"}},
	} {
		q := ask(c.changes...)
		q.Names = []string{"n1", "n2"}
		p := plan(q, node("n1", timed("gpu:NoExecute", -60)), node("n2"))
		if diff := cmp.Diff(c.want, p.Nodes[0].Changes); diff != "" {
			t.Errorf("%v (-want +got):\n%s", c.changes, diff)
		}
		if diff := cmp.Diff(c.notes, p.Notes); diff != "" {
			t.Errorf("%v, notes (-want +got):\n%s", c.changes, diff)
		}
	}
}

func TestWhatComesAnywayOnOtherNodesAsksBudgetsInTheOrderOfTime(t *testing.T) {
	web := labelled("app", "web")
	owner := ownedBy("StatefulSet/web")
	p := plan(ask("gpu:NoExecute"), node("n1"), node("n2", timed("disk:NoExecute", -60)), node("n3"), budget("web", 1),
		pod("here", web, owner, tolerates("gpu", 300)), pod("there", web, owner, on("n2"), tolerates("disk", 120)),
		pod("stays", web, on("n2"), tolerates("disk", -1)), pod("other", web, on("n3")))
	var got []string
	for _, pod := range p.Pods {
		got = append(got, fmt.Sprintf("%s %s, %s, blocked by %v", pod.Name, told(&pod.Prediction), pod.Effect, pod.BlockedBy))
	}
	want := []string{"there goes at 1m1s, anyway, blocked by []", "here goes at 5m0s, evicted, blocked by [web]"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if p.Total != (foresight.Total{Evict: 1, Elsewhere: 1, Blocked: 1, Last: &p.Pods[1].Prediction}) {
		t.Errorf("the total is about the change: got %+v", p.Total)
	}
	if o := p.Owners[0]; !o.LosesAll || o.Evict != 1 || o.Elsewhere != 1 || o.Replicas != 2 {
		t.Errorf("the owner that loses one to the change and one anyway: got %+v", o)
	}
}

func TestAPlanSaysThatASwappedTaintMayHaveBegunEarlier(t *testing.T) {
	for taint, want := range map[string]bool{"node.kubernetes.io/not-ready:NoExecute": true, "gpu:NoExecute": false} {
		m := modelOf(foresight.Focus{}, node("n1", timed(taint, -20)), pod("a", tolerates("gpu", 300)))
		p := must(m.Plan(ask("disk:NoExecute")))
		if got := noted(p.Notes, "share one countdown"); got != want {
			t.Errorf("%s: the notes are %q", taint, p.Notes)
		}
	}
}
