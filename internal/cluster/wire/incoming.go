package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// largest is the size of the largest accepted item, the limit of client-go.
const largest = 16 << 20

// incoming iterates over the fields of a message that is too large to be held in memory, as it arrives. Values that are
// not read are skipped.
type incoming struct {
	body   *bufio.Reader
	left   int64 // of the message, without the value of the current field
	open   bool  // the message ends with the body
	number protowire.Number
	err    error

	kind    protowire.Type
	pending int64 // of the value
	held    []byte
}

// next advances to the next field. It returns false at the end and after an error.
func (in *incoming) next() bool {
	in.discard(in.pending)
	if in.err != nil || in.left == 0 {
		return false
	}
	head, err := in.body.Peek(int(min(in.left, 2*binary.MaxVarintLen64)))
	if in.open && len(head) == 0 && errors.Is(err, io.EOF) {
		return false
	}
	length, size, malformed := in.parse(head)
	switch {
	case malformed == nil && size > in.left-length:
		in.check(io.ErrUnexpectedEOF)
	case malformed == nil:
		in.left -= length + size
		in.discard(length)
		in.pending = size
	case err != nil:
		in.check(cut(err))
	default:
		in.check(malformed)
	}
	return in.err == nil
}

// parse parses the beginning of a field: its tag with a number in it, or with the size of its text or message. It
// returns the length of that, and the size.
func (in *incoming) parse(head []byte) (length, size int64, err error) {
	number, kind, tag := protowire.ConsumeTag(head)
	if tag < 0 {
		return 0, 0, protowire.ParseError(tag)
	}
	in.number, in.kind = number, kind
	var value uint64
	var n int
	if kind == protowire.BytesType {
		value, n = protowire.ConsumeVarint(head[tag:])
	} else {
		n = protowire.ConsumeFieldValue(number, kind, head[tag:])
	}
	if n < 0 || value > math.MaxInt64/2 {
		return 0, 0, protowire.ParseError(min(n, -1))
	}
	return int64(tag + n), int64(value), nil
}

// discard skips bytes of the body.
func (in *incoming) discard(size int64) {
	for in.err == nil && size > 0 {
		n, err := in.body.Discard(int(min(size, largest)))
		size -= int64(n)
		in.check(cut(err))
	}
	in.pending = 0
}

// bytes reads the value of a field that holds text or a message. The result is valid until the next call.
func (in *incoming) bytes() []byte {
	if !in.isMessage() {
		return nil
	}
	if in.pending > largest {
		in.check(fmt.Errorf("its %d bytes are more than the most that is taken, %d", in.pending, largest))
		return nil
	}
	in.held = slices.Grow(in.held[:0], int(in.pending))[:in.pending]
	in.pending = 0
	_, err := io.ReadFull(in.body, in.held)
	in.check(cut(err))
	return in.held
}

// inner iterates over the message in a field. The caller must iterate to its end.
func (in *incoming) inner() *incoming {
	if !in.isMessage() {
		return &incoming{err: in.err}
	}
	inner := &incoming{body: in.body, left: in.pending}
	in.pending = 0
	return inner
}

func (in *incoming) isMessage() bool {
	if in.kind != protowire.BytesType {
		in.check(fmt.Errorf("it has wire type %d, not %d", in.kind, protowire.BytesType))
	}
	return in.err == nil
}

// check ends the iteration if there is an error.
func (in *incoming) check(err error) {
	if err != nil && in.err == nil {
		in.err = fmt.Errorf("field %d: %w", in.number, err)
	}
}

// cut returns the error for an incomplete message.
func cut(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}
