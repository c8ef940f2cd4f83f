package cluster

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/scheme"
)

// usedOfPod returns a pod with only the fields that protobuf decodes.
func usedOfPod(p *v1.Pod) *v1.Pod {
	m := &p.ObjectMeta
	used := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Labels: m.Labels,
		OwnerReferences: m.OwnerReferences, Finalizers: m.Finalizers, Annotations: usedAnnotations(m.Annotations),
		ManagedFields: managersOfTaints(m.ManagedFields),
	}}
	used.Spec.NodeName, used.Spec.Tolerations, used.Spec.Priority = p.Spec.NodeName, p.Spec.Tolerations, p.Spec.Priority
	used.Spec.TerminationGracePeriodSeconds = p.Spec.TerminationGracePeriodSeconds
	used.Status.Phase, used.Status.Conditions = p.Status.Phase, p.Status.Conditions
	return used
}

// usedOfNode returns a node with only the fields that protobuf decodes.
func usedOfNode(n *v1.Node) *v1.Node {
	m := &n.ObjectMeta
	used := &v1.Node{ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, CreationTimestamp: m.CreationTimestamp,
		Labels: m.Labels, Annotations: usedAnnotations(m.Annotations), ManagedFields: managersOfTaints(m.ManagedFields),
	}}
	used.Spec.Taints, used.Status.Conditions = n.Spec.Taints, n.Status.Conditions
	return used
}

func managersOfTaints(all []metav1.ManagedFieldsEntry) (list []metav1.ManagedFieldsEntry) {
	for _, entry := range all {
		if data, _ := entry.Marshal(); bytes.Contains(data, []byte(`"f:taints"`)) {
			list = append(list, entry)
		}
	}
	return list
}

func usedAnnotations(all map[string]string) map[string]string {
	used := map[string]string{}
	for _, key := range []string{v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey} {
		if value, exists := all[key]; exists {
			used[key] = value
		}
	}
	return used
}

// richPod returns a pod with many fields, used and unused.
func richPod() *v1.Pod {
	p := burstPod()
	p.ResourceVersion, p.DeletionTimestamp = "7", new(metav1.NewTime(time.Unix(9, 0)))
	p.Annotations = map[string]string{
		v1.MirrorPodAnnotationKey: "m", metav1.InitialEventsAnnotationKey: "true", "config": strings.Repeat("x", 1000),
	}
	p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)}}
	p.Finalizers, p.Status.PodIP = []string{"f"}, "10.0.0.1"
	condition(v1.PodScheduled, v1.ConditionTrue, metav1.NewTime(time.Unix(7, 0)))(p)
	return p
}

// richNode returns a node with many fields, used and unused.
func richNode(taints ...v1.Taint) *v1.Node {
	n := aNode(taints...)
	n.Labels, n.Annotations = map[string]string{"zone": "a"}, map[string]string{"note": strings.Repeat("x", 1000)}
	n.ManagedFields = []metav1.ManagedFieldsEntry{
		{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)},
		{Manager: "kubectl", FieldsV1: metav1.NewFieldsV1(`{"f:spec":{"f:taints":{}}}`)},
	}
	n.Status.Conditions = []v1.NodeCondition{
		{Type: v1.NodeReady, Status: v1.ConditionUnknown, LastTransitionTime: metav1.NewTime(time.Unix(7, 0))},
	}
	n.Spec.PodCIDR, n.Status.Images = "10.0.0.0/24", []v1.ContainerImage{{Names: []string{"a"}, SizeBytes: 7}}
	return n
}

// used returns what is used of an object: the fields that protobuf decodes, and all of an object that it has decoded.
func used(o any) any {
	switch o := o.(type) {
	case *v1.Pod:
		return usedOfPod(o)
	case *v1.Node:
		return usedOfNode(o)
	case *pod:
		return o.whole()
	case *node:
		return o.whole()
	case *v1.PodList:
		return []any{o.ResourceVersion, o.Continue, usedItems(o.Items)}
	case *v1.NodeList:
		return []any{o.ResourceVersion, o.Continue, usedItems(o.Items)}
	case *podList:
		return []any{o.ResourceVersion, o.Continue, usedItems(o.Items)}
	case *nodeList:
		return []any{o.ResourceVersion, o.Continue, usedItems(o.Items)}
	}
	return o
}

func usedItems[T any](items []T) (list []any) {
	for i := range items {
		list = append(list, used(&items[i]))
	}
	return list
}

func sameUsed(a, b any) bool {
	return equality.Semantic.DeepEqual(used(a), used(b))
}

// whole is a message of the API's own type.
type whole interface {
	message
	Marshal() ([]byte, error)
}

// decodings has some objects of each type, and makes empty ones of the API's own type, and of the one that decodes only
// used fields.
var decodings = map[string]struct {
	wholes   []whole
	newWhole func() whole
	newUsed  func() message
}{
	"pod": {
		[]whole{richPod(), aPod(), &v1.Pod{}},
		func() whole { return &v1.Pod{} }, func() message { return &pod{} },
	},
	"node": {
		[]whole{richNode(), richNode(v1.Taint{Key: "k"}), &v1.Node{}},
		func() whole { return &v1.Node{} }, func() message { return &node{} },
	},
	"list of pods": {
		[]whole{somePods(), &v1.PodList{}},
		func() whole { return &v1.PodList{} }, func() message { return &podList{} },
	},
	"list of nodes": {
		[]whole{&v1.NodeList{Items: []v1.Node{*richNode(), {}}}},
		func() whole { return &v1.NodeList{} }, func() message { return &nodeList{} },
	},
}

