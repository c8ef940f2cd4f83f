package fieldmask

import (
	"bytes"
	"encoding/binary"
	"errors"
	"io"
	"math/rand"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
	"google.golang.org/protobuf/encoding/protowire"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/apitesting/fuzzer"
	metafuzzer "k8s.io/apimachinery/pkg/apis/meta/fuzzer"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	"pgregory.net/rapid"
)

// message is an object of the API that decodes itself.
type message interface {
	runtime.Object
	metav1.Object
	Unmarshal(b []byte) error
}

func TestAPrunedObjectDecodesToTheUsedFieldsOfTheWholeOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		object := anyObject(t)
		kind := rapid.SampledFrom([]watch.EventType{watch.Added, watch.Modified, watch.Deleted, watch.Bookmark}).Draw(t, "event")
		frame := frameOf(t, kind, object)
		out := throughStream(frame)
		if want, got := decoded(t, frame), decoded(t, out); !cmp.Equal(projected(want.object), got.object) || want.kind != got.kind {
			t.Errorf("%s and %s\n%s", want.kind, got.kind, cmp.Diff(projected(want.object), got.object))
		}
		if again := throughStream(out); !bytes.Equal(again, out) {
			t.Errorf("of %d bytes that were pruned, %d are left by a second time", len(out), len(again))
		}
	})
}

// anyObject returns a pod, node or namespace, any of whose fields may be set, often with what the mask selects by.
func anyObject(t *rapid.T) message {
	fill := fuzzer.FuzzerFor(metafuzzer.Funcs, rand.NewSource(rapid.Int64().Draw(t, "seed")), scheme.Codecs)
	object := rapid.SampledFrom([]message{&v1.Pod{}, &v1.Node{}, &v1.Namespace{}}).Draw(t, "kind").DeepCopyObject().(message)
	fill.Fill(object)
	keys := rapid.SliceOf(rapid.SampledFrom([]string{"", "other", v1.MirrorPodAnnotationKey, metav1.InitialEventsAnnotationKey}))
	annotations := map[string]string{}
	for _, key := range keys.Draw(t, "annotations") {
		annotations[key] = rapid.String().Draw(t, "value")
	}
	object.SetAnnotations(annotations)
	if rapid.Bool().Draw(t, "is deleted") {
		object.SetDeletionTimestamp(new(metav1.Unix(rapid.Int64Range(0, 1<<32).Draw(t, "deleted"), 0)))
	}
	object.SetOwnerReferences(rapid.SliceOfN(owners, 0, 3).Draw(t, "owners"))
	if pod, ok := object.(*v1.Pod); ok {
		types := []v1.PodConditionType{"", v1.PodReady, v1.PodScheduled, v1.DisruptionTarget}
		for _, kind := range rapid.SliceOf(rapid.SampledFrom(types)).Draw(t, "conditions") {
			condition := v1.PodCondition{}
			fill.Fill(&condition)
			condition.Type = kind
			pod.Status.Conditions = append(pod.Status.Conditions, condition)
		}
	}
	return object
}

var owners = rapid.Custom(func(t *rapid.T) metav1.OwnerReference {
	return metav1.OwnerReference{
		APIVersion: "apps/v1", Kind: rapid.String().Draw(t, "kind"), Name: rapid.String().Draw(t, "name"), UID: "u",
		Controller: rapid.SampledFrom([]*bool{nil, new(false), new(true)}).Draw(t, "controller"), BlockOwnerDeletion: new(true),
	}
})

// The field masks name what they keep: a field that the API adds is dropped until it is used.
func TestFieldsOfAllWireTypesThatNoMessageHasAreDropped(t *testing.T) {
	raw, err := usualPod().Marshal()
	must(t, err)
	const number = 1000
	strange := protowire.AppendVarint(protowire.AppendTag(nil, number, protowire.VarintType), 1<<63)
	strange = protowire.AppendFixed32(protowire.AppendTag(strange, number, protowire.Fixed32Type), 1)
	strange = protowire.AppendFixed64(protowire.AppendTag(strange, number, protowire.Fixed64Type), 1)
	strange = protowire.AppendBytes(protowire.AppendTag(strange, number, protowire.BytesType), []byte("\xff\xff"))
	strange = protowire.AppendTag(strange, number, protowire.StartGroupType)
	strange = protowire.AppendVarint(protowire.AppendTag(strange, 1, protowire.VarintType), 1)
	strange = protowire.AppendTag(strange, number, protowire.EndGroupType)
	plain := framed(eventWith(t, watch.Added, sealed("v1", "Pod", raw)))
	mixed := framed(eventWith(t, watch.Added, sealed("v1", "Pod", slices.Concat(strange, raw, strange))))
	if got, want := throughStream(mixed), throughStream(plain); !bytes.Equal(got, want) {
		t.Errorf("got %d bytes, want %d", len(got), len(want))
	}
}

