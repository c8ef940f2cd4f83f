package wire

import (
	"bufio"
	"fmt"
	"math"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
)

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

// ReadList reads the API server's response to a request for a list: a *metav1.List, or a *metav1.Status. It decodes
// each item as it arrives, and stores the result of trim, so that only one whole item is in memory.
func ReadList(body *bufio.Reader, trim func(runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
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
			e = e.typed(slices.Clone(in.bytes()))
		case envelopeRaw:
			var err error
			object, err = e.read(&in, trim)
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

// read reads the value of the envelope's current field.
func (e envelope) read(in *incoming, trim func(runtime.Object) (runtime.Object, error)) (runtime.Object, error) {
	switch {
	case e.is("Status"):
		return e.object(in.bytes(), "")
	case !e.is("PodList") && !e.is("NodeList") && !e.is("NamespaceList"):
		return nil, errKind
	}
	list := &metav1.List{}
	for in = in.inner(); in.next(); {
		switch in.number {
		case listMeta:
			in.check(list.ListMeta.Unmarshal(in.bytes()))
		case listItems:
			o, err := e.object(in.bytes(), "List")
			if in.check(err); err == nil {
				o, err = trim(o)
				in.check(err)
			}
			list.Items = append(list.Items, runtime.RawExtension{Object: o})
		}
	}
	return list, in.err
}