func somePods() *v1.PodList {
	return &v1.PodList{
		ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}, Items: []v1.Pod{*richPod(), *aPod()},
	}
}

func TestAListInJSONHasTheUsedFieldsOfTheWholeOne(t *testing.T) {
	text, err := json.Marshal(somePods())
	must(t, err)
	got := &podList{}
	must(t, json.Unmarshal(text, got))
	for i := range got.Items {
		got.Items[i].Pod = *usedOfPod(got.Items[i].whole())
	}
	if !sameUsed(got, somePods()) {
		t.Errorf("got %+v", got)
	}
}

// A list that is cut must not be taken for a shorter one: the pods that it lacks would count as gone.
func TestAMessageThatIsCutInAFieldIsAnError(t *testing.T) {
	whole := (&api{format: runtime.ContentTypeProtobuf}).encode(somePods())
	decoder, err := newNegotiator().Decoder(runtime.ContentTypeProtobuf, nil)
	must(t, err)
	if _, err := runtime.Decode(decoder, whole); err != nil {
		t.Fatal(err)
	}
	end := bytes.LastIndex(whole, []byte("p1")) // in the second pod
	for n := range end {
		if list, err := runtime.Decode(decoder, whole[:n]); err == nil {
			t.Fatalf("%d of %d bytes are %+v", n, len(whole), list)
		}
	}
}

func TestANumberInThePlaceOfAUsedMessageIsAnError(t *testing.T) {
	for name, test := range decodings {
		for number := protowire.Number(1); number <= 2; number++ { // the metadata, and the spec or the items
			data := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 7)
			if err := test.newUsed().Unmarshal(data); err == nil {
				t.Errorf("%s: a number was accepted as field %d", name, number)
			}
		}
	}
}

func TestADecodedPodSharesNoMemoryWithTheResponse(t *testing.T) {
	data, err := richPod().Marshal()
	must(t, err)
	got, want := &pod{}, &pod{}
	must(t, want.Unmarshal(bytes.Clone(data)))
	must(t, got.Unmarshal(data))
	clear(data)
	if !equality.Semantic.DeepEqual(got, want) {
		t.Errorf("the pod has become %+v", got)
	}
}

// FuzzDecode compares decoded objects with the API's own: what both accept has the same used fields, and whatever the
// API server writes is accepted.
func FuzzDecode(f *testing.F) {
	for _, decoding := range decodings {
		for _, o := range decoding.wholes {
			data, err := o.Marshal()
			must(f, err)
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		for name, decoding := range decodings {
			got, want := decoding.newUsed(), decoding.newWhole()
			err := got.Unmarshal(data)
			if want.Unmarshal(data) != nil {
				continue
			}
			if err == nil && !sameUsed(got, want) {
				t.Errorf("%s: got %+v, want %+v", name, used(got), used(want))
			}
			written, err := want.Marshal()
			must(t, err)
			got = decoding.newUsed()
			if err := got.Unmarshal(written); err != nil || !sameUsed(got, want) {
				t.Errorf("%s as the API server writes it: got %+v, want %+v, %v", name, used(got), used(want), err)
			}
		}
	})
}

// FuzzResponse compares decoded responses and events with those of client-go's decoders: what both accept has the same
// used fields.
func FuzzResponse(f *testing.F) {
	own, standard := newNegotiator(), runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), v1.SchemeGroupVersion)
	objects, events, _, err := own.StreamDecoder(runtime.ContentTypeProtobuf, nil)
	must(f, err)
	wholeObjects, wholeEvents, _, err := standard.StreamDecoder(runtime.ContentTypeProtobuf, nil)
	must(f, err)
	for _, o := range []runtime.Object{somePods(), richPod(), richNode(), &metav1.Status{Message: "m", Code: 410}} {
		object := (&api{format: runtime.ContentTypeProtobuf}).encode(o)
		f.Add(object)
		event, err := (&metav1.WatchEvent{Type: "ADDED", Object: runtime.RawExtension{Raw: object}}).Marshal()
		must(f, err)
		f.Add(event)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := runtime.Decode(objects, data)
		want, wholeErr := runtime.Decode(wholeObjects, data)
		if err == nil && wholeErr == nil && !sameUsed(got, want) {
			t.Errorf("got %+v, want %+v", used(got), used(want))
		}
		var event, wholeEvent metav1.WatchEvent
		_, _, err = events.Decode(data, nil, &event)
		_, _, wholeErr = wholeEvents.Decode(data, nil, &wholeEvent)
		if err == nil && wholeErr == nil &&
			(event.Type != wholeEvent.Type || !bytes.Equal(event.Object.Raw, wholeEvent.Object.Raw)) {
			t.Errorf("got %+v, want %+v", event, wholeEvent)
		}
	})
}
