package cluster

import (
	"bufio"
	"context"
	"encoding/binary"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/features"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/kubernetes/scheme"
	corev1 "k8s.io/client-go/kubernetes/typed/core/v1"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/tools/cache"
)

const (
	// magic is the prefix of every object that the API server sends as protobuf; a runtime.Unknown follows.
	magic = "k8s\x00"

	// The numbers of the used fields: of a runtime.Unknown, and of the list in it.
	unknownRaw          = 2
	listMeta, listItems = 1, 2

	// largest is the size of the largest accepted item, the limit of client-go.
	largest = 16 << 20
)

// unmarshaler is an object of the API that decodes itself from protobuf.
type unmarshaler interface {
	runtime.Object
	Unmarshal(message []byte) error
}

// lister returns the function that lists a resource. If the client is client-go's, the items of a list are trimmed as
// they arrive: a list in one piece would take many times the memory of the cache.
func lister[L runtime.Object](
	client kubernetes.Interface, own typed[L], t trimmingList,
) func(context.Context, metav1.ListOptions) (runtime.Object, error) {
	if t.client = restOf(client); t.client != nil {
		return t.list
	}
	return func(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) { return own.List(ctx, o) }
}

// restOf returns the client of the requests that a client makes. It returns nil if the client is not client-go's,
// because another client may do more than requests, and if the client may use CBOR.
func restOf(client kubernetes.Interface) rest.Interface {
	core, ok := client.CoreV1().(*corev1.CoreV1Client)
	if !ok || features.FeatureGates().Enabled(features.ClientsAllowCBOR) {
		return nil
	}
	return core.RESTClient()
}

// trimmingList lists one resource, and trims each item as it arrives.
type trimmingList struct {
	client   rest.Interface
	resource string
	kind     unmarshaler
	trim     cache.TransformFunc
	begun    func() // is called when the response has begun
}

// list requests a list. JSON is decoded in one piece.
func (t trimmingList) list(ctx context.Context, o metav1.ListOptions) (runtime.Object, error) {
	stream, err := t.client.Get().UseProtobufAsDefault().Resource(t.resource).
		VersionedParams(&o, scheme.ParameterCodec).Stream(ctx)
	if err != nil {
		return nil, err
	}
	defer stream.Close()
	t.begun()
	var list runtime.Object
	body := bufio.NewReaderSize(stream, 16<<10) // a frame of HTTP/2
	if head, _ := body.Peek(len(magic)); string(head) == magic {
		list, err = t.protobuf(body)
	} else {
		list, err = decodeAll(body)
	}
	if err != nil {
		return nil, fmt.Errorf("reading the list of %s: %w", t.resource, err)
	}
	return list, nil
}

func decodeAll(body io.Reader) (runtime.Object, error) {
	data, err := io.ReadAll(body)
	if err != nil {
		return nil, err
	}
	return runtime.Decode(scheme.Codecs.UniversalDeserializer(), data)
}

// protobuf reads a list of trimmed items. One whole item is in memory at a time.
func (t trimmingList) protobuf(body *bufio.Reader) (runtime.Object, error) {
	list := &metav1.List{}
	err := readList(body, func(number protowire.Number, value []byte) error {
		switch number {
		case listMeta:
			return list.ListMeta.Unmarshal(value)
		case listItems:
			item := t.kind.DeepCopyObject().(unmarshaler)
			if err := item.Unmarshal(value); err != nil {
				return err
			}
			trimmed, err := t.trim(item)
			list.Items = append(list.Items, runtime.RawExtension{Object: trimmed.(runtime.Object)})
			return err
		}
		return nil
	})
	return list, err
}

// readList reads the API server's message as it arrives, and calls take with each field of the list in it. A value is
// valid until take returns.
func readList(body *bufio.Reader, take func(number protowire.Number, value []byte) error) error {
	left, err := skipToList(body)
	var value []byte
	for err == nil && left > 0 {
		var number protowire.Number
		var size int
		if number, size, err = readHead(body); err != nil {
			return err
		}
		if left -= protowire.SizeTag(number) + protowire.SizeBytes(size); size > largest || left < 0 {
			return fmt.Errorf("an item of %d bytes is too large", size)
		}
		value = slices.Grow(value[:0], size)[:size]
		if _, err = io.ReadFull(body, value); err == nil {
			err = take(number, value)
		}
	}
	return err
}

// skipToList reads what precedes the list in a message, and returns the list's size.
func skipToList(body *bufio.Reader) (size int, err error) {
	skip := len(magic)
	for number := protowire.Number(0); number != unknownRaw; skip = size {
		if _, err := body.Discard(skip); err != nil {
			return 0, err
		}
		if number, size, err = readHead(body); err != nil {
			return 0, err
		}
	}
	return size, nil
}

// readHead reads what precedes the value of a field: its number and the value's size. Lists have only fields of
// messages and of texts.
func readHead(body io.ByteReader) (number protowire.Number, size int, err error) {
	tag, err := binary.ReadUvarint(body)
	if err != nil {
		return 0, 0, err
	}
	number, kind := protowire.DecodeTag(tag)
	if kind != protowire.BytesType {
		return 0, 0, fmt.Errorf("field %d of a list is of type %d", number, kind)
	}
	length, err := binary.ReadUvarint(body)
	if err == nil && length > math.MaxInt {
		err = fmt.Errorf("field %d of a list has %d bytes", number, length)
	}
	return number, int(length), err
}
