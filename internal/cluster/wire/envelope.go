package wire

import (
	"bytes"
	"errors"
	"fmt"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
)

// usual is the number of bytes above which the space for the used fields is made at once: growing step by step takes
// several times as much.
const usual = 64 << 10

// magic is the prefix of every object that the API server sends as protobuf; an envelope follows.
const magic = "k8s\x00"

// The numbers of the fields of the envelope, which is a runtime.Unknown, and of its TypeMeta.
const (
	envelopeType = 1
	envelopeRaw  = 2

	typeVersion = 1
	typeKind    = 2
)

var (
	errMagic = errors.New("the bytes are not those of an object of Kubernetes in protobuf")
	errEmpty = errors.New("there is no object in its envelope")
	errKind  = errors.New("it is neither a pod, a node, a namespace, a list of them nor a status")
)

// envelope is what surrounds an object. It refers to the bytes that it was opened from.
type envelope struct {
	version, kind, raw []byte
}

// typed returns the envelope with the type in this message.
func (e envelope) typed(message []byte) envelope {
	e.version, e.kind = last(message, typeVersion), last(message, typeKind)
	return e
}

// open opens the envelope in the API server's message. It reports false if there is none.
func open(data []byte) (e envelope, ok bool) {
	message, ok := bytes.CutPrefix(data, []byte(magic))
	return envelope{raw: last(message, envelopeRaw)}.typed(last(message, envelopeType)), ok
}

// Decoder is [Decode] as a [runtime.Decoder], which ignores the defaults and the object to decode into.
type Decoder struct{}

// Decode decodes the API server's message.
func (Decoder) Decode(
	data []byte, _ *schema.GroupVersionKind, _ runtime.Object,
) (runtime.Object, *schema.GroupVersionKind, error) {
	object, err := Decode(data)
	return object, nil, err
}

// Decode returns the object in the API server's message: a *v1.Pod, *v1.Node, *v1.Namespace or *metav1.Status. Another
// kind is an error.
func Decode(data []byte) (runtime.Object, error) {
	e, ok := open(data)
	switch {
	case !ok:
		return nil, errMagic
	case e.raw == nil:
		return nil, errEmpty // and not an empty object
	}
	object, err := e.object(e.raw, "")
	if err != nil {
		return nil, fmt.Errorf("decoding a %s of %s: %w", e.kind, e.version, err)
	}
	return object, nil
}

// object decodes an object of the envelope's kind without the suffix.
func (e envelope) object(message []byte, suffix string) (runtime.Object, error) {
	switch {
	case e.is("Pod" + suffix):
		return unmarshal(pod, message, &v1.Pod{})
	case e.is("Node" + suffix):
		return unmarshal(node, message, &v1.Node{})
	case e.is("Namespace" + suffix):
		return unmarshal(namespace, message, &v1.Namespace{})
	case e.is("Status"):
		return unmarshal(nil, message, &metav1.Status{})
	}
	return nil, errKind
}

// is reports whether the object is of this kind. All kinds that this package decodes are in v1.
func (e envelope) is(kind string) bool { return string(e.version) == "v1" && string(e.kind) == kind }

// object is an object that decodes itself.
type object interface {
	runtime.Object
	Unmarshal(message []byte) error
}

// unmarshal decodes the used fields of a message into the object; all fields if there is no mask.
func unmarshal(used mask, message []byte, into object) (runtime.Object, error) {
	if used != nil {
		var room []byte
		var err error
		if len(message) > usual {
			room = make([]byte, 0, len(message))
		}
		if message, err = used.prune(room, message); err != nil {
			return nil, err
		}
	}
	if err := into.Unmarshal(message); err != nil {
		return nil, err
	}
	return into, nil
}
