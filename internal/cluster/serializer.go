package cluster

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// serializers are client-go's, but decode protobuf in place. Client-go's own decoder copies each event twice.
type serializers struct {
	runtime.NegotiatedSerializer
	types *runtime.Scheme
}

// SupportedMediaTypes returns the serializers. A stream has the same decoder for events and for the objects in them.
func (s serializers) SupportedMediaTypes() []runtime.SerializerInfo {
	list := slices.Clone(s.NegotiatedSerializer.SupportedMediaTypes())
	for i := range list {
		if info := &list[i]; info.MediaType == runtime.ContentTypeProtobuf {
			d, stream := decoder{info.Serializer, s.types}, *info.StreamSerializer
			stream.Serializer, stream.Framer = d, framer{stream.Framer}
			info.Serializer, info.StreamSerializer = d, &stream
		}
	}
	return list
}

// framer splits a stream that it reads in large parts: HTTP/2 acknowledges each read of 4 kB in a frame of its own.
type framer struct{ runtime.Framer }

// NewFrameReader returns a reader of messages.
func (f framer) NewFrameReader(r io.ReadCloser) io.ReadCloser {
	return f.Framer.NewFrameReader(struct {
		io.Reader
		io.Closer
	}{bufio.NewReaderSize(r, 64<<10), r})
}

// decoder decodes messages of protobuf.
type decoder struct {
	runtime.Serializer // encodes
	types              *runtime.Scheme
}

// Decode decodes an event, or an object into the type of its kind.
func (d decoder) Decode(data []byte, _ *schema.GroupVersionKind, into runtime.Object) (
	runtime.Object, *schema.GroupVersionKind, error,
) {
	if event, ok := into.(*metav1.WatchEvent); ok {
		return event, nil, decodeEvent(event, data)
	}
	kind, encoded, err := unwrap(data)
	if err != nil {
		return nil, nil, err
	}
	object, err := runtime.UseOrCreateObject(d.types, d.types, kind, into)
	if err != nil {
		return nil, &kind, fmt.Errorf("the kind of a message is unknown: %w", err)
	}
	m, ok := object.(message)
	if !ok {
		return nil, &kind, fmt.Errorf("a message can't be decoded as a %T", object)
	}
	return object, &kind, m.Unmarshal(encoded)
}

var errNoObject = errors.New("the message holds no object")

// unwrap returns the kind and the encoding of the object in a message: a prefix, then a runtime.Unknown with both.
func unwrap(data []byte) (kind schema.GroupVersionKind, encoded []byte, err error) {
	unknown, found := bytes.CutPrefix(data, []byte("k8s\x00"))
	if !found {
		return kind, nil, errNoObject
	}
	var meta runtime.TypeMeta
	err = eachField(unknown, func(number protowire.Number, _, value []byte) error {
		switch number {
		case 1:
			return meta.Unmarshal(value)
		case 2:
			encoded = value
		}
		return nil
	})
	if err == nil && encoded == nil {
		err = errNoObject
	}
	return meta.GroupVersionKind(), encoded, err
}

// decodeEvent decodes an event of a watch. The object in it stays encoded, in the memory of data, which the next event
// overwrites: client-go decodes the object before it reads the next event.
func decodeEvent(event *metav1.WatchEvent, data []byte) error {
	return eachField(data, func(number protowire.Number, _, value []byte) error {
		switch number {
		case 1:
			event.Type = string(value)
		case 2: // a runtime.RawExtension, of which the first field is the object
			return eachField(value, func(number protowire.Number, _, object []byte) error {
				if number == 1 {
					event.Object.Raw = object
				}
				return nil
			})
		}
		return nil
	})
}
