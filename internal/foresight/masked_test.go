package foresight_test

import (
	"fmt"
	"strings"
	"testing"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// scrubbed returns a model of the objects of a dump in which a redactor may have masked values.
func scrubbed(by foresight.Ruleset, focus foresight.Focus, objects ...any) *foresight.Model {
	b := foresight.NewBuilder(by, focus).New(func(value string) bool { return value == "REDACTED" })
	for _, o := range objects {
		b.Add(o)
	}
	return must(b.Load(foresight.Reading{From: "x", Dumped: true, At: noon}, foresight.Moment{At: noon}))
}

const unknown = "1 pod has a masked value that decides, in spec.nodeName, a taint, a toleration or a label, so the answer for these pods is unknown"

// A pod that may be on a node in question, or in the focus, is never left out without a word.
func TestAPodThatAMaskHidesIsCounted(t *testing.T) {
	mirror := func(p *v1.Pod) { metav1.SetMetaDataAnnotation(&p.ObjectMeta, v1.MirrorPodAnnotationKey, "x") }
	for _, c := range []struct {
		name, selector string
		pod            *v1.Pod
		pending, plan  string
	}{
		{"its node", "", pod("a", on("REDACTED")), "|" + unknown, "|" + unknown},
		{"its node, but no taint evicts it", "", pod("a", on("REDACTED"), mirror), "|", "|"},
		{"a label that the selector requires", "app=x", pod("a", labelled("app", "REDACTED")), "|" + unknown, "|" + unknown},
		{"a label that the selector forbids", "app!=x", pod("a", labelled("app", "REDACTED")), "|" + unknown, "|" + unknown},
		{"a label that need only be there", "app", pod("a", labelled("app", "REDACTED")), "shop/a|", "shop/a|"},
		{"a label, but another does not match", "app=x,tier=b", pod("a", labelled("app", "REDACTED"), labelled("tier", "a")), "|", "|"},
		{"a label, on a node that gets a taint", "app=x", pod("a", labelled("app", "REDACTED"), on("n2")), "|", "|" + unknown},
		{"a toleration's key", "", pod("a", toleration("REDACTED", "Exists", "")), "|" + unknown, "|" + unknown},
		{"a toleration's key, for another effect", "", pod("a", toleration("REDACTED", "Exists", ""), func(p *v1.Pod) { p.Spec.Tolerations[0].Effect = v1.TaintEffectNoSchedule }), "shop/a|", "shop/a|"},
		{"a toleration's key, after one that matches gpu", "", pod("a", toleration("gpu", "Equal", ""), toleration("REDACTED", "Exists", "")), "|", "|" + unknown},
		{"another label", "tier=b", pod("a", labelled("app", "REDACTED"), labelled("tier", "b")), "shop/a|", "shop/a|"},
	} {
		focus := foresight.Focus{}
		if c.selector != "" {
			focus.Labels = selects(c.selector)
		}
		m := scrubbed(foresight.Ruleset{}, focus, node("n1", timed("gpu:NoExecute", -60)), node("n2"), c.pod)
		pending := m.Pending(noon, []string{"n1", "n2"})
		if got := strings.Join(pending.Names(), " ") + "|" + strings.Join(pending.Incomplete, "|"); got != c.pending {
			t.Errorf("%s: pending: %s", c.name, got)
		}
		q := ask("disk:NoExecute")
		q.Names = []string{"n1", "n2"}
		p := must(m.Plan(q))
		var names []string
		for _, pod := range p.Pods {
			if pod.Evict {
				names = append(names, pod.String())
			}
		}
		if got := strings.Join(names, " ") + "|" + strings.Join(p.Incomplete, "|"); got != c.plan {
			t.Errorf("%s: plan: %s", c.name, got)
		}
	}
}

func TestANodeThatMayBeSelectedIsCounted(t *testing.T) {
	const unknown = "1 node has a masked value that decides, in a label that the selector names, so the answer for these nodes is unknown"
	zoned := func(name, zone string) *v1.Node {
		n := node(name)
		n.Labels = map[string]string{"zone": zone}
		return n
	}
	for _, c := range []struct{ selector, want string }{
		{"zone=a", "n1: " + unknown},
		{"zone!=b", "n1: " + unknown},
		{"zone=b", "cannot tell which nodes match zone=b: " + unknown},
		{"zone", "n1 n2: "},
		{"zone=a,rack=r", "no node matches rack=r,zone=a"},
	} {
		q := ask("gpu:NoExecute")
		q.Selection = foresight.Selection{Selector: selects(c.selector)}
		p, err := scrubbed(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, zoned("n1", "a"), zoned("n2", "REDACTED")).Plan(q)
		got := fmt.Sprint(err)
		if err == nil {
			var names []string
			for i := range p.Nodes {
				names = append(names, p.Nodes[i].Name)
			}
			got = strings.Join(names, " ") + ": " + strings.Join(p.Incomplete, "|")
		}
		if got != c.want {
			t.Errorf("%s: got %s", c.selector, got)
		}
	}
}

// The taint that a change sets or removes may be one of which a mask hides the key or the value.
func TestANodeIsCountedIfAMaskHidesTheTaintThatAChangeConcerns(t *testing.T) {
	const unknown = "1 node has a masked value that decides, in a taint, so the answer for these nodes is unknown"
	for _, c := range []struct{ taint, change, want string }{
		{"REDACTED:NoExecute", "gpu=a:NoExecute", "added: " + unknown},
		{"REDACTED:NoExecute", "gpu=a:NoSchedule", "added: "},
		{"gpu=REDACTED:NoExecute", "gpu=a:NoExecute", "replaced: " + unknown},
		{"gpu=REDACTED:NoExecute", "gpu:NoExecute-", "removed: "},
		{"disk=REDACTED:NoExecute", "gpu=a:NoExecute", "added: "},
		{"REDACTED:NoSchedule", "gpu-", "cannot tell which nodes have the taint gpu: " + unknown},
		{"REDACTED:NoSchedule", "gpu:NoExecute-", "taint gpu:NoExecute not found on n1"},
		{"REDACTED:NoSchedule", "gpu=a:NoExecute disk=b:NoSchedule", "added: " + unknown},
	} {
		q := ask(strings.Fields(c.change)...)
		p, err := scrubbed(foresight.Ruleset{}, foresight.Focus{Nodes: &q.Selection}, node("n1", timed(c.taint, -60))).Plan(q)
		got := fmt.Sprint(err)
		if err == nil {
			got = p.Nodes[0].Changes[0].Change + ": " + strings.Join(p.Incomplete, "|")
		}
		if got != c.want {
			t.Errorf("%s, changed by %s: got %s", c.taint, c.change, got)
		}
	}
}

// The policy may be one of --config, or of --compare.
func TestAPodIsCountedIfAMaskHidesItsPolicy(t *testing.T) {
	const lacking = "the labels of one namespace (shop), by which policies select, are unknown (these namespaces were not found): pods there count as held"
	tier, noSchedule := &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}, []v1.TaintEffect{v1.TaintEffectNoSchedule}
	for name, c := range map[string]struct {
		match     policy.Match
		taint     string
		namespace string // its label; empty if it is missing
		want      string // what is unknown
	}{
		"a label of the pod":               {policy.Match{PodSelector: tier}, "gpu:NoExecute", "prod", unknown},
		"a label of the namespace":         {policy.Match{NamespaceSelector: tier}, "gpu:NoExecute", "REDACTED", unknown},
		"a label that no policy names":     {policy.Match{}, "gpu:NoExecute", "REDACTED", ""},
		"no namespace":                     {policy.Match{NamespaceSelector: tier}, "gpu:NoExecute", "", lacking},
		"a label of the node":              {policy.Match{NodeSelector: tier}, "gpu:NoExecute", "prod", unknown},
		"the taint's value":                {policy.Match{Taints: []policy.Taint{{Key: "gpu", Values: []string{"a"}}}}, "gpu=REDACTED:NoExecute", "", unknown},
		"a value that no policy names":     {policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, "gpu=REDACTED:NoExecute", "", ""},
		"the taint's key":                  {policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, "REDACTED:NoExecute", "", unknown},
		"the key of a trigger":             {policy.Match{Taints: []policy.Taint{{Key: "gpu", Effects: noSchedule}}}, "REDACTED:NoSchedule", "", unknown},
		"the key of a taint of no trigger": {policy.Match{Taints: []policy.Taint{{Key: "gpu"}}}, "REDACTED:NoSchedule", "", ""},
	} {
		by := policies(policy.Policy{Name: "a", Method: policy.Delete, Match: c.match, Tolerations: &policy.Tolerations{Absent: lasting(0)}})
		objects := []any{node("n1", timed(c.taint, -60)), pod("a", labelled("tier", "REDACTED"))}
		objects[0].(*v1.Node).Labels["rack"] = "REDACTED"
		if c.namespace != "" {
			objects = append(objects, &v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop", Labels: map[string]string{"tier": c.namespace}}})
		}
		pending := scrubbed(by, foresight.Focus{Nodes: &foresight.Selection{}}, objects...).Pending(noon, nil)
		if got := strings.Join(pending.Incomplete, "|"); got != c.want {
			t.Errorf("%s: pending: %s", name, got)
		}
		q := ask("disk:PreferNoSchedule")
		q.Compare = &by
		p := must(scrubbed(foresight.Ruleset{}, foresight.Focus{}, objects...).Plan(q))
		if got := strings.Join(p.Incomplete, "|"); got != c.want || p.BudgetsUnknown {
			t.Errorf("%s: compared: %s, %q", name, got, p.Notes)
		}
	}
}
