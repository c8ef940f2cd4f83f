package wire_test

import (
	"bufio"
	"bytes"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/cluster/wire"
	"github.com/taint-manager/taint-manager/taint"
)

// objects returns objects of every kind, by what is special about them.
func objects() map[string]runtime.Object {
	at := metav1.NewTime(time.Unix(1_800_000_000, 0))
	going := usualPod(2)
	going.DeletionTimestamp, going.Annotations[v1.MirrorPodAnnotationKey] = &at, "x"
	going.Status.Conditions = append(going.Status.Conditions,
		v1.PodCondition{Type: v1.DisruptionTarget, Status: v1.ConditionFalse, LastTransitionTime: at, Reason: "PreemptionByScheduler", Message: "m"})
	malformed := usualPod(3)
	malformed.Spec.Priority, malformed.Generation = new(int32(-7)), -1
	malformed.Spec.TerminationGracePeriodSeconds = new(int64(-1))
	malformed.Spec.Tolerations = []v1.Toleration{
		{TolerationSeconds: new(int64(0))}, {TolerationSeconds: new(int64(-5)), Operator: "Roughly"}, {Key: "k", Value: "v"}, {},
	}
	bookmark := &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "5", Annotations: map[string]string{metav1.InitialEventsAnnotationKey: "true"}}}
	return map[string]runtime.Object{
		"a pod":                       usualPod(1),
		"a pod that goes":             going,
		"a pod with malformed values": malformed,
		"a bookmark":                  bookmark,
		"an empty pod":                &v1.Pod{},
		"a node":                      usualNode(),
		"an empty node":               &v1.Node{},
		"a list of pods":              &v1.PodList{ListMeta: metav1.ListMeta{ResourceVersion: "9", Continue: "more", RemainingItemCount: new(int64(4))}, Items: []v1.Pod{*usualPod(1), *going, {}}},
		"an empty list of pods":       &v1.PodList{},
		"a list of nodes":             &v1.NodeList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []v1.Node{*usualNode(), {}}},
		"an empty list of nodes":      &v1.NodeList{},
		"a namespace":                 usualNamespace(),
		"an empty namespace":          &v1.Namespace{},
		"a list of namespaces":        &v1.NamespaceList{ListMeta: metav1.ListMeta{ResourceVersion: "9"}, Items: []v1.Namespace{*usualNamespace(), {}}},
		"a status":                    &metav1.Status{Status: metav1.StatusFailure, Message: "too old resource version", Reason: metav1.StatusReasonExpired, Code: 410},
	}
}

