package wire_test

import (
	"bufio"
	"bytes"
	"io"
	"slices"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/cluster"
	"github.com/taint-manager/taint-manager/cluster/wire"
	"github.com/taint-manager/taint-manager/taint"
)

func FuzzDecode(f *testing.F) {
	for _, object := range objects() {
		f.Add(encoded(f, object))
	}
	last := cluster.PodOf(usualPod(1), time.Now())
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body, &last) })
}

// FuzzMessage varies the content of the envelope.
func FuzzMessage(f *testing.F) {
	for _, object := range objects() {
		raw, err := object.(interface{ Marshal() ([]byte, error) }).Marshal()
		if err != nil {
			f.Fatal(err)
		}
		f.Add(kindOf(object), raw)
	}
	last := cluster.PodOf(usualPod(1), time.Now())
	f.Fuzz(func(t *testing.T, kind string, raw []byte) { agree(t, sealed("v1", kind, raw), &last) })
}

// Almost correct bytes reach further into the decoder than random bytes.
func TestAFewWrongBytesGiveTheSameAsInTheAPIOrAnError(t *testing.T) {
	var bodies [][]byte
	for _, object := range objects() {
		bodies = append(bodies, encoded(t, object))
	}
	slices.SortFunc(bodies, bytes.Compare)
	last := cluster.PodOf(usualPod(1), time.Now())
	rapid.Check(t, func(t *rapid.T) {
		body := slices.Clone(rapid.SampledFrom(bodies).Draw(t, "body"))
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			body[at] = rapid.Byte().Draw(t, "byte")
		}
		agree(t, body, &last)
	})
}

// agree checks that any bytes give an object or an error, that the result does not depend on what was seen of a pod
// before, and that it equals that of the API's own decoder if that accepts the bytes.
func agree(t rapid.TB, body []byte, last *taint.Pod) {
	readList := func(body []byte, lookup wire.Lookup) (runtime.Object, error) {
		return wire.ReadList(bufio.NewReader(bytes.NewReader(body)), lookup)
	}
	known := usualNode().Labels
	for _, decode := range []func([]byte, wire.Lookup) (runtime.Object, error){wire.Decode, readList} {
		agreeOn(t, body, decode, trimmed, wire.Lookup{}, wire.Lookup{
			Pod: func([]byte) *taint.Pod { return last }, Node: nodeLookup(known, false),
		})
		agreeOn(t, body, decode, labelled, wire.Lookup{Node: nodeLookup(nil, true)}, wire.Lookup{Node: nodeLookup(known, true)})
	}
}

// agreeOn is agree for one decoder, which knows nothing or something. trim returns the fields that are decoded.
func agreeOn(t rapid.TB, body []byte, decode func([]byte, wire.Lookup) (runtime.Object, error), trim func(runtime.Object) runtime.Object, nothing, something wire.Lookup) {
	got, err := decode(body, nothing)
	if (got == nil) == (err == nil) {
		t.Fatalf("got %v and error %v", got, err)
	}
	again, errAgain := decode(body, something)
	if diff := cmp.Diff(got, again); diff != "" || (err == nil) != (errAgain == nil) {
		t.Errorf("errors %v and %v; nothing known (-), something known (+):\n%s", err, errAgain, diff)
	}
	want, errWhole := whole(body)
	if err != nil || errWhole != nil {
		return
	}
	if diff := cmp.Diff(trim(want), got); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

// nodeLookup returns the same labels for all nodes.
func nodeLookup(labels map[string]string, wanted bool) wire.NodeLookup {
	return func([]byte) (map[string]string, bool) { return labels, wanted }
}

func kindOf(object any) string {
	switch object.(type) {
	case *v1.Pod:
		return "Pod"
	case *v1.Node:
		return "Node"
	case *v1.PodList:
		return "PodList"
	case *v1.NodeList:
		return "NodeList"
	case *v1.Namespace:
		return "Namespace"
	case *v1.NamespaceList:
		return "NamespaceList"
	}
	return "Status"
}

// FuzzStream checks that a watch ends, whatever it sends.
func FuzzStream(f *testing.F) {
	expired := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410}
	f.Add(append(frameOf(f, watch.Added, usualPod(1)), frameOf(f, watch.Error, expired)...))
	f.Add(frameOf(f, watch.Bookmark, usualNode()))
	f.Fuzz(func(t *testing.T, body []byte) {
		stream := wire.NewStream(io.NopCloser(bytes.NewReader(body)), wire.Lookup{})
		for range body {
			kind, object, err := stream.Decode()
			if (object == nil) == (err == nil) || (kind == "") == (err == nil) {
				t.Fatalf("got %q, %v and error %v", kind, object, err)
			}
			if err != nil {
				return
			}
		}
	})
}
