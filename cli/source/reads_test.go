package source

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/version"
	fakediscovery "k8s.io/client-go/discovery/fake"
	"k8s.io/client-go/kubernetes/fake"
	k8stesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/internal/foresight"
	"github.com/taint-manager/taint-manager/policy"
)

// lists returns the lists that a client has requested, except those of the journal, in the form of kubectl's arguments.
func lists(client *fake.Clientset) (all []string) {
	for _, a := range client.Actions() {
		list, ok := a.(k8stesting.ListActionImpl)
		if !ok {
			continue
		}
		request := list.Resource.Resource
		if list.Namespace != "" {
			request += " -n " + list.Namespace
		}
		if where := list.ListOptions.FieldSelector; where != "" {
			request += " where " + where
		}
		if with := list.ListOptions.LabelSelector; with != "" {
			request += " with " + with
		}
		all = append(all, request)
	}
	return all
}

// docs/dumps.md, "In a cluster", says what each command may list. A question reads no more than its answer needs.
func TestAQuestionReadsWhatItsAnswerNeeds(t *testing.T) {
	in := foresight.Focus{Namespace: "shop"}
	web := in
	web.Labels = labels.SelectorFromSet(labels.Set{"app": "web"})
	prod := policy.Match{NamespaceSelector: &metav1.LabelSelector{MatchLabels: map[string]string{"tier": "prod"}}}
	labelled, err := foresight.NewRuleset(policy.Config{Policies: []policy.Policy{{Name: "prod", Method: policy.Hold, Match: prod}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	guarded, err := foresight.NewRuleset(policy.Config{Guards: policy.Guards{Breakers: []policy.Breaker{half}}}, false)
	if err != nil {
		t.Fatal(err)
	}
	const (
		bound     = "pods -n shop where spec.nodeName!=,status.phase!=Succeeded,status.phase!=Failed"
		evictions = "events -n shop where involvedObject.kind=Pod,reason=TaintManagerEviction"
	)
	about := []string{
		"pods -n shop where metadata.name=a", "events -n shop where involvedObject.kind=Pod,involvedObject.name=a",
		"nodes where metadata.name=n1", "poddisruptionbudgets -n shop",
	}
	devices := []string{"resourceslices", "devicetaintrules", "resourceclaims -n shop"}
	everything := []string{"nodes", "pods -n shop", "poddisruptionbudgets -n shop"}
	ofShop := "namespaces where metadata.name=shop"
	for name, c := range map[string]struct {
		scope   Scope
		tainted bool // n1 is
		claims  bool // the pod claims a device
		want    []string
	}{
		"plan":                                {Scope{Focus: in}, false, false, everything},
		"plan, with a claim":                  {Scope{Focus: in}, false, true, slices.Concat(everything, devices)},
		"plan of a device":                    {Scope{Focus: in, Devices: true}, false, false, slices.Concat(everything, devices)},
		"plan, by labels of namespaces":       {Scope{Focus: in, Rules: labelled}, false, false, append(slices.Clone(everything), ofShop)},
		"plan, compared with such a file":     {Scope{Focus: in, Compared: &labelled}, false, false, append(slices.Clone(everything), ofShop)},
		"pending, without a taint":            {Scope{Focus: in, Scheduled: true}, false, false, []string{"nodes"}},
		"pending":                             {Scope{Focus: in, Scheduled: true}, true, false, []string{"nodes", bound, evictions}},
		"pending, by labels":                  {Scope{Focus: web, Scheduled: true}, true, false, []string{"nodes", bound + " with app=web", evictions}},
		"pending of a node":                   {Scope{Focus: in, Scheduled: true, Nodes: []string{"n1"}}, true, false, []string{"nodes where metadata.name=n1", strings.Replace(bound, "!=", "=n1", 1), evictions}},
		"pending of a node without a taint":   {Scope{Focus: in, Scheduled: true, Nodes: []string{"n2"}}, true, false, []string{"nodes where metadata.name=n2"}},
		"pending of nodes, of which one is":   {Scope{Focus: in, Scheduled: true, Nodes: []string{"n1", "n2"}}, true, false, []string{"nodes", bound, evictions}},
		"pending of a node, with breakers":    {Scope{Focus: in, Scheduled: true, Nodes: []string{"n2"}, Rules: guarded}, true, false, []string{"nodes"}},
		"pending, until all pods have gone":   {Scope{Focus: in, Scheduled: true, AllPods: true}, false, false, []string{"nodes", "pods -n shop where spec.nodeName!="}},
		"pending of devices":                  {Scope{Focus: in, Scheduled: true, Devices: true}, false, false, append([]string{"nodes"}, devices...)},
		"explain":                             {Scope{Focus: in, Pod: "a"}, false, false, about},
		"explain, with a claim":               {Scope{Focus: in, Pod: "a"}, false, true, slices.Concat(about, devices)},
		"explain, by a rate, without a taint": {Scope{Focus: in, Pod: "a", Rules: foresight.Ruleset{MaxEvictionsPerSecond: 1}}, false, false, about},
	} {
		n1 := &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", UID: "n1"}}
		if c.tainted {
			n1.Spec.Taints = []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute}}
		}
		pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "a", UID: "a"}, Spec: v1.PodSpec{NodeName: "n1"}}
		if c.claims {
			pod.Spec.ResourceClaims = []v1.PodResourceClaim{{Name: "gpu", ResourceClaimName: new("gpu")}}
		}
		client := fake.NewClientset(n1, &v1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n2", UID: "n2"}}, pod,
			&v1.Namespace{ObjectMeta: metav1.ObjectMeta{Name: "shop"}})
		client.Discovery().(*fakediscovery.FakeDiscovery).FakedServerVersion = &version.Info{GitVersion: "v1.37.2"}
		from := Cluster{client: client, server: "here", now: time.Now, location: usual}
		if _, err := Load(t.Context(), from, &c.scope); err != nil {
			t.Errorf("%s: %v", name, err)
		}
		if diff := cmp.Diff(c.want, lists(client)); diff != "" {
			t.Errorf("%s: (-want +got):\n%s", name, diff)
		}
	}
}
