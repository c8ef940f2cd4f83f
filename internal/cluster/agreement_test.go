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

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

// For any pod, with any field set, the result of converting it is the same whether it was decoded whole or trimmed. The
// test therefore finds a field that this package reads and package wire does not decode.
func TestWhatIsMadeOfATrimmedPodIsWhatIsMadeOfTheWhole(t *testing.T) {
	pods, now := anyObject[v1.Pod](), time.Now()
	rapid.Check(t, func(t *rapid.T) {
		pod := pods.Draw(t, "pod")
		whole, trimmed := overTheWire(t, &pod)
		if diff := cmp.Diff(PodOf(whole, now), PodOf(trimmed, now)); diff != "" {
			t.Errorf("whole (-) and trimmed (+):\n%s", diff)
		}
		if whole, trimmed := BoundSince(whole, now), BoundSince(trimmed, now); !whole.Equal(trimmed) {
			t.Errorf("bound since %s when whole, and since %s when trimmed", whole, trimmed)
		}
	})
}

func TestTheModelOfATrimmedNodeIsThatOfTheWhole(t *testing.T) {
	drawn := anyObject[v1.Node]()
	for _, labels := range []bool{false, true} {
		table := newNodes(taint.Rules{}, nil, nil)
		table.needs = needing(policy.Needs{NodeLabels: labels})
		rapid.Check(t, func(t *rapid.T) {
			node := drawn.Draw(t, "node")
			whole, trimmed := overTheWire(t, &node)
			if diff := cmp.Diff(table.modelOf(whole), table.modelOf(trimmed), cmp.AllowUnexported(nodeModel{})); diff != "" {
				t.Errorf("whole (-) and trimmed (+):\n%s", diff)
			}
		})
	}
}

func TestOfATrimmedNamespaceThereAreItsNameAndItsLabels(t *testing.T) {
	drawn := anyObject[v1.Namespace]()
	rapid.Check(t, func(t *rapid.T) {
		namespace := drawn.Draw(t, "namespace")
		whole, trimmed := overTheWire(t, &namespace)
		if whole.Name != trimmed.Name || !maps.Equal(whole.Labels, trimmed.Labels) {
			t.Errorf("got %q with %v, want %q with %v", trimmed.Name, trimmed.Labels, whole.Name, whole.Labels)
		}
	})
}

// Protobuf encodes a zero timeAdded; JSON does not.
func TestATimeAddedOfZeroIsNone(t *testing.T) {
	whole, trimmed := overTheWire(t, aNode(v1.Taint{Key: "k", TimeAdded: &metav1.Time{}}))
	if whole.Spec.Taints[0].TimeAdded == nil {
		t.Fatal("the API's own decoder makes it none by itself")
	}
	for kind, node := range map[string]*v1.Node{"whole": whole, "trimmed": trimmed} {
		if added := newNodes(taint.Rules{}, nil, nil).modelOf(node).taints[0].TimeAdded; added != nil {
			t.Errorf("%s: got %v, want none", kind, added)
		}
	}
}

// overTheWire returns the object as the API's own decoder and the trimming one return it.
func overTheWire[T runtime.Object](t rapid.TB, object T) (whole, trimmed T) {
	var body bytes.Buffer
	encoder := scheme.Codecs.EncoderForVersion(protobuf.NewSerializer(scheme.Scheme, scheme.Scheme), v1.SchemeGroupVersion)
	if err := encoder.Encode(object, &body); err != nil {
		t.Fatal(err)
	}
	one, _, err := scheme.Codecs.UniversalDeserializer().Decode(body.Bytes(), nil, nil)
	if err != nil {
		t.Fatal(err)
	}
	other, err := wire.Decode(body.Bytes())
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