func TestAnEventThatTheMaskDoesNotKnowPassesAsItIs(t *testing.T) {
	pod, err := usualPod().Marshal()
	must(t, err)
	config, err := (&v1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Name: "c"}, Data: map[string]string{"a": "b"}}).Marshal()
	must(t, err)
	event := func(raw []byte) []byte { return eventWith(t, watch.Added, raw) }
	fixed := protowire.AppendFixed32(protowire.AppendTag(nil, 1, protowire.Fixed32Type), 1)
	for name, message := range map[string][]byte{
		"empty":                           {},
		"no protobuf":                     bytes.Repeat([]byte{0xff}, 100),
		"a status":                        eventWith(t, watch.Error, encoded(t, expired())),
		"another kind":                    event(sealed("v1", "ConfigMap", config)),
		"a Pod of another group":          event(sealed("other/v1", "Pod", pod)),
		"an object without an envelope":   event(pod),
		"an object in JSON":               event([]byte(`{"kind": "Pod", "apiVersion": "v1"}`)),
		"an object that is cut off":       event(sealed("v1", "Pod", pod[:len(pod)-1])),
		"a length past the end":           event(sealed("v1", "Pod", []byte{1<<3 | 2, 100, 0})),
		"an endless length":               event(sealed("v1", "Pod", append([]byte{1<<3 | 2}, bytes.Repeat([]byte{0xff}, 11)...))),
		"metadata that is a number":       event(sealed("v1", "Pod", fixed)),
		"an annotation that is a number":  event(sealed("v1", "Pod", holding(1, protowire.AppendFixed32(protowire.AppendTag(nil, 12, protowire.Fixed32Type), 1)))),
		"a group that does not end":       event(sealed("v1", "Pod", protowire.AppendTag(nil, 9, protowire.StartGroupType))),
		"a field with the number 0":       event(sealed("v1", "Pod", []byte{0, 0})),
		"a kind in pieces":                event(slices.Concat([]byte(magic), holding(1, holding(1, []byte("v1"))), holding(1, holding(2, []byte("Pod"))), holding(2, pod))),
		"a label that is cut off":         event(sealed("v1", "Pod", holding(1, slices.Concat(holding(11, []byte{1<<3 | 2, 1, 'k', 2<<3 | 2, 5, 'v'}), holding(12, holding(1, []byte("a"))))))),
		"a type without an object":        holding(1, []byte("ADDED")),
		"an object that is a number":      protowire.AppendVarint(protowire.AppendTag(nil, 2, protowire.VarintType), 7),
		"a raw object shorter than magic": event([]byte("k8s")),
		"such an object before another":   slices.Concat(holding(2, holding(1, []byte("k8s"))), event(sealed("v1", "Pod", pod))),
	} {
		t.Run(name, func(t *testing.T) {
			frame := framed(message)
			usual := frameOf(t, watch.Modified, usualPod())
			if got, want := throughStream(slices.Concat(frame, usual)), slices.Concat(frame, throughStream(usual)); !bytes.Equal(got, want) {
				t.Errorf("got %d bytes, want %d", len(got), len(want))
			}
		})
	}
}

// FuzzStream checks that any bytes pass, pruned or as they are, and that what was pruned decodes to the same.
func FuzzStream(f *testing.F) {
	for _, object := range []runtime.Object{usualPod(), usualNode(), usualNamespace(), expired()} {
		f.Add(frameOf(f, watch.Added, object))
	}
	f.Add([]byte{0, 0, 0, 5, 1})
	f.Add(bytes.Repeat([]byte{0xff}, 40))
	f.Add(slices.Concat([]byte{0, 0, 0, 0}, frameOf(f, watch.Bookmark, &v1.Pod{}), []byte{0, 0}))
	f.Fuzz(func(t *testing.T, frames []byte) { agrees(t, frames) })
}

