package fieldmask

import (
	"errors"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// mask has the used fields of a message.
type mask map[protowire.Number]field

// field says what is used of a field. The zero field is used with its whole value.
type field struct {
	inner  mask                      // the used fields of the message in it; nil means all
	prefix int                       // the number of bytes before that message
	keep   func(message []byte) bool // reports whether this message of a list is used; nil means that all are
}

var errNoMessage = errors.New("a field has no message where one is expected")

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
	message := e.kind == protowire.BytesType && len(e.value) >= f.prefix
	switch {
	case !message && (f.inner != nil || f.keep != nil):
		return nil, errNoMessage
	case f.keep != nil && !f.keep(e.value):
		return out, nil
	case f.inner == nil:
		return append(out, e.encoded...), nil
	}
	out = protowire.AppendTag(out, e.number, e.kind)
	begin := len(out)
	out, err := f.inner.prune(append(out, e.value[:f.prefix]...), e.value[f.prefix:])
	if err != nil {
		return nil, err
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

// last returns the value of the last field with this number, which is the one that counts; nil if there is none, or if
// the message can't be parsed.
func last(message []byte, number protowire.Number) (value []byte) {
	for len(message) > 0 {
		e, err := first(message)
		if err != nil {
			return nil
		}
		if e.number == number {
			value = e.value
		}
		message = message[len(e.encoded):]
	}
	return value
}
