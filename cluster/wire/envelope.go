package wire

import (
	"errors"
	"fmt"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

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
	errType  = errors.New("its type is unknown")
	errTwice = errors.New("it comes twice")
)

// envelope is what surrounds an object. It refers to the bytes that it was opened from.
type envelope struct {
	version, kind, raw []byte
}

func open(data []byte) (e envelope, err error) {
	if len(data) < len(magic) || string(data[:len(magic)]) != magic {
		return e, errMagic
	}
	f := fields{message: data[len(magic):]}
	for f.next() {
		switch f.number {
		case envelopeType:
			f.check(e.decodeType(f.bytes()))
		case envelopeRaw:
			e.raw = f.bytes()
		}
	}
	if f.err == nil && e.raw == nil {
		f.err = errEmpty // and not an empty list
	}
	return e, f.err
}

func (e *envelope) decodeType(message []byte) error {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case typeVersion:
			e.version = f.bytes()
		case typeKind:
			e.kind = f.bytes()
		}
	}
	return f.err
}

// Decode returns the object in the API server's message: a *v1.Pod, *v1.Node, *v1.Namespace or *metav1.Status. Another
// kind is an error.
func Decode(data []byte, lookup Lookup) (runtime.Object, error) {
	e, err := open(data)
	if err != nil {
		return nil, err
	}
	object, err := e.object(lookup)
	if err != nil {
		return nil, fmt.Errorf("decoding a %s of %s: %w", e.kind, e.version, err)
	}
	return object, nil
}

func (e *envelope) object(lookup Lookup) (runtime.Object, error) {
	switch {
	case e.is("Pod"):
		return newPod(e.raw, lookup.Pod)
	case e.is("Node"):
		return newNode(e.raw, lookup.Node)
	case e.is("Namespace"):
		return newNamespace(e.raw)
	case e.is("Status"):
		return newStatus(e.raw)
	}
	return nil, errors.New("it is neither a pod, a node, a namespace nor a status")
}

// is reports whether the object is of this kind. All kinds that this package decodes are in v1.
func (e *envelope) is(kind string) bool {
	return string(e.version) == "v1" && string(e.kind) == kind
}

func newStatus(message []byte) (*metav1.Status, error) {
	s := &metav1.Status{}
	return s, s.Unmarshal(message)
}
