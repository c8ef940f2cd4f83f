package cluster

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// usedOfPod returns a pod with only the fields that protobuf decodes.
func usedOfPod(p *v1.Pod) *v1.Pod {
	m := &p.ObjectMeta
	used := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Name: m.Name, Namespace: m.Namespace, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		CreationTimestamp: m.CreationTimestamp, DeletionTimestamp: m.DeletionTimestamp, Labels: m.Labels,
		OwnerReferences: m.OwnerReferences, Annotations: usedAnnotations(m.Annotations),
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
		Labels: m.Labels, Annotations: usedAnnotations(m.Annotations),
	}}
	used.Spec.Taints = n.Spec.Taints
	for _, t := range n.Spec.Taints {
		if t.TimeAdded == nil {
			used.ManagedFields = managersOfTaints(m.ManagedFields)
		}
	}
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
	return aPod(condition(v1.PodScheduled, v1.ConditionTrue, metav1.NewTime(time.Unix(7, 0))), func(p *v1.Pod) {
		*p = *burstPodWith(p.Status.Conditions)
		p.DeletionTimestamp = new(metav1.NewTime(time.Unix(9, 0)))
		p.Annotations = map[string]string{
			v1.MirrorPodAnnotationKey: "m", metav1.InitialEventsAnnotationKey: "true", "config": strings.Repeat("x", 1000),
		}
		p.ManagedFields = []metav1.ManagedFieldsEntry{{Manager: "kubelet", FieldsV1: metav1.NewFieldsV1(`{"f:status":{}}`)}}
		p.Finalizers, p.Status.PodIP = []string{"f"}, "10.0.0.1"
	})
}

func burstPodWith(conditions []v1.PodCondition) *v1.Pod {
	p := burstPod()
	p.ResourceVersion, p.Status.Conditions = "7", conditions
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
	n.Spec.PodCIDR, n.Status.Images = "10.0.0.0/24", []v1.ContainerImage{{Names: []string{"a"}, SizeBytes: 7}}
	return n
}

func TestDecodedObjectsHaveTheUsedFieldsOfTheWholeOnes(t *testing.T) {
	for name, p := range map[string]*v1.Pod{"rich": richPod(), "small": aPod(), "empty": {}} {
		data, err := p.Marshal()
		must(t, err)
		got := &pod{}
		if err := got.Unmarshal(data); err != nil || !equality.Semantic.DeepEqual(got.whole(), usedOfPod(p)) {
			t.Errorf("%s pod: got %+v, want %+v, %v", name, got.whole(), usedOfPod(p), err)
		}
	}
	timed := v1.Taint{Key: "t", TimeAdded: new(metav1.NewTime(time.Unix(7, 0)))}
	for name, test := range map[string]struct {
		node     *v1.Node
		managers int
	}{
		"no taints":              {richNode(), 0},
		"taints with a time":     {richNode(timed), 0},
		"one taint lacks a time": {richNode(timed, v1.Taint{Key: "k"}), 1},
	} {
		data, err := test.node.Marshal()
		must(t, err)
		got := &node{}
		if err := got.Unmarshal(data); err != nil || !equality.Semantic.DeepEqual(got.whole(), usedOfNode(test.node)) {
			t.Errorf("%s: got %+v, want %+v, %v", name, got.whole(), usedOfNode(test.node), err)
		}
		if managers := len(got.ManagedFields); managers != test.managers {
			t.Errorf("%s: %d entries of managedFields, want %d", name, managers, test.managers)
		}
	}
}

func TestADecodedListHasItsItemsAndItsPlace(t *testing.T) {
	whole := &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "7", Continue: "more"}, Items: []v1.Pod{*richPod(), *aPod()}}
	proto, err := whole.Marshal()
	must(t, err)
	text, err := json.Marshal(whole)
	must(t, err)
	decoded, parsed := &podList{}, &podList{}
	must(t, decoded.Unmarshal(proto))
	must(t, json.Unmarshal(text, parsed))
	for name, got := range map[string]*podList{"protobuf": decoded, "JSON": parsed} {
		if got.ResourceVersion != "7" || got.Continue != "more" || len(got.Items) != 2 {
			t.Errorf("%s: got %+v", name, got)
			continue
		}
		for i := range got.Items {
			if a, b := usedOfPod(got.Items[i].whole()), usedOfPod(&whole.Items[i]); !equality.Semantic.DeepEqual(a, b) {
				t.Errorf("%s: got %+v, want %+v", name, a, b)
			}
		}
	}
}

// A list that is cut must not be taken for a shorter one: the pods that it lacks would count as gone.
func TestAMessageThatIsCutInAFieldIsAnError(t *testing.T) {
	whole := (&api{format: runtime.ContentTypeProtobuf}).encode(&v1.PodList{Items: []v1.Pod{*richPod(), *aPod()}})
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

// FuzzDecode compares decoded pods and nodes with the API's own: whatever these accept, and write as the API server
// does, has the same used fields.
func FuzzDecode(f *testing.F) {
	for _, p := range []*v1.Pod{richPod(), aPod()} {
		data, _ := p.Marshal()
		f.Add(data)
	}
	for _, n := range []*v1.Node{richNode(), richNode(v1.Taint{Key: "k"})} {
		data, _ := n.Marshal()
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		_, _ = (&pod{}).Unmarshal(data), (&node{}).Unmarshal(data)
		_, _ = (&podList{}).Unmarshal(data), (&nodeList{}).Unmarshal(data)
		p, n := &v1.Pod{}, &v1.Node{}
		if p.Unmarshal(data) == nil {
			canonical, err := p.Marshal()
			must(t, err)
			got := &pod{}
			if err := got.Unmarshal(canonical); err != nil || !equality.Semantic.DeepEqual(got.whole(), usedOfPod(p)) {
				t.Errorf("got %+v, want %+v, %v", got.whole(), usedOfPod(p), err)
			}
		}
		if n.Unmarshal(data) == nil {
			canonical, err := n.Marshal()
			must(t, err)
			got := &node{}
			if err := got.Unmarshal(canonical); err != nil || !equality.Semantic.DeepEqual(got.whole(), usedOfNode(n)) {
				t.Errorf("got %+v, want %+v, %v", got.whole(), usedOfNode(n), err)
			}
		}
	})
}
