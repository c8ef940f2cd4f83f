package wire

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"slices"

	"google.golang.org/protobuf/encoding/protowire"
)

// largest is the size of the largest accepted item, the limit of client-go.
const largest = 16 << 20

// incoming iterates over the fields of a message that is too large to be held in memory, as it arrives. It is used like
// fields. Values that are not read are skipped.
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
	in.skip()
	if in.err != nil || in.left == 0 {
		return false
	}
	tag, err := binary.ReadUvarint(in)
	if in.open && err == io.EOF { //nolint:errorlint // ReadUvarint returns it as it is
		return false
	}
	in.number, in.kind = protowire.DecodeTag(tag)
	if err == nil && !in.number.IsValid() {
		err = errors.New("there is no such number")
	}
	if err == nil {
		err = in.measure()
	}
	in.check(cut(err))
	return in.err == nil
}

// measure determines the length of the value.
func (in *incoming) measure() error {
	var size uint64
	var err error
	switch in.kind {
	case protowire.VarintType:
		_, err = binary.ReadUvarint(in)
	case protowire.Fixed32Type:
		size = 4
	case protowire.Fixed64Type:
		size = 8
	case protowire.BytesType:
		size, err = binary.ReadUvarint(in)
	default:
		err = fmt.Errorf("its wire type is %d, which is not known here", in.kind)
	}
	if err == nil && size > uint64(in.left) {
		err = io.ErrUnexpectedEOF
	}
	if err == nil {
		in.pending = int64(size)
		in.left -= in.pending
	}
	return err
}

// ReadByte reads a byte of the message itself.
func (in *incoming) ReadByte() (byte, error) {
	if in.left == 0 {
		return 0, io.EOF
	}
	in.left--
	return in.body.ReadByte()
}

// skip discards what is left of the value.
func (in *incoming) skip() {
	for in.err == nil && in.pending > 0 {
		n, err := in.body.Discard(int(min(in.pending, largest)))
		in.pending -= int64(n)
		in.check(cut(err))
	}
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
