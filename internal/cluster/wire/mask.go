package wire

import (
	"fmt"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mask has the used fields of a message.
type mask map[protowire.Number]field

// field says what is used of a field: the whole value, a text or message, unless it says otherwise.
type field struct {
	number bool                      // the value is a number
	inner  mask                      // the used fields of the message in it; nil means all
	keep   func(message []byte) bool // reports whether this message of a list is used; nil means that all are
}

// wireType returns the wire type of a used field.
func (f field) wireType() protowire.Type {
	if f.number {
		return protowire.VarintType
	}
	return protowire.BytesType
}

// prune appends the used fields of a message to out. The result is never longer than the message.
func (m mask) prune(out, message []byte) ([]byte, error) {
	for len(message) > 0 {
		e, err := first(message)
		if err != nil {
			return nil, err
		}
		if f, used := m[e.number]; used {
			if out, err = f.prune(out, e); err != nil {
				return nil, err
			}
		}
		message = message[len(e.encoded):]
	}
	return out, nil
}

// prune appends what is used of the element to out.
func (f field) prune(out []byte, e element) ([]byte, error) {
	if e.kind != f.wireType() {
		return nil, fmt.Errorf("field %d: it has wire type %d, not %d", e.number, e.kind, f.wireType())
	}
	if f.inner == nil {
		return append(out, e.encoded...), nil
	}
	before := len(out)
	out = protowire.AppendTag(out, e.number, e.kind)
	begin := len(out)
	out, err := f.inner.prune(out, e.value)
	switch {
	case err != nil:
		return nil, fmt.Errorf("field %d: %w", e.number, err)
	case f.keep != nil && !f.keep(e.value):
		return out[:before], nil
	}
	var length [10]byte
	return slices.Insert(out, begin, protowire.AppendVarint(length[:0], uint64(len(out)-begin))...), nil
}

// element is one field of a message as it is encoded.
type element struct {
	number  protowire.Number
	kind    protowire.Type
	encoded []byte // the tag, the length if there is one, and the value
	value   []byte // the text or message; otherwise the encoded number or group
}

// first returns the first element of a message.
func first(message []byte) (e element, err error) {
	number, kind, tag := protowire.ConsumeTag(message)
	if tag < 0 {
		return e, protowire.ParseError(tag)
	}
	value, size := message[tag:], 0
	if kind == protowire.BytesType {
		value, size = protowire.ConsumeBytes(value)
	} else {
		size = protowire.ConsumeFieldValue(number, kind, value)
		value = value[:max(size, 0)]
	}
	if size < 0 {
		return e, protowire.ParseError(size)
	}
	return element{number, kind, message[:tag+size], value}, nil
}

// last returns the text or message in the last field with this number, which is the one that counts; nil if there is
// none, or if the message can't be parsed.
func last(message []byte, number protowire.Number) []byte {
	if e := lastElement(message, number); e.kind == protowire.BytesType {
		return e.value
	}
	return nil
}

func lastElement(message []byte, number protowire.Number) (found element) {
	for len(message) > 0 {
		e, err := first(message)
		if err != nil {
			return element{}
		}
		if e.number == number {
			found = e
		}
		message = message[len(e.encoded):]
	}
	return found
}
