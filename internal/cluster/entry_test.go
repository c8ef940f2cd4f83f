package cluster

import (
	"fmt"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/utils/ptr"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// An entry and its node lead to the verdict to which the whole pod leads, by all rules, and with policies whose
// triggers are among the needs.
func TestAnEntryDecidesAsTheWholePodDoes(t *testing.T) {
	keys, values := []string{"", "a", "b"}, []string{"", "1", "2"}
	effects := []v1.TaintEffect{"", v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, v1.TaintEffectPreferNoSchedule}
	operators := []v1.TolerationOperator{"", v1.TolerationOpEqual, v1.TolerationOpExists, v1.TolerationOpLt, v1.TolerationOpGt, "Roughly"}
	toleration := rapid.Custom(func(t *rapid.T) v1.Toleration {
		return v1.Toleration{
			Key: rapid.SampledFrom(keys).Draw(t, "key"), Operator: rapid.SampledFrom(operators).Draw(t, "operator"),
			Value: rapid.SampledFrom(values).Draw(t, "value"), Effect: rapid.SampledFrom(effects).Draw(t, "effect"),
			TolerationSeconds: rapid.Ptr(rapid.Int64(), true).Draw(t, "seconds"),
		}
	})
	history := func(effect v1.TaintEffect) *rapid.Generator[taint.History] {
		return rapid.Custom(func(t *rapid.T) (h taint.History) {
			for range rapid.IntRange(1, 3).Draw(t, "states") {
				h = append(h, taint.State{Taint: v1.Taint{
					Key: rapid.SampledFrom(keys[1:]).Draw(t, "key"), Value: rapid.SampledFrom(values).Draw(t, "value"), Effect: effect,
				}, Since: time.Unix(int64(len(h)), 0)})
			}
			return h
		})
	}
	rapid.Check(t, func(t *rapid.T) {
		needs := needing(policy.Needs{Triggers: []string{"a"}, Audited: []string{"b"}})
		p := aPod(func(p *v1.Pod) { p.Spec.Tolerations = rapid.SliceOf(toleration).Draw(t, "tolerations") })
		e, whole := newPods(needs).entryOf(p, time.Unix(0, 0)), PodOf(p, time.Unix(0, 0))
		node := &taint.Node{
			Name:     "n",
			Taints:   rapid.SliceOfN(history(v1.TaintEffectNoExecute), 0, 2).Draw(t, "taints"),
			Triggers: rapid.SliceOfN(history(v1.TaintEffectNoSchedule), 0, 2).Draw(t, "triggers"),
		}
		pod := e.against(taintsOf(node))
		for _, rules := range []taint.Rules{{}, {NoComparison: true}} {
			got, want := taint.Decide(pod, node, rules), taint.Decide(&whole, node, rules)
			if got.Stay != want.Stay || !got.At.Equal(want.At) || got.Taint != want.Taint {
				t.Fatalf("with %+v: %+v, want %+v", rules, got, want)
			}
			for _, state := range taintsOf(node) {
				if toleratesForever(pod, &state, rules) != toleratesForever(&whole, &state, rules) {
					t.Fatalf("with %+v the state %+v is tolerated otherwise", rules, state)
				}
			}
		}
		if len(pod.Tolerations) > 4*len(taintsOf(node)) {
			t.Fatalf("%d tolerations", len(pod.Tolerations))
		}
	})
}

func TestTolerationsAreEncodedWithoutLoss(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.StringN(0, 300, -1)
		var list []v1.Toleration
		for range rapid.IntRange(0, 5).Draw(t, "number") {
			list = append(list, v1.Toleration{
				Key: text.Draw(t, "key"), Operator: v1.TolerationOperator(text.Draw(t, "operator")), Value: text.Draw(t, "value"),
				Effect: rapid.SampledFrom([]v1.TaintEffect{"", v1.TaintEffectNoExecute}).Draw(t, "effect"), TolerationSeconds: rapid.Ptr(rapid.Int64(), true).Draw(t, "seconds"),
			})
		}
		i := 0
		for got := range encode(list, &policy.Needs{}).all() {
			if !got.MatchToleration(&list[i]) || !ptr.Equal(got.TolerationSeconds, list[i].TolerationSeconds) {
				t.Fatalf("got %+v, want %+v", got, list[i])
			}
			i++
		}
		if i != len(list) {
			t.Fatalf("%d tolerations, want %d", i, len(list))
		}
	})
}

// Each pod is as large as the API server takes it, in one of its parts. An entry of most of them is small. Tolerations
// that may match a taint that evicts cost no more than they take in the API server.
func TestAPodCostsNoMoreThanTheAPIServerStoresOfIt(t *testing.T) {
	const limit = 1_200_000
	for name, c := range map[string]struct {
		fill func(p *v1.Pod, i int)
		kept float64 // the part of the pod that is kept
	}{
		"labels":      {func(p *v1.Pod, i int) { p.Labels[fmt.Sprintf("%05x", i)] = "" }, 0.01},
		"annotations": {func(p *v1.Pod, i int) { p.Annotations[fmt.Sprintf("%05x", i)] = "" }, 0.01},
		"owner references": {func(p *v1.Pod, i int) {
			p.OwnerReferences = append(p.OwnerReferences, metav1.OwnerReference{Kind: "K", Name: fmt.Sprintf("%d", i), Controller: new(true)})
		}, 0.01},
		"tolerations of other effects": {func(p *v1.Pod, i int) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("%d", i), Operator: "Exists", Effect: "NoSchedule"})
		}, 0.01},
		"tolerations": {func(p *v1.Pod, i int) {
			p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: fmt.Sprintf("%d", i), Operator: "Exists"})
		}, 1},
	} {
		const many = 10
		s, _ := newBenchStores()
		before, stored := heap(), 0
		for i := range many {
			p := aPod(func(p *v1.Pod) {
				p.Annotations, p.Name, p.UID = map[string]string{}, fmt.Sprint("p", i), typesUID("u%d", i)
			})
			c.fill(p, i)
			for filled, size := 1, p.Size(); size < limit; filled, size = 2*filled, p.Size() {
				for n := range filled {
					c.fill(p, i*1_000_000+filled+n)
				}
			}
			must(t, s.podStore.Add(p))
			must(t, s.podStore.Update(p.DeepCopy()))
			stored += p.Size()
		}
		got, want := float64(heap()-before), c.kept*float64(stored)
		if got > want || len(s.pods.byUID) != many {
			t.Errorf("%s: %d pods of %d bytes take %.0f, want at most %.0f", name, len(s.pods.byUID), stored, got, want)
		}
	}
}

func TestAnOwnersTextsAreCut(t *testing.T) {
	long := string(make([]byte, 1_000_000))
	e := newPods(newNeeds()).entryOf(aPod(controlledBy(long, long)), time.Time{})
	if len(e.Controller.Kind) != 63 || len(e.Controller.Name) != 253 {
		t.Errorf("a kind of %d bytes, a name of %d", len(e.Controller.Kind), len(e.Controller.Name))
	}
}
