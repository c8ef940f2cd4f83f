package cluster

import (
	"bytes"
	"errors"

	"google.golang.org/protobuf/encoding/protowire"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// negotiator returns the decoders of responses, which client-go calls. Those of protobuf do not copy a message before
// they decode it, as client-go's own do, twice for each event.
type negotiator struct {
	runtime.ClientNegotiator
	types *runtime.Scheme
}

// Decoder returns the decoder of a whole response.
func (n negotiator) Decoder(contentType string, params map[string]string) (runtime.Decoder, error) {
	d, err := n.ClientNegotiator.Decoder(contentType, params)
	if err == nil && contentType == runtime.ContentTypeProtobuf {
		d = objectDecoder{d, n.types}
	}
	return d, err
}

// StreamDecoder returns the decoder of the objects in events, the decoder of events, and client-go's reader of frames.
func (n negotiator) StreamDecoder(contentType string, params map[string]string) (
	objects runtime.Decoder, events runtime.Serializer, frames runtime.Framer, err error,
) {
	objects, events, frames, err = n.ClientNegotiator.StreamDecoder(contentType, params)
	if err == nil && contentType == runtime.ContentTypeProtobuf {
		objects, events = objectDecoder{objects, n.types}, eventDecoder{events}
	}
	return objects, events, frames, err
}

// objectDecoder decodes the objects that decode themselves, and leaves others, such as a Status, to client-go.
type objectDecoder struct {
	runtime.Decoder
	types *runtime.Scheme
}

// Decode decodes an object.
func (d objectDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (
	runtime.Object, *schema.GroupVersionKind, error,
) {
	kind, encoded, err := unwrap(data)
	if err != nil {
		return nil, nil, err
	}
	if object, err := runtime.UseOrCreateObject(d.types, d.types, kind, into); err == nil {
		if m, decodes := object.(message); decodes {
			return object, &kind, m.Unmarshal(encoded)
		}
	}
	return d.Decoder.Decode(data, defaults, into)
}

var errNoObject = errors.New("the message holds no object")

// unwrap returns the kind of the object in a message, and its encoding: a runtime.Unknown after a prefix.
func unwrap(data []byte) (kind schema.GroupVersionKind, encoded []byte, err error) {
	unknown, found := bytes.CutPrefix(data, []byte("k8s\x00"))
	if !found {
		return kind, nil, errNoObject
	}
	err = eachField(unknown, func(number protowire.Number, _, value []byte) error {
		switch number {
		case 1:
			var meta runtime.TypeMeta
			err := meta.Unmarshal(value)
			kind = meta.GroupVersionKind()
			return err
		case 2:
			encoded = value
		}
		return nil
	})
	if err == nil && encoded == nil {
		err = errNoObject
	}
	return kind, encoded, err
}

// eventDecoder decodes the events of a watch. The object in an event is decoded before the next event is read, which
// overwrites it.
type eventDecoder struct{ runtime.Serializer }

// Decode decodes an event.
func (d eventDecoder) Decode(data []byte, defaults *schema.GroupVersionKind, into runtime.Object) (
	runtime.Object, *schema.GroupVersionKind, error,
) {
	event, ok := into.(*metav1.WatchEvent)
	if !ok {
		return d.Serializer.Decode(data, defaults, into)
	}
	return event, nil, eachField(data, func(number protowire.Number, _, value []byte) error {
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
