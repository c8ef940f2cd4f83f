package foresight_test

import (
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func explain(p *v1.Pod, n *v1.Node) *foresight.Explanation {
	objects := []any{p}
	if n != nil {
		objects = append(objects, n)
	}
	return explainOf(objects...)
}

// explainOf explains the pod shop/a among the objects.
func explainOf(objects ...any) *foresight.Explanation {
	return explained(modelOf(foresight.Focus{}, objects...), noon)
}

// line formats an explained taint in a few words.
func line(t foresight.ExplainedTaint) string {
	s := t.Taint + ": "
	if t.Since != nil {
		s += "since " + t.Since.Sub(noon).String()
	}
	if t.SinceEarliest != nil {
		s += " or " + t.SinceEarliest.Sub(noon).String()
	}
	s += ", " + t.Toleration
	if t.Prediction != nil {
		s += ", " + told(t.Prediction)
	}
	return s
}

func TestTheTaintsOfTheNodeAreExplainedOneByOne(t *testing.T) {
	n := node("n1", timed("gpu=a100:NoExecute", -60), parsed("disk:NoExecute"), timed("net:NoExecute", -30), parsed("slow:NoSchedule"), parsed("slow:PreferNoSchedule"))
	e := explain(pod("a", tolerates("gpu", 300), tolerates("disk", 90), tolerates("net", -1), func(p *v1.Pod) {
		p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "slow", Operator: v1.TolerationOpExists, Effect: v1.TaintEffectNoSchedule})
	}), n)
	var got []string
	for _, t := range e.Taints {
		got = append(got, line(t))
	}
	want := []string{
		`gpu=a100:NoExecute: since -59s, gpu op=Exists, goes at 4m1s`,
		`disk:NoExecute: since 0s or -10h0m0s, disk op=Exists, goes at -8h58m30s to 1m30s`,
		`net:NoExecute: since -29s, net op=Exists, stays`,
		`slow:NoSchedule: , slow:NoSchedule op=Exists`,
		`slow:PreferNoSchedule: , `,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if got := told(e.Prediction); got != "goes at -8h58m30s to 1m30s" {
		t.Errorf("the pod %s", got)
	}
}

func TestAPodWithoutTroubleGetsAShortAnswer(t *testing.T) {
	for _, c := range []struct {
		name   string
		pod    *v1.Pod
		node   *v1.Node
		reason string
		taints int
	}{
		{"no taint", pod("a"), node("n1"), "the node has no NoExecute taint", 0},
		{"a taint that evicts no pod", pod("a"), node("n1", parsed("gpu:NoSchedule")), "the node has no NoExecute taint", 1},
		{"all tolerated", pod("a", tolerates("", -1)), node("n1", parsed("gpu:NoExecute")), "every NoExecute taint of the node is tolerated forever", 1},
		{"no node", pod("a"), nil, "the node is not known", 0},
		{"not bound", pod("a", on("")), nil, "the pod is bound to no node", 0},
		{"finished", pod("a", in(v1.PodFailed)), node("n1", parsed("gpu:NoExecute")), "the pod has finished", 0},
		{"going already", pod("a", deleted), node("n1", parsed("gpu:NoExecute")), "the pod is already being deleted", 0},
	} {
		e := explain(c.pod, c.node)
		if e.Prediction.Evict || e.Prediction.Reason != c.reason || len(e.Taints) != c.taints || e.Warnings != nil {
			t.Errorf("%s: got %+v, %d taints, warnings %q", c.name, e.Prediction, len(e.Taints), e.Warnings)
		}
	}
}

