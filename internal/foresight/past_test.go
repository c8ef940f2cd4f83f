package foresight_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// happened returns an event about a pod shop/a with this UID, a number of seconds from noon.
func happened(uid string, seconds float64, reason, message string) *v1.Event {
	e := &v1.Event{
		ObjectMeta:     metav1.ObjectMeta{Name: fmt.Sprint(uid, seconds, reason, message)},
		InvolvedObject: v1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "a", UID: types.UID(uid)},
		Reason:         reason, Message: message, LastTimestamp: metav1.NewTime(at(seconds)),
	}
	if strings.HasPrefix(message, marked) {
		e.Annotations = map[string]string{"taint-manager/node": "n1", "taint-manager/deadline": "2026-05-01T11:58:10Z", "taint-manager/taint": "gpu:NoExecute"}
	}
	return e
}

// The messages are those of package event; its tests hold them.
const (
	marked    = "Marking for deletion Pod shop/a on node n1, due at 2026-05-01T11:58:10Z: taint gpu:NoExecute (countdown started at 2026-05-01T11:58:10Z) is not tolerated"
	cancelled = "Cancelling deletion of Pod shop/a on node n1, which was due at 2026-05-01T11:58:10Z: the node has no such taint; it was to go because taint gpu:NoExecute is not tolerated"
	blocked   = "Eviction of Pod shop/a on node n1, due at 2026-05-01T11:58:10Z, is blocked (pdb), and will be tried again: The budget needs 1"
	spared    = "Cancelling deletion of Pod shop/a on node n1, which was due at 2026-05-01T11:58:10Z: the node has no NoExecute taint" + eviction.OutageSpared + "; it was to go because taint gpu:NoExecute is not tolerated"
	foreign   = "Cancelling deletion of Pod shop/a on node n1, which was due at 2026-05-01T11:58:10Z and held by policy q: the pod is already being deleted" + eviction.DeletedByDaemonSet + "; it was to go because taint gpu:NoExecute is not tolerated"
	because   = ", because of taint gpu:NoExecute"
)

