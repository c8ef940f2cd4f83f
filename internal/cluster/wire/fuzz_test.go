package wire_test

import (
	"bytes"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

func FuzzDecode(f *testing.F) {
	for _, object := range objects() {
		f.Add(encoded(f, object))
	}
	f.Fuzz(func(t *testing.T, body []byte) { agree(t, body) })
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
	f.Fuzz(func(t *testing.T, kind string, raw []byte) { agree(t, sealed("v1", kind, raw)) })
}

// Almost correct bytes reach further into the decoder than random bytes.
func TestAFewWrongBytesGiveTheSameAsInTheAPIOrAnError(t *testing.T) {
	var bodies [][]byte
	for _, object := range objects() {
		bodies = append(bodies, encoded(t, object))
	}
	slices.SortFunc(bodies, bytes.Compare)
	rapid.Check(t, func(t *rapid.T) {
		body := slices.Clone(rapid.SampledFrom(bodies).Draw(t, "body"))
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			at := rapid.IntRange(0, len(body)-1).Draw(t, "at")
			body[at] = rapid.Byte().Draw(t, "byte")
		}
		agree(t, body)
	})
}

// agree checks that any bytes give an object or an error, and that the object equals that of the API's own decoder if
// that accepts the bytes.
func agree(t rapid.TB, body []byte) {
	for _, decode := range []func([]byte) (runtime.Object, error){
		wire.Decode, func(body []byte) (runtime.Object, error) { return readList(bytes.NewReader(body)) },
	} {
		got, err := decode(body)
		if (got == nil) == (err == nil) {
			t.Fatalf("got %v and error %v", got, err)
		}
		want, errWhole := whole(body)
		if err != nil || errWhole != nil {
			continue
		}
		if diff := cmp.Diff(trimmed(want), got); diff != "" {
			t.Errorf("(-want +got)\n%s", diff)
		}
	}
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