func TestManagedFieldsAreShownAsWhatTheyAre(t *testing.T) {
	n := node("n1", parsed("gpu:NoExecute"))
	n.ManagedFields = []metav1.ManagedFieldsEntry{{
		Manager: "kubectl-taint", Time: new(metav1.NewTime(at(-3300))), FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`),
	}}
	e := explain(pod("a"), n)
	const want = `; managedFields: the taints were last written by "kubectl-taint" at about 11:05`
	if got := strings.Join(e.Taints[0].Arithmetic, "\n"); !strings.Contains(got, want) || e.Prediction.SinceFrom != foresight.NotKnown {
		t.Errorf("%s, from %s", got, e.Prediction.SinceFrom)
	}
}

func TestATaintOfThisSecondAndOneOfWhichNothingIsKnownCountFromNow(t *testing.T) {
	young := node("n1", parsed("gpu:NoExecute"))
	young.CreationTimestamp = metav1.Time{}
	for name, n := range map[string]*v1.Node{
		"timeAdded of this very second":           node("n1", timed("gpu:NoExecute", 0)),
		"timeAdded of the second before":          node("n1", timed("gpu:NoExecute", -1)),
		"nothing is known of the node's creation": young,
	} {
		if got := line(explain(pod("a"), n).Taints[0]); !strings.Contains(got, ": since 0s,") {
			t.Errorf("%s: %s", name, got)
		}
	}
}

// not-ready and unreachable count as one taint; while both are present, each is explained by itself.
func TestEachOfAPairOfTaintsIsExplainedByItself(t *testing.T) {
	e := explain(pod("a", tolerates("node.kubernetes.io/not-ready", 10), tolerates("node.kubernetes.io/unreachable", 300)),
		node("n1", timed("node.kubernetes.io/not-ready:NoExecute", -60), timed("node.kubernetes.io/unreachable:NoExecute", -30)))
	got := []string{line(e.Taints[0]), line(e.Taints[1])}
	want := []string{
		"node.kubernetes.io/not-ready:NoExecute: since -59s, node.kubernetes.io/not-ready op=Exists, goes at -49s",
		"node.kubernetes.io/unreachable:NoExecute: since -29s, node.kubernetes.io/unreachable op=Exists, goes at 4m1s",
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

func TestItIsNotedThatUnreachableMayHaveBegunAsNotReady(t *testing.T) {
	unreachable := timed("node.kubernetes.io/unreachable:NoExecute", -30)
	if explain(pod("a"), node("n1", unreachable)).Notes == nil {
		t.Error("not noted")
	}
	for name, objects := range map[string][]any{
		"another taint":    {pod("a", tolerates("node.kubernetes.io/unreachable", 300)), node("n1", unreachable, timed("gpu:NoExecute", -60))},
		"a pod that stays": {pod("a", tolerates("", -1)), node("n1", unreachable)},
		"a journal":        {pod("a"), node("n1", unreachable), recorded("uid-n1", 0, taint.History{{Taint: parsed("node.kubernetes.io/unreachable:NoExecute"), Since: at(-30)}})},
	} {
		if explainOf(objects...).Notes != nil {
			t.Errorf("noted for %s", name)
		}
	}
}

func TestExplainNotesWhatIsUnknownAboutEachTaint(t *testing.T) {
	p := pod("a", ownedBy("ReplicaSet/a"), tolerates("drain", 300), tolerates("slow", 36000))
	p.Spec.Tolerations[0].Effect = v1.TaintEffectNoExecute // counts for the NoSchedule taint of a policy
	for taint, note := range map[string]string{"slow:NoExecute": "unknown when their taints were set", "drain:NoSchedule": "this answer assumes now"} {
		n := node("n1", timed("gpu:NoExecute", -60), parsed(taint))
		e := explained(judgedBy(policies(drains("drain")), foresight.Focus{}, n, p), noon)
		if e.Prediction.Earliest != nil || !noted(e.Notes, note) || e.Taints[1].Toleration == "" {
			t.Errorf("%s: %q, %+v", taint, e.Notes, e.Taints[1])
		}
	}
}

func TestAPodIsGoneOnlyIfThePodsOfItsNamespaceWereListed(t *testing.T) {
	for listed, want := range map[string]string{"": "", "shop": "", "bank": "it is unknown whether the pod exists, because x has no list of the pods in namespace shop"} {
		m := must(load(foresight.Ruleset{}, foresight.Focus{}, foresight.Reading{Dumped: true, From: "x", PodNamespaces: map[string]bool{listed: true}}, happened("u1", -5, "Killing", "")))
		got := must(m.Explain("", "a", noon)) // the event names the namespace
		if strings.Join(got.Incomplete, "") != want || got.Pod.Gone != (want == "") {
			t.Errorf("%q is listed: %q, gone: %t", listed, got.Incomplete, got.Pod.Gone)
		}
	}
}

func TestWhatIsLeftOfAPodThatIsGoingOrGoneIsTold(t *testing.T) {
	event := func(reason string, e v1.Event) *v1.Event {
		e.Name, e.Reason, e.Type, e.Message = reason, reason, "Normal", "because"
		e.InvolvedObject = v1.ObjectReference{Namespace: "shop", Name: "a"}
		return &e
	}
	other, bank := event("other", v1.Event{}), event("bank", v1.Event{})
	other.InvolvedObject.Name, bank.InvolvedObject.Namespace = "b", "bank"
	events := []any{
		other, bank,
		event("third", v1.Event{EventTime: metav1.NewMicroTime(at(-1))}),
		event("first", v1.Event{LastTimestamp: metav1.NewTime(at(-9)), FirstTimestamp: metav1.NewTime(at(-99))}),
		event("second", v1.Event{FirstTimestamp: metav1.NewTime(at(-5))}),
	}
	want := []foresight.Event{
		{Time: at(-9), Type: "Normal", Reason: "first", Message: "because"},
		{Time: at(-5), Type: "Normal", Reason: "second", Message: "because"},
		{Time: at(-1), Type: "Normal", Reason: "third", Message: "because"},
	}
	gone := explainOf(events...)
	if diff := cmp.Diff(want, gone.Events); diff != "" || !gone.Pod.Gone || gone.Prediction != nil {
		t.Errorf("gone: %+v (-want +got):\n%s", gone.Pod, diff)
	}
	going := explainOf(append(events, node("n1"), pod("a", deleted, func(p *v1.Pod) {
		p.Status.Conditions = append(p.Status.Conditions, v1.PodCondition{
			Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "DeletionByTaintManager", Message: "m", LastTransitionTime: metav1.NewTime(at(-1)),
		})
	}))...)
	since, ends := at(-1), at(0)
	wantGoing := &foresight.Disruption{Reason: "DeletionByTaintManager", Message: "m", Since: &since}
	if diff := cmp.Diff(wantGoing, going.Disruption); diff != "" || !going.Pod.Ends.Equal(ends) || len(going.Events) != 3 || going.Pod.Gone {
		t.Errorf("going: %+v (-want +got):\n%s", going.Pod, diff)
	}
	if e := explain(pod("a", func(p *v1.Pod) {
		p.Status.Conditions[0].Type = v1.DisruptionTarget
		p.Status.Conditions[0].Status = "False"
	}), node("n1")); e.Disruption != nil {
		t.Errorf("a condition that is False: got %+v", e.Disruption)
	}
}

func TestTimesAreInUTC(t *testing.T) {
	e := explained(modelOf(foresight.Focus{}, pod("a"), node("n1", parsed("gpu:NoExecute"))), noon.In(time.FixedZone("", 7200)))
	if _, offset := e.Prediction.At.Zone(); offset != 0 || e.At.Location() != time.UTC {
		t.Errorf("got %v, %v", e.At, e.Prediction.At)
	}
}

// The prediction for a pod is the earliest of those by its taints one by one.
func TestTheTaintsOneByOneAddUpToThePodsFate(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := node("n1", rapid.SliceOfNDistinct(rapid.Custom(drawTaint), 0, 4, identity).Draw(t, "taints")...)
		p := pod("a")
		for range rapid.IntRange(0, 4).Draw(t, "tolerations") {
			tolerates(rapid.SampledFrom([]string{"a", "b", "c", ""}).Draw(t, "key"), rapid.Int64Range(-1, 100).Draw(t, "seconds"))(p)
		}
		e := explain(p, n)
		var first *foresight.Prediction
		for _, one := range e.Taints {
			if one.Prediction != nil && one.Prediction.Evict && (first == nil || one.Prediction.At.Before(*first.At)) {
				first = one.Prediction
			}
		}
		if e.Prediction.Evict != (first != nil) || first != nil && !first.At.Equal(*e.Prediction.At) {
			t.Fatalf("the pod %s, its taints %+v", told(e.Prediction), e.Taints)
		}
	})
}

// The arithmetic of each taint can be followed.
func TestTheArithmeticOfATaintCanBeFollowed(t *testing.T) {
	later := func(p *v1.Pod) { p.Status.Conditions[0].LastTransitionTime = metav1.NewTime(at(-20)) }
	for _, c := range []struct {
		name  string
		pod   *v1.Pod
		taint v1.Taint
		want  string
	}{
		{
			"rounded up", pod("a", tolerates("gpu", 300)), timed("gpu:NoExecute", -60),
			"timeAdded (when the taint was set) is rounded down to whole seconds, so the countdown starts at the next second, 2026-05-01T11:59:01Z; taint gpu:NoExecute (countdown started at 2026-05-01T11:59:01Z) is tolerated for 5m by toleration \"gpu op=Exists\"",
		},
		{
			"bound later", pod("a", later), timed("gpu:NoExecute", -60),
			"timeAdded (when the taint was set) is rounded down to whole seconds, so the countdown starts at the next second, 2026-05-01T11:59:01Z; taint gpu:NoExecute (countdown started at 2026-05-01T11:59:41Z) is not tolerated",
		},
		{
			"in the future", pod("a", tolerates("gpu", 60)), timed("gpu:NoExecute", 60),
			"timeAdded (2026-05-01T12:01:00Z) is in the future or before the node was created, and the journal does not say when the taint was set. It was set between 2026-05-01T02:00:00Z (node created) and 2026-05-01T12:00:00Z; the pod was assigned to the node at 2026-05-01T03:00:00Z, so its countdown started then or later; taint gpu:NoExecute (countdown started between 2026-05-01T03:00:00Z and 2026-05-01T12:00:00Z) is tolerated for 1m by toleration \"gpu op=Exists\"",
		},
		{
			"before the node", pod("a", tolerates("gpu", -1)), timed("gpu:NoExecute", -90000),
			"timeAdded (2026-04-30T11:00:00Z) is in the future or before the node was created, and the journal does not say when the taint was set. It was set between 2026-05-01T02:00:00Z (node created) and 2026-05-01T12:00:00Z; the pod was assigned to the node at 2026-05-01T03:00:00Z, so its countdown started then or later",
		},
	} {
		e := explain(c.pod, node("n1", c.taint))
		if diff := cmp.Diff(c.want, strings.Join(e.Taints[0].Arithmetic, "; ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s", c.name, diff)
		}
	}
}

func TestWhereTheBuiltinControllerWouldDecideOtherwiseIsSaid(t *testing.T) {
	gpu, disk := timed("gpu=9:NoExecute", -60), timed("disk:NoExecute", -30)
	numeric := func(p *v1.Pod) {
		p.Spec.Tolerations = []v1.Toleration{{Key: "gpu", Operator: v1.TolerationOpGt, Value: "5"}}
	}
	asks := policies(policy.Policy{Name: "asks", Method: policy.Evict, Match: policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}})
	for _, c := range []struct {
		name string
		by   foresight.Ruleset
		pod  *v1.Pod
		want string // its beginning
	}{
		{"evicted at the same time", asks, pod("a"), "with its taint eviction on, it would delete the pod at 2026-05-01T11:59:01Z"},
		{"alike", foresight.Ruleset{}, pod("a"), ""},
		{"a pod that stays", foresight.Ruleset{}, pod("a", tolerates("", -1)), ""},
		{"one countdown", foresight.Ruleset{}, pod("a", tolerates("gpu", 300), tolerates("disk", -1)), ""},
		{"the later taint counts", foresight.Ruleset{}, pod("a", tolerates("gpu", 300), tolerates("disk", 30)), "its countdown started with taint gpu=9:NoExecute, and no other taint changes it"},
		{"the earlier taint counts", foresight.Ruleset{}, pod("a", tolerates("gpu", 30), tolerates("disk", 300)), ""},
		{"numbers", foresight.Ruleset{}, pod("a", numeric, tolerates("disk", -1)), "with the feature gate TaintTolerationComparisonOperators off, "},
		{"too many seconds", foresight.Ruleset{}, pod("a", tolerates("gpu", 18446744074), tolerates("disk", -1)), "it counts tolerationSeconds in nanoseconds, "},
		{"finished", foresight.Ruleset{}, pod("a", in(v1.PodSucceeded)), ""},
		{"being deleted", foresight.Ruleset{}, pod("a", deleted), ""},
		{"finished, with too many seconds", foresight.Ruleset{}, pod("a", in(v1.PodSucceeded), tolerates("gpu", 18446744074)), ""},
	} {
		m := judgedBy(c.by, foresight.Focus{}, c.pod, node("n1", gpu, disk))
		got, planned := explained(m, noon).Builtin, must(m.Plan(ask("other:NoSchedule"))).Pods[0].Builtin
		if !strings.HasPrefix(got, c.want) || (got == "") != (c.want == "") || planned != got {
			t.Errorf("%s: got %q and %q, want %q", c.name, got, planned, c.want)
		}
	}
}

func TestAPodThatShouldBeGoneIsStuck(t *testing.T) {
	since := func(seconds float64, finalizers ...string) func(*v1.Pod) {
		return func(p *v1.Pod) {
			ends := metav1.NewTime(at(seconds))
			p.DeletionTimestamp, p.Finalizers = &ends, finalizers
		}
	}
	unreachable := node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60))
	with := func(s v1.ContainerState) func(*v1.Pod) {
		return func(p *v1.Pod) { p.Status.ContainerStatuses = []v1.ContainerStatus{{State: s}} }
	}
	runs, ended := with(v1.ContainerState{Running: &v1.ContainerStateRunning{}}), with(v1.ContainerState{Terminated: &v1.ContainerStateTerminated{}})
	for _, c := range []struct {
		name string
		pod  *v1.Pod
		node *v1.Node
		want string // a part
	}{
		{"within its grace period", pod("a", since(5)), node("n1"), ""},
		{"a moment later", pod("a", since(-9)), node("n1"), ""},
		{"a finalizer", pod("a", since(-11, "example.com/keep")), node("n1"), "it has finalizers (example.com/keep): check the controllers"},
		{"a finalizer, and the kubelet", pod("a", since(-11, "example.com/keep"), runs), unreachable, "it has finalizers (example.com/keep): check the controllers that remove them; and the kubelet does not confirm"},
		{"the finalizer of a Job, which waits for the kubelet", pod("a", since(-11, "batch.kubernetes.io/job-tracking"), runs), unreachable, "the kubelet does not confirm"},
		{"a finalizer of a pod that has stopped", pod("a", since(-11, "example.com/keep"), ended), node("n1"), "it has finalizers (example.com/keep): check the controllers that remove them"},
		{"a volume", pod("a", since(-11), ended), node("n1"), "its containers have stopped, and the kubelet still cleans up: check the kubelet's log for volumes"},
		{"containers that run", pod("a", since(-11), runs), node("n1"), "the kubelet has not confirmed that it has stopped"},
		{"an unreachable node", pod("a", since(-11)), unreachable, "node.kubernetes.io/out-of-service"},
		{"a node that is out of service already", pod("a", since(-11)), node("n1", unreachable.Spec.Taints[0], parsed("node.kubernetes.io/out-of-service:NoExecute")), "its node has the taint node.kubernetes.io/out-of-service"},
		{"no node", pod("a", since(-11)), nil, "the pod garbage collector"},
		{"a node that is well", pod("a", since(-11)), node("n1"), "check the kubelet's log"},
	} {
		if got := explain(c.pod, c.node).Stuck; !strings.Contains(got, c.want) || (got == "") != (c.want == "") {
			t.Errorf("%s: got %q, want %q", c.name, got, c.want)
		}
	}
}

func TestTheBudgetsThatSelectAPodAreNamed(t *testing.T) {
	web := labelled("app", "web")
	got := explainOf(pod("a", web), node("n1"), budget("web", 2), budget("api", 1)).Budgets
	if diff := cmp.Diff([]foresight.ExplainedBudget{{Name: "web", Admits: 2, Asked: true}}, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	dead, requires := node("n1", timed("node.kubernetes.io/unreachable:NoExecute", -60)), budget("web", 0, expects(3), healthy(0, 2))
	for want, objects := range map[foresight.ExplainedBudget][]any{
		{Name: "web", Asked: true, Stuck: true}: {pod("b", web, unready), requires},
		{Name: "web", Asked: true}:              {pod("b", web), pod("c", web, in(v1.PodFailed)), requires},
		{Name: "web"}:                           {pod("b", web, unready), budget("web", 0, expects(3), healthy(0, 2), unhealthy(policyv1.AlwaysAllow))},
	} {
		if got := explainOf(append(objects, pod("a", web, unready), dead)...).Budgets; len(got) != 1 || got[0] != want {
			t.Errorf("a dead node: got %+v, want %+v", got, want)
		}
	}
	got = explainOf(pod("a", web, in(v1.PodPending)), node("n1"), budget("web", 0)).Budgets
	if diff := cmp.Diff([]foresight.ExplainedBudget{{Name: "web"}}, got); diff != "" {
		t.Errorf("a pending pod (-want +got):\n%s", diff)
	}
	if got := explainOf(pod("a", web, in(v1.PodFailed)), node("n1"), budget("web", 0)).Budgets; got != nil {
		t.Errorf("a finished pod: got %v", got)
	}
}