func TestHowAPodWentIsTold(t *testing.T) {
	start := happened("u1", -110, "TaintManagerEviction", marked)
	late := happened("u1", -50, "TaintManagerEviction", marked)
	block, stop := happened("u1", -100, "EvictionBlocked", blocked), happened("u1", -90, "TaintManagerEviction", cancelled)
	killed := happened("u1", -80, "Killing", "Stopping container web")
	going := pod("a", deleted, func(p *v1.Pod) { p.UID = "u1" })
	disrupted := func(reason string) *v1.Pod {
		p := going.DeepCopy()
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: reason})
		return p
	}
	unevicted := "its events show no eviction by taint-manager"
	stoppedOn := func(node string, seconds float64) *v1.Event {
		e := happened("u1", seconds, "Killing", "Stopping container web")
		e.Source.Host = node
		return e
	}
	pulled := stoppedOn("n7", -109.5)
	pulled.Reason = "Pulled"
	byOriginal := happened("", -110, "TaintManagerEviction", "Marking for deletion Pod shop/a")
	recreatedAt := func(seconds float64) *v1.Pod {
		return pod("a", on("n2"), func(p *v1.Pod) { p.CreationTimestamp = metav1.NewTime(at(seconds)) })
	}
	recreated := pod("a", ownedBy("StatefulSet/a"), on("n2"), func(p *v1.Pod) { p.UID = "u2" })
	for _, c := range []struct {
		name    string
		objects []any
		want    string
	}{
		{"gone, and evicted", []any{start, killed}, "evicted from n1 at 2026-05-01T11:58:10Z" + because},
		{"gone late", []any{late}, "evicted from n1 at 2026-05-01T11:59:10Z, 1m0s after it was due" + because},
		{"gone late, as a budget was in the way", []any{block, late}, "evicted from n1 at 2026-05-01T11:59:10Z, 1m0s after it was due" + because + "; at 2026-05-01T11:58:20Z it was blocked (pdb): The budget needs 1"},
		{"gone after an obstacle", []any{start, block}, "its eviction from n1 began at 2026-05-01T11:58:10Z" + because + "; at 2026-05-01T11:58:20Z it was blocked (pdb): The budget needs 1"},
		{"gone by the original", []any{happened("u1", -110, "TaintManagerEviction", "Marking for deletion Pod shop/a")}, "evicted at 2026-05-01T11:58:10Z"},
		{"gone after it was cancelled", []any{start, stop, killed}, unevicted},
		{"gone by others", []any{killed}, unevicted},
		{"going", []any{going, node("n1"), start}, "evicted from n1 at 2026-05-01T11:58:10Z" + because},
		{"going by others", []any{going, node("n1"), killed}, unevicted},
		{"going by a drain", []any{disrupted("EvictionByEvictionAPI"), node("n1")}, unevicted},
		{"going, and its event was lost", []any{disrupted("DeletionByTaintManager"), node("n1")}, "evicted because of a taint, according to its condition DisruptionTarget"},
		{"made again", []any{recreated, node("n2"), start}, "an earlier pod of this name was evicted from n1 at 2026-05-01T11:58:10Z" + because},
		{"made again after an obstacle", []any{recreated, node("n2"), start, block}, "the earlier pod's eviction from n1 began at 2026-05-01T11:58:10Z" + because + "; at 2026-05-01T11:58:20Z it was blocked (pdb): The budget needs 1"},
		{"made again twice", []any{recreated, node("n2"), start, happened("u0", -500, "TaintManagerEviction", strings.ReplaceAll(marked, "n1", "n9"))}, "an earlier pod of this name was evicted from n1 at 2026-05-01T11:58:10Z" + because},
		{"made again, and the original's event has no UID", []any{recreatedAt(-60), node("n2"), byOriginal}, "an earlier pod of this name was evicted at 2026-05-01T11:58:10Z"},
		{"made again, and a kubelet stopped the pod that the original evicted", []any{recreatedAt(-60), node("n2"), byOriginal, stoppedOn("n9", -120), pulled, stoppedOn("n1", -109), stoppedOn("n8", -70)}, "an earlier pod of this name was evicted from n1 at 2026-05-01T11:58:10Z"},
		{"made before the original's event", []any{recreatedAt(-120), node("n2"), byOriginal}, ""},
		{"made again by others", []any{recreated, node("n2"), killed}, ""},
		{"made again after it was cancelled", []any{recreated, node("n2"), start, stop}, ""},
		{"alive", []any{pod("a"), node("n1")}, ""},
		{"alive, and its own eviction has begun", []any{pod("a"), node("n1"), happened("uid-a", -110, "TaintManagerEviction", marked)}, ""},
	} {
		e := explainOf(c.objects...)
		if e.History != c.want || (e.Past != nil) != strings.Contains(c.want, "2026-05-01T11:5") {
			t.Errorf("%s:\ngot  %s, %+v\nwant %s", c.name, e.History, e.Past, c.want)
		}
		if e.Past != nil && e.Past.Predecessor != strings.Contains(c.want, "earlier pod") {
			t.Errorf("%s: %+v", c.name, e.Past)
		}
	}
	m := must(load(foresight.Ruleset{}, foresight.Focus{}, foresight.Reading{EventsUnknown: "this user may not list events"}, going, node("n1")))
	if got := explained(m, noon).History; got != "whether taint-manager evicted it is unknown, because this user may not list events" {
		t.Errorf("without events: %s", got)
	}
}

func TestWhatHasProbablyEndedAnEvictionIsTold(t *testing.T) {
	const when = "its eviction was cancelled at 2026-05-01T11:58:30Z: "
	start := happened("uid-a", -90, "TaintManagerEviction", spared)
	for _, c := range []struct {
		name    string
		objects []any
		want    string
	}{
		{"deleted by the DaemonSet controller", []any{happened("u1", -90, "TaintManagerEviction", foreign)}, when + "the pod is already being deleted, probably by the DaemonSet controller"},
		{
			"alive after a start of kube-controller-manager",
			[]any{pod("a"), node("n1"), start},
			when + "the node has no NoExecute taint, but a NoSchedule taint still reports the outage: probably kube-controller-manager has started or changed its leader, every zone is disrupted, or another client has overwritten the node's taints",
		},
		{"alive, and due again", []any{pod("a"), node("n1"), start, happened("uid-a", -50, "TaintManagerEviction", marked)}, ""},
		{"evicted since", []any{start, happened("uid-a", -50, "TaintManagerEviction", marked)}, "evicted from n1 at 2026-05-01T11:59:10Z, 1m0s after it was due" + because},
	} {
		if got := explainOf(c.objects...).History; got != c.want {
			t.Errorf("%s:\ngot  %s\nwant %s", c.name, got, c.want)
		}
	}
}