func TestOfEveryObjectThereIsWhatCountsAndNothingElse(t *testing.T) {
	for name, object := range objects() {
		got, err := decode(encoded(t, object), nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(trimmed(object), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		got, err = decodeWith(encoded(t, object), wire.Lookup{Node: nodeLookup(nil, true)})
		if diff := cmp.Diff(labelled(object), got); diff != "" || err != nil {
			t.Errorf("%s, with the labels of nodes: %v (-want +got)\n%s", name, err, diff)
		}
	}
}

func TestLabelsOfANodeThatAreTheSameAsBeforeAreShared(t *testing.T) {
	for name, c := range map[string]struct {
		change func(labels map[string]string)
		shared bool
	}{
		"the same":      {func(map[string]string) {}, true},
		"another value": {func(labels map[string]string) { labels["topology.kubernetes.io/zone"] = "b" }, false},
		"one is gone":   {func(labels map[string]string) { delete(labels, "topology.kubernetes.io/zone") }, false},
		"one is new":    {func(labels map[string]string) { labels["new"] = "" }, false},
	} {
		node, last := usualNode(), usualNode().Labels
		c.change(node.Labels)
		got, err := decodeWith(encoded(t, node), wire.Lookup{Node: func(name []byte) (map[string]string, bool) {
			if string(name) != node.Name {
				t.Errorf("asked for %q", name)
			}
			return last, true
		}})
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(labelled(node), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		last["shared"] = "yes"
		if _, shared := got.(*v1.Node).Labels["shared"]; shared != c.shared {
			t.Errorf("%s: shared %t", name, shared)
		}
	}
}

func TestTimesAreWholeSecondsAsInTheAPI(t *testing.T) {
	pod := usualPod(1)
	pod.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000, 999_999_999))
	got := decodedPod(t, encoded(t, pod), nil)
	if want := time.Unix(1_700_000_000, 0); !got.CreationTimestamp.Time.Equal(want) {
		t.Errorf("got %s, want %s", got.CreationTimestamp, want)
	}
}

func TestAPodThatIsKnownIsDecodedInTwoAllocations(t *testing.T) {
	pod := usualPod(1)
	last := cluster.PodOf(pod, time.Now())
	stream := wire.NewStream(&endless{frame: frameOf(t, "MODIFIED", pod)}, wire.Lookup{Pod: func(uid []byte) *taint.Pod {
		if string(uid) != string(last.UID) {
			t.Errorf("asked for %q", uid)
		}
		return &last
	}})
	got := testing.AllocsPerRun(100, func() {
		if _, _, err := stream.Decode(); err != nil {
			t.Fatal(err)
		}
	})
	if got > 2 { // the pod, and its resource version
		t.Errorf("%v allocations", got)
	}
}

func TestWhatIsTheSameAsBeforeIsShared(t *testing.T) {
	pod := usualPod(1)
	last := cluster.PodOf(pod, time.Now())
	got := decodedPod(t, encoded(t, pod), func([]byte) *taint.Pod { return &last })
	if &got.Spec.Tolerations[0] != &last.Tolerations[0] {
		t.Error("equal tolerations are not shared")
	}
	last.Labels["shared"] = "yes"
	if got.Labels["shared"] != "yes" {
		t.Error("equal labels are not shared")
	}
}

func TestWhatHasChangedIsNotShared(t *testing.T) {
	for name, change := range map[string]func(p *v1.Pod){
		"a label has another value":      func(p *v1.Pod) { p.Labels["pod-template-hash"] = "0" },
		"a label is gone":                func(p *v1.Pod) { delete(p.Labels, "pod-template-hash") },
		"a label is new":                 func(p *v1.Pod) { p.Labels["new"] = "" },
		"a label has another key":        func(p *v1.Pod) { delete(p.Labels, "pod-template-hash"); p.Labels["hash"] = "7d9c6b5f4" },
		"all labels are gone":            func(p *v1.Pod) { p.Labels = nil },
		"a toleration is gone":           func(p *v1.Pod) { p.Spec.Tolerations = p.Spec.Tolerations[:1] },
		"all tolerations are gone":       func(p *v1.Pod) { p.Spec.Tolerations = nil },
		"a toleration is new":            func(p *v1.Pod) { p.Spec.Tolerations = append(p.Spec.Tolerations, v1.Toleration{Key: "k"}) },
		"a toleration has no limit now":  func(p *v1.Pod) { p.Spec.Tolerations[1].TolerationSeconds = nil },
		"a toleration has another limit": func(p *v1.Pod) { p.Spec.Tolerations[1].TolerationSeconds = new(int64(0)) },
		"a toleration has another key":   func(p *v1.Pod) { p.Spec.Tolerations[0].Key = "k" },
		"a toleration has a value":       func(p *v1.Pod) { p.Spec.Tolerations[0].Value = "v" },
		"a toleration has no operator":   func(p *v1.Pod) { p.Spec.Tolerations[0].Operator = "" },
		"a toleration has no effect":     func(p *v1.Pod) { p.Spec.Tolerations[0].Effect = "" },
		"it has another owner":           func(p *v1.Pod) { p.OwnerReferences[0].Name = "other" },
		"its owner is of another kind":   func(p *v1.Pod) { p.OwnerReferences[0].Kind = "Job" },
		"its owner does not control it":  func(p *v1.Pod) { p.OwnerReferences[0].Controller = nil },
		"it has no owner":                func(p *v1.Pod) { p.OwnerReferences = nil },
		"it is on another node":          func(p *v1.Pod) { p.Spec.NodeName = "other" },
		"it is bound to no node":         func(p *v1.Pod) { p.Spec.NodeName = "" },
		"it has another grace period":    func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = new(int64(31)) },
		"it has no grace period":         func(p *v1.Pod) { p.Spec.TerminationGracePeriodSeconds = nil },
	} {
		last, before := cluster.PodOf(usualPod(1), time.Now()), cluster.PodOf(usualPod(1), time.Now())
		before.Bound = last.Bound
		pod := usualPod(1)
		change(pod)
		got := decodedPod(t, encoded(t, pod), func([]byte) *taint.Pod { return &last })
		if diff := cmp.Diff(trimmed(pod), runtime.Object(got)); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
		if diff := cmp.Diff(before, last); diff != "" {
			t.Errorf("%s: what was seen before has changed:\n%s", name, diff)
		}
	}
}

