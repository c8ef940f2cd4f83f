package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
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
		got, err := decode(encoded(t, object))
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if diff := cmp.Diff(trimmed(object), got); diff != "" {
			t.Errorf("%s: (-want +got)\n%s", name, diff)
		}
	}
}

func TestTimesAreWholeSecondsAsInTheAPI(t *testing.T) {
	pod := usualPod(1)
	pod.CreationTimestamp = metav1.NewTime(time.Unix(1_700_000_000, 999_999_999))
	got := decodedPod(t, encoded(t, pod))
	if want := time.Unix(1_700_000_000, 0); !got.CreationTimestamp.Time.Equal(want) {
		t.Errorf("got %s, want %s", got.CreationTimestamp, want)
	}
}

func TestNothingRefersToTheBytes(t *testing.T) {
	for name, object := range objects() {
		body := encoded(t, object)
		got, err := decode(body)
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
		got, err := decode(body)
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
			if got, err := decode(body); err == nil || got != nil {
				t.Errorf("%s, with field %v in another form: got %v and error %v", name, path, got, err)
			}
		})
	}
}

func TestABodyThatIsCutIsAnError(t *testing.T) {
	for name, object := range objects() {
		body := encoded(t, object)
		for n := range len(body) {
			got, err := decode(body[:n])
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
		"not those of an object of Kubernetes":                  []byte(`{"kind":"Pod"}`),
		"decoding a Secret of v1: it is neither a pod":          sealed("v1", "Secret", nil),
		"decoding a Pod of v2: it is neither":                   sealed("v2", "Pod", pod),
		"there is no object in its envelope":                    []byte("k8s\x00"),
		"decoding a  of : it is neither":                        sealed("", "", nil),
		"decoding a Pod of v1: proto: wrong wireType":           sealed("v1", "Pod", []byte("\x12\x05\xb2\x01\x02\x08\x01")),
		"decoding a PodList of v1: field 2: field 2: proto: wr": sealed("v1", "PodList", holding(2, []byte("\x12\x05\xb2\x01\x02\x08\x01"))),
		// The item would extend beyond its list.
		"decoding a PodList of v1: field 2: field 2: unexpected EOF": slices.Concat(sealed("v1", "PodList", []byte{0x12, 4}), holding(3, nil), holding(4, nil)),
		"decoding a PodList of v1: field 2: field 0: proto:":         sealed("v1", "PodList", []byte("\x00")),
		"decoding a SecretList of v1: field 2: it is neither":        sealed("v1", "SecretList", nil),
		"decoding a Pod of v1: proto:":                               sealed("v1", "Pod", []byte("\x00")),
	} {
		if got, err := decode(body); got != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v and error %q, want %q", got, err, want)
		}
	}
}

// decode decodes a body with the function for its kind.
func decode(body []byte) (runtime.Object, error) {
	if bytes.Contains(body, []byte("List")) { // only the kind contains this
		return readList(bytes.NewReader(body))
	}
	return wire.Decode(body)
}

// readList reads a list, and keeps its items as they are.
func readList(body io.Reader) (runtime.Object, error) {
	return wire.ReadList(bufio.NewReader(body), func(item runtime.Object) (runtime.Object, error) { return item, nil })
}

func decodedPod(t *testing.T, body []byte) *v1.Pod {
	t.Helper()
	object, err := decode(body)
	if err != nil {
		t.Fatal(err)
	}
	return object.(*v1.Pod)
}