// What is in the way of a pod that should be gone is known from its events, or from its budgets.
func TestWhatIsInTheWayOfAnOverduePodIsNamed(t *testing.T) {
	evict := rulesOf(policy.Config{Method: policy.Evict})
	web := pod("a", labelled("app", "web"), func(p *v1.Pod) { p.UID = "u1" })
	old, young := node("n1", timed("gpu:NoExecute", -60)), node("n1", timed("gpu:NoExecute", 0))
	block := happened("u1", -50, "EvictionBlocked", blocked)
	for _, c := range []struct {
		name    string
		by      foresight.Ruleset
		objects []any
		want    string
	}{
		{"by its events", foresight.Ruleset{}, []any{web, old, block}, "the eviction is blocked (pdb): The budget needs 1 (event of 2026-05-01T11:59:10Z)"},
		{"by its budget", evict, []any{web, old, budget("web", 0)}, "PodDisruptionBudget web allows no disruption now"},
		{"by its budget, whose missing pod it is", evict, []any{pod("a", labelled("app", "web"), unready), node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), budget("web", 0, healthy(1, 2), expects(2))}, "PodDisruptionBudget web allows no disruption, and can't recover while this pod exists, which is not ready because its node is dead; use a policy with method: Delete, or with deleteAfter"},
		{"by its budget, until its policy deletes it", policies(policy.Policy{Name: "late", Method: policy.Evict, DeleteAfter: &metav1.Duration{Duration: time.Hour}}), []any{pod("a", labelled("app", "web"), unready), node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), budget("web", 0, healthy(1, 2), expects(2))}, "PodDisruptionBudget web allows no disruption, and can't recover while this pod exists, which is not ready because its node is dead"},
		{"by its budget, which another unready pod can fill", evict, []any{pod("a", labelled("app", "web"), unready), node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), node("n2"), pod("b", labelled("app", "web"), unready, on("n2")), budget("web", 0, healthy(1, 2), expects(3))}, "PodDisruptionBudget web allows no disruption now"},
		{"by its budget, which lacks two pods of dead nodes", evict, []any{pod("a", labelled("app", "web"), unready), node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), pod("b", labelled("app", "web"), unready), budget("web", 0, healthy(1, 2), expects(3))}, "PodDisruptionBudget web allows no disruption, and can't recover while this pod exists, which is not ready because its node is dead; use a policy with method: Delete, or with deleteAfter"},
		{"by its budget, whose pods were not counted", evict, []any{pod("a", labelled("app", "web"), unready), node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), budget("web", 0, healthy(1, 2))}, "PodDisruptionBudget web allows no disruption now"},
		{"by its budget, which permits nothing", evict, []any{web, old, budget("web", 0, func(b *policyv1.PodDisruptionBudget) { b.Spec.MaxUnavailable = new(intstr.FromInt32(0)) })}, "never by Evict: PodDisruptionBudget web permits no disruption at all"},
		{"by two budgets", evict, []any{web, old, budget("web", 1), budget("two", 1, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "web" })}, "several PodDisruptionBudgets select it, and the API server never evicts such a pod"},
		{"a budget that admits it", evict, []any{web, old, budget("web", 1)}, ""},
		{"a budget that is not asked", foresight.Ruleset{}, []any{web, old, budget("web", 0)}, ""},
		{"not overdue, by its budget, which permits nothing", evict, []any{web, young, budget("web", 0, expects(1), healthy(1, 1))}, "never by Evict: PodDisruptionBudget web permits no disruption at all"},
		{"not overdue, by two budgets", evict, []any{web, young, budget("web", 1), budget("two", 1, func(b *policyv1.PodDisruptionBudget) { b.Spec.Selector.MatchLabels["app"] = "web" })}, "several PodDisruptionBudgets select it, and the API server never evicts such a pod"},
		{"not overdue, until its policy deletes it", policies(policy.Policy{Name: "late", Method: policy.Evict, DeleteAfter: &metav1.Duration{Duration: time.Hour}}), []any{web, young, budget("web", 0, expects(1), healthy(1, 1))}, ""},
		{"a pod that stays", evict, []any{web, node("n1"), budget("web", 0, expects(1), healthy(1, 1))}, ""},
		{"not overdue", evict, []any{web, young, budget("web", 0), block}, ""},
	} {
		if got := explained(judgedBy(c.by, foresight.Focus{}, c.objects...), noon).Blocker; got != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// The commands do what they say: the one that keeps a pod makes its prediction that the pod stays.
func TestTheCommandsKeepAPod(t *testing.T) {
	taints := []v1.Taint{timed("gpu=a:NoExecute", -5), timed("disk:NoExecute", -5), parsed("slow:NoSchedule"), timed("net:NoExecute", -5)}
	for name, tolerations := range map[string][]func(*v1.Pod){
		"none": {tolerates("net", -1)}, "some": {tolerates("gpu", 300), tolerates("", 600)}, "no list": {},
	} {
		p, n := pod("a", tolerations...), node("n1", taints...)
		e := explain(p, n)
		command := func(begin string) string {
			for _, c := range e.Commands {
				if rest, ok := strings.CutPrefix(c.Command, begin); ok {
					return rest
				}
			}
			t.Fatalf("%s: no command %q in %+v", name, begin, e.Commands)
			return ""
		}
		var left []v1.Taint
		removed := strings.Fields(command("kubectl taint nodes n1 "))
		for _, on := range n.Spec.Taints {
			if !slices.Contains(removed, on.Key+":"+string(on.Effect)+"-") {
				left = append(left, on)
			}
		}
		if len(left) == len(taints) || explain(p, node("n1", left...)).Prediction.Evict {
			t.Errorf("%s: it goes without the taints %q", name, removed)
		}
		kept := p.DeepCopy()
		patched(t, kept, command("kubectl patch pod a -n shop --type=json -p="))
		if explain(kept, n).Prediction.Evict || len(kept.Spec.Tolerations) <= len(p.Spec.Tolerations) {
			t.Errorf("%s: it goes with the tolerations %+v", name, kept.Spec.Tolerations)
		}
		if rest := command("kubectl delete pod "); rest != "a -n shop" {
			t.Errorf("%s: deletes %q", name, rest)
		}
	}
}

// patched applies a quoted JSON patch that adds tolerations.
func patched(t *testing.T, p *v1.Pod, quoted string) {
	t.Helper()
	var patch []struct {
		Op, Path string
		Value    json.RawMessage
	}
	if err := json.Unmarshal([]byte(strings.Trim(quoted, "'")), &patch); err != nil {
		t.Fatal(err)
	}
	for _, op := range patch {
		var one v1.Toleration
		var err error
		switch {
		case op.Op == "add" && op.Path == "/spec/tolerations" && p.Spec.Tolerations == nil:
			err = json.Unmarshal(op.Value, &p.Spec.Tolerations)
		case op.Op == "add" && op.Path == "/spec/tolerations/0" && p.Spec.Tolerations != nil:
			err = json.Unmarshal(op.Value, &one)
			p.Spec.Tolerations = append([]v1.Toleration{one}, p.Spec.Tolerations...)
		default:
			t.Fatalf("the API server refuses %+v", op)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
}

func TestNoCommandPromisesWhatItDoesNotDo(t *testing.T) {
	unreachable, gpu := timed("node.kubernetes.io/unreachable:NoExecute", -5), timed("gpu:NoExecute", -5)
	evict := rulesOf(policy.Config{Method: policy.Evict})
	decides := policies(policy.Policy{Name: "p", Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, Method: policy.Delete})
	for _, c := range []struct {
		name    string
		by      foresight.Ruleset
		objects []any
		want    string // the second words
	}{
		{"a taint", foresight.Ruleset{}, []any{pod("a"), node("n1", gpu)}, "taint patch delete"},
		{"a taint that comes again", foresight.Ruleset{}, []any{pod("a"), node("n1", unreachable)}, "patch delete"},
		{"one of two comes again", foresight.Ruleset{}, []any{pod("a"), node("n1", unreachable, gpu)}, "patch delete"},
		{"a policy limits tolerations", decides, []any{pod("a"), node("n1", gpu)}, "taint delete"},
		{"a budget is asked", evict, []any{pod("a", labelled("app", "web")), node("n1", gpu), budget("web", 0)}, "taint patch describe delete"},
		{"it stays", foresight.Ruleset{}, []any{pod("a", tolerates("", -1)), node("n1", gpu)}, ""},
		{"it is going", foresight.Ruleset{}, []any{pod("a", deleted), node("n1", gpu)}, ""},
	} {
		var got []string
		for _, command := range explained(judgedBy(c.by, foresight.Focus{}, c.objects...), noon).Commands {
			got = append(got, strings.Fields(command.Command)[1])
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

// A dump may have any names. A shell takes each as one word.
func TestNamesInCommandsAreQuoted(t *testing.T) {
	e := explain(pod("a", on("n1; rm -rf ~")), node("n1; rm -rf ~", timed("a'b:NoExecute", -5)))
	if got := e.Commands[0].Command; got != `kubectl taint nodes 'n1; rm -rf ~' 'a'\''b:NoExecute-'` {
		t.Errorf("got %s", got)
	}
}