// Two labels with one key are one label, and must not count as two known labels.
func TestALabelThatComesTwiceIsNoOther(t *testing.T) {
	label := slices.Concat(holding(1, []byte("app")), holding(2, []byte("web")))
	metadata := slices.Concat(holding(5, []byte("u")), holding(11, label), holding(11, label))
	last := taint.Pod{UID: "u", Labels: map[string]string{"app": "web", "tier": "front"}}
	got := decodedPod(t, sealed("v1", "Pod", holding(1, metadata)), func([]byte) *taint.Pod { return &last })
	if diff := cmp.Diff(map[string]string{"app": "web"}, got.Labels); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestNothingRefersToTheBytes(t *testing.T) {
	for name, object := range objects() {
		body := encoded(t, object)
		got, err := decode(body, nil)
		if err != nil {
			t.Fatal(err)
		}
		copy(body, bytes.Repeat([]byte{'!'}, len(body)))
		if diff := cmp.Diff(trimmed(object), got); diff != "" {
			t.Errorf("%s has changed with the bytes: (-want +got)\n%s", name, diff)
		}
	}
}

// A field of a later API version may appear anywhere, with any wire type.
func TestFieldsOfUnknownNumbersAreSkipped(t *testing.T) {
	for name, object := range objects() {
		body := encoded(t, object)
		// Groups, which protobuf has deprecated, may not appear in a list.
		body = slices.Concat(body[:4], withStrangers(body[4:], envelope(object), !strings.Contains(name, "list")))
		got, err := decode(body, nil)
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(trimmed(object), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

// If a toleration that cannot be decoded were left out, the pod would be evicted.
func TestAFieldInAnotherFormIsAnError(t *testing.T) {
	for name, object := range objects() {
		if strings.HasPrefix(name, "an empty") || name == "a status" {
			continue
		}
		eachForm(encoded(t, object)[4:], envelope(object), nil, func(path []protowire.Number, message []byte) {
			body := append([]byte("k8s\x00"), message...)
			if got, err := decode(body, nil); err == nil || got != nil {
				t.Errorf("%s, with field %v in another form: got %v and error %v", name, path, got, err)
			}
		})
	}
}

func TestABodyThatIsCutIsAnError(t *testing.T) {
	for name, object := range objects() {
		body := encoded(t, object)
		for n := range len(body) {
			got, err := decode(body[:n], nil)
			if (err == nil) == (got == nil) {
				t.Errorf("%s, cut after %d bytes: got %v and error %v", name, n, got, err)
			}
			// The last fields of the envelope, after the object, are empty.
			if err == nil && cmp.Diff(trimmed(object), got) != "" {
				t.Errorf("%s, cut after %d bytes: got a part of it", name, n)
			}
		}
	}
}

func TestWhatIsRefused(t *testing.T) {
	pod, err := usualPod(1).Marshal()
	if err != nil {
		t.Fatal(err)
	}
	for want, body := range map[string][]byte{
		"not those of an object of Kubernetes":                                                []byte(`{"kind":"Pod"}`),
		"decoding a Secret of v1: it is neither a pod, a node, a namespace nor a status":      sealed("v1", "Secret", nil),
		"decoding a Pod of v2:":                                                               sealed("v2", "Pod", pod),
		"there is no object in its envelope":                                                  []byte("k8s\x00"),
		"decoding a  of : it is neither":                                                      sealed("", "", nil),
		"decoding a Node of v1: field 1: it comes twice":                                      sealed("v1", "Node", slices.Concat(holding(1, nil), holding(1, nil))),
		"decoding a Namespace of v1: field 1: it comes twice":                                 sealed("v1", "Namespace", slices.Concat(holding(1, nil), holding(1, nil))),
		"field 1: it comes twice":                                                             sealed("v1", "Pod", slices.Concat(pod, pod)),
		"decoding a Pod of v1: field 2: field 22: field 1":                                    sealed("v1", "Pod", []byte("\x12\x05\xb2\x01\x02\x08\x01")),
		"decoding a PodList of v1: field 2: field 2: field 2: field 22: field 1: it has wire": sealed("v1", "PodList", holding(2, []byte("\x12\x05\xb2\x01\x02\x08\x01"))),
		// The item would extend beyond its list.
		"decoding a PodList of v1: field 2: field 2: unexpected EOF":                                   slices.Concat(sealed("v1", "PodList", []byte{0x12, 4}), holding(3, nil), holding(4, nil)),
		"decoding a PodList of v1: field 2: field 0: there is no such number":                          sealed("v1", "PodList", []byte("\x00")),
		"decoding a SecretList of v1: field 2: it is neither a list of pods, nodes or namespaces, nor": sealed("v1", "SecretList", nil),
		"decoding a Pod of v1: field 0":                                                                sealed("v1", "Pod", []byte("\x00")),
	} {
		if got, err := decode(body, nil); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v and error %q, want %q", got, err, want)
		}
	}
}

// decode decodes a body with the function for its kind.
func decode(body []byte, lookup wire.PodLookup) (runtime.Object, error) {
	return decodeWith(body, wire.Lookup{Pod: lookup})
}

func decodeWith(body []byte, lookup wire.Lookup) (runtime.Object, error) {
	if bytes.Contains(body, []byte("List")) { // only the kind contains this
		return wire.ReadList(bufio.NewReader(bytes.NewReader(body)), lookup)
	}
	return wire.Decode(body, lookup)
}

func decodedPod(t *testing.T, body []byte, lookup wire.PodLookup) *v1.Pod {
	t.Helper()
	object, err := decode(body, lookup)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*v1.Pod)
}
