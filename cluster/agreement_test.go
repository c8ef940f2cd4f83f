package cluster

import (
	"bytes"
	"maps"
	"reflect"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/serializer/protobuf"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/cluster/wire"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// For any pod, with any field set, the result of converting it is the same whether it was decoded whole or trimmed, and
// independent of what was seen of it before. The test therefore finds a field that this package reads and package wire
// does not decode.
func TestWhatIsMadeOfATrimmedPodIsWhatIsMadeOfTheWhole(t *testing.T) {
	pods, specs, texts, now := anyObject[v1.Pod](), anyObject[[]v1.Toleration](), anyObject[map[string]string](), time.Now()
	rapid.Check(t, func(t *rapid.T) {
		pod := pods.Draw(t, "pod")
		last := PodOf(&pod, now)
		last.Tolerations = rapid.OneOf(rapid.Just(last.Tolerations), specs).Draw(t, "last tolerations")
		last.Controller = rapid.SampledFrom([]*taint.Owner{last.Controller, nil, {Kind: "ReplicaSet", Name: "web"}}).Draw(t, "last controller")
		last.Labels = rapid.OneOf(rapid.Just(last.Labels), texts).Draw(t, "last labels")
		seen := rapid.SampledFrom([]*taint.Pod{nil, {}, &last}).Draw(t, "last seen")
		whole, trimmed := overTheWire(t, &pod, wire.Lookup{Pod: func([]byte) *taint.Pod { return seen }})
		if diff := cmp.Diff(PodOf(whole, now), PodOf(trimmed, now)); diff != "" {
			t.Errorf("whole (-) and trimmed (+):\n%s", diff)
		}
		if whole, trimmed := BoundSince(whole, now), BoundSince(trimmed, now); !whole.Equal(trimmed) {
			t.Errorf("bound since %s when whole, and since %s when trimmed", whole, trimmed)
		}
	})
}

func TestWhatIsSeenOfATrimmedNodeIsWhatIsSeenOfTheWhole(t *testing.T) {
	drawn, texts := anyObject[v1.Node](), anyObject[map[string]string]()
	for _, labels := range []bool{false, true} {
		table := newNodes(taint.Rules{}, nil, nil)
		table.needs.Store(&policy.Needs{NodeLabels: labels})
		rapid.Check(t, func(t *rapid.T) {
			node := drawn.Draw(t, "node")
			last := rapid.OneOf(rapid.Just(node.Labels), texts).Draw(t, "last labels")
			table.put(seenNode{Node: &taint.Node{Name: node.Name, Labels: last}})
			whole, trimmed := overTheWire(t, &node, wire.Lookup{Node: table.recall})
			if diff := cmp.Diff(table.lookAt(whole), table.lookAt(trimmed), cmp.AllowUnexported(look{})); diff != "" {
				t.Errorf("whole (-) and trimmed (+):\n%s", diff)
			}
			if !labels && trimmed.Labels != nil {
				t.Error("labels are decoded that nobody needs")
			}
		})
	}
}

func TestOfATrimmedNamespaceThereAreItsNameAndItsLabels(t *testing.T) {
	drawn := anyObject[v1.Namespace]()
	rapid.Check(t, func(t *rapid.T) {
		namespace := drawn.Draw(t, "namespace")
		whole, trimmed := overTheWire(t, &namespace, wire.Lookup{})
		if whole.Name != trimmed.Name || !maps.Equal(whole.Labels, trimmed.Labels) {
			t.Errorf("got %q with %v, want %q with %v", trimmed.Name, trimmed.Labels, whole.Name, whole.Labels)
		}
	})
}

// Protobuf encodes a zero timeAdded; JSON does not.
func TestATimeAddedOfZeroIsNone(t *testing.T) {
	whole, trimmed := overTheWire(t, aNode(v1.Taint{Key: "k", TimeAdded: &metav1.Time{}}), wire.Lookup{})
	if whole.Spec.Taints[0].TimeAdded == nil {
		t.Fatal("the API's own decoder makes it none by itself")
	}
	for kind, node := range map[string]*v1.Node{"whole": whole, "trimmed": trimmed} {
		if added := newNodes(taint.Rules{}, nil, nil).lookAt(node).taints[0].TimeAdded; added != nil {
			t.Errorf("%s: got %v, want none", kind, added)
		}
	}
}

// overTheWire returns the object as the API's own decoder and the trimming one return it.
func overTheWire[T runtime.Object](t rapid.TB, object T, lookup wire.Lookup) (whole, trimmed T) {
	var body bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), v1.SchemeGroupVersion)
	if err := encoder.Encode(object, &body); err != nil {
		t.Fatal(err)
	}
	one, _, err := scheme.Codecs.UniversalDeserializer().Decode(body.Bytes(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := wire.Decode(body.Bytes(), lookup)
	if err != nil {
		t.Fatal(err)
	}
	return one.(T), other.(T)
}

// anyObject draws values with any field set. It prefers fields that this program reads, and limits those that only cost
// time.
func anyObject[T any]() *rapid.Generator[T] {
	return rapid.MakeCustom[T](rapid.MakeConfig{Types: map[reflect.Type]*rapid.Generator[any]{
		reflect.TypeFor[metav1.Time](): rapid.Custom(func(t *rapid.T) any {
			return metav1.Unix(rapid.Int64Range(-1e9, 1e10).Draw(t, "seconds"), rapid.Int64Range(0, 999_999_999).Draw(t, "nanos"))
		}),
		reflect.TypeFor[map[string]string](): rapid.MapOfN(oneOf[string](v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey, "app", "tier", ""),
			oneOf[string]("true", "web", ""), -1, 3).AsAny(),
		reflect.TypeFor[[]v1.Container]():        oneOf([]v1.Container{}, []v1.Container{{Name: "c", Image: "image"}}).AsAny(),
		reflect.TypeFor[[]v1.Volume]():           oneOf([]v1.Volume{}, []v1.Volume{{Name: "v"}}).AsAny(),
		reflect.TypeFor[*v1.Affinity]():          oneOf(nil, &v1.Affinity{NodeAffinity: &v1.NodeAffinity{}}).AsAny(),
		reflect.TypeFor[resource.Quantity]():     rapid.Just[any](resource.MustParse("1")),
		reflect.TypeFor[v1.PodConditionType]():   oneOf(v1.PodScheduled, v1.DisruptionTarget, v1.PodReady).AsAny(),
		reflect.TypeFor[v1.ConditionStatus]():    oneOf(v1.ConditionTrue, v1.ConditionFalse, "").AsAny(),
		reflect.TypeFor[v1.PodPhase]():           oneOf(v1.PodRunning, v1.PodPending, v1.PodFailed, "").AsAny(),
		reflect.TypeFor[v1.TaintEffect]():        oneOf(v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule, "").AsAny(),
		reflect.TypeFor[v1.TolerationOperator](): oneOf(v1.TolerationOpExists, v1.TolerationOpEqual, "Roughly", "").AsAny(),
	}})
}

func oneOf[S any](values ...S) *rapid.Generator[S] { return rapid.SampledFrom(values) }