// FuzzPod varies the content of the envelope.
func FuzzPod(f *testing.F) {
	raw, err := usualPod().Marshal()
	must(f, err)
	f.Add(raw)
	f.Add([]byte{1<<3 | 2, 100, 0})
	f.Fuzz(func(t *testing.T, raw []byte) {
		agrees(t, framed(eventWith(t, watch.Added, sealed("v1", "Pod", raw))))
	})
}

// Almost correct bytes reach further into the mask than random bytes.
func TestAFewWrongBytesPassOrDecodeToTheSame(t *testing.T) {
	frames := [][]byte{
		frameOf(t, watch.Added, usualPod()), frameOf(t, watch.Modified, usualNode()), frameOf(t, watch.Deleted, usualNamespace()),
		frameOf(t, watch.Error, expired()),
	}
	rapid.Check(t, func(t *rapid.T) {
		frame := slices.Clone(rapid.SampledFrom(frames).Draw(t, "frame"))
		for range rapid.IntRange(1, 4).Draw(t, "changes") {
			frame[rapid.IntRange(header, len(frame)-1).Draw(t, "at")] = rapid.Byte().Draw(t, "byte")
		}
		agrees(t, frame)
	})
}

// agrees checks the frames of a stream: each is handed out as it is, or shorter. What client-go decodes of a shorter one
// equals the used fields of the whole one, if client-go decodes that.
func agrees(t rapid.TB, frames []byte) {
	rest := throughStream(frames)
	for len(frames) > 0 {
		var in, out []byte
		in, frames = cutFrame(frames)
		out, rest = cutFrame(rest)
		if bytes.Equal(in, out) {
			continue
		}
		if len(out) > len(in) {
			t.Fatalf("%d bytes became %d", len(in), len(out))
		}
		whole, err := decode(t, in)
		if err != nil {
			continue // what was wrong may have been dropped
		}
		got, err := decode(t, out)
		if err != nil {
			t.Fatalf("an event can't be decoded any more: %v", err)
		}
		if diff := cmp.Diff(projected(whole.object), got.object); diff != "" || whole.kind != got.kind {
			t.Fatalf("%s became %s\n%s", whole.kind, got.kind, diff)
		}
	}
	if len(rest) > 0 {
		t.Fatalf("%d bytes too many", len(rest))
	}
}

// cutFrame returns the first frame, and the rest.
func cutFrame(frames []byte) (frame, rest []byte) {
	if len(frames) < header {
		return frames, nil
	}
	size := min(header+int(binary.BigEndian.Uint32(frames)), len(frames))
	return frames[:size], frames[size:]
}

type decodedEvent struct {
	kind   watch.EventType
	object runtime.Object
}

// decode decodes a frame like client-go.
func decode(t rapid.TB, frame []byte) (decodedEvent, error) {
	kind, object, err := decoderOf(t, io.NopCloser(bytes.NewReader(frame))).Decode()
	return decodedEvent{kind, object}, err
}

func decoded(t rapid.TB, frame []byte) decodedEvent {
	t.Helper()
	event, err := decode(t, frame)
	must(t, err)
	return event
}

// throughStream returns what a stream hands out of the frames.
func throughStream(frames []byte) []byte {
	out, err := io.ReadAll(&stream{body: io.NopCloser(bytes.NewReader(frames))})
	if err != nil && !errors.Is(err, io.ErrUnexpectedEOF) {
		panic(err)
	}
	return out
}

// holding returns a field with this number that contains a message or text.
func holding(number protowire.Number, inner []byte) []byte {
	return protowire.AppendBytes(protowire.AppendTag(nil, number, protowire.BytesType), inner)
}

// sealed returns a message in its envelope.
func sealed(version, kind string, message []byte) []byte {
	named := slices.Concat(holding(1, []byte(version)), holding(2, []byte(kind)))
	return slices.Concat([]byte(magic), holding(1, named), holding(2, message))
}
