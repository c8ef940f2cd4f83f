package wire

import (
	"bufio"
	"errors"
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

// List is a list of pods, nodes or namespaces: its items are all *v1.Pod, all *v1.Node or all *v1.Namespace.
type List struct {
	metav1.TypeMeta
	metav1.ListMeta
	Items []runtime.Object
}

// DeepCopyObject returns a copy that shares nothing.
func (l *List) DeepCopyObject() runtime.Object {
	list := &List{TypeMeta: l.TypeMeta}
	l.DeepCopyInto(&list.ListMeta)
	for _, item := range l.Items {
		list.Items = append(list.Items, item.DeepCopyObject())
	}
	return list
}

// The numbers of a list's fields.
const (
	listMeta  = 1
	listItems = 2
)

// IsList reports whether a body begins as [ReadList] requires.
func IsList(body *bufio.Reader) bool {
	head, err := body.Peek(len(magic))
	return err == nil && string(head) == magic
}

// ReadList reads the API server's response to a request for a list: a *List, or a *metav1.Status. It decodes each item
// as it arrives, so that only one item's bytes are in memory.
func ReadList(body *bufio.Reader, lookup Lookup) (runtime.Object, error) {
	if !IsList(body) {
		return nil, errMagic
	}
	if _, err := body.Discard(len(magic)); err != nil {
		return nil, err
	}
	var e envelope
	var object runtime.Object
	in := incoming{body: body, left: math.MaxInt64, open: true}
	for in.next() {
		switch in.number {
		case envelopeType:
			in.check(e.decodeType(slices.Clone(in.bytes())))
		case envelopeRaw:
			var err error
			object, err = e.readObject(&in, lookup)
			in.check(err)
		}
	}
	if in.err == nil && object == nil {
		in.err = errEmpty
	}
	if in.err != nil {
		return nil, fmt.Errorf("decoding a %s of %s: %w", e.kind, e.version, in.err)
	}
	return object, nil
}

// readObject reads the value of the envelope's current field.
func (e *envelope) readObject(in *incoming, lookup Lookup) (runtime.Object, error) {
	switch {
	case e.is("PodList"):
		return readItems(in.inner(), func(message []byte) (runtime.Object, error) { return newPod(message, lookup.Pod) })
	case e.is("NodeList"):
		return readItems(in.inner(), func(message []byte) (runtime.Object, error) { return newNode(message, lookup.Node) })
	case e.is("NamespaceList"):
		return readItems(in.inner(), func(message []byte) (runtime.Object, error) { return newNamespace(message) })
	case e.is("Status"):
		return newStatus(in.bytes())
	}
	return nil, errors.New("it is neither a list of pods, nodes or namespaces, nor a status")
}

// readItems reads a list, and decodes each item with the function.
func readItems(in *incoming, item func(message []byte) (runtime.Object, error)) (runtime.Object, error) {
	list := &List{}
	for in.next() {
		switch in.number {
		case listMeta:
			in.check(list.ListMeta.Unmarshal(in.bytes()))
		case listItems:
			o, err := item(in.bytes())
			in.check(err)
			list.Items = append(list.Items, o)
		}
	}
	return list, in.err
}
