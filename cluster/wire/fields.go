package wire

import (
	"fmt"

	"google.golang.org/protobuf/encoding/protowire"
)

// fields iterates over the fields of a message, in their order:
//
//	f := fields{message: message}
//	for f.next() {
//		switch f.number { … }
//	}
//	return f.err
//
// The iteration ends at the first error.
type fields struct {
	message []byte
	number  protowire.Number
	err     error

	kind    protowire.Type
	at      int    // where the next field begins
	length  int    // of the value, if it is text or a message
	integer uint64 // the value, if it is one
}

// next advances to the next field. It returns false at the end and after an error.
func (f *fields) next() bool {
	if f.err != nil || f.at >= len(f.message) {
		return false
	}
	number, kind, tag := protowire.ConsumeTag(f.message[f.at:])
	if tag < 0 {
		return f.fail(protowire.ParseError(tag))
	}
	f.number, f.kind = number, kind
	size := f.consume(f.message[f.at+tag:])
	if size < 0 {
		return f.fail(protowire.ParseError(size))
	}
	f.at += tag + size
	return true
}

// consume decodes the value at the beginning of b, and returns its size.
func (f *fields) consume(b []byte) (size int) {
	switch f.kind {
	case protowire.VarintType:
		f.integer, size = protowire.ConsumeVarint(b)
	case protowire.BytesType:
		var value []byte
		value, size = protowire.ConsumeBytes(b)
		f.length = len(value)
	default:
		size = protowire.ConsumeFieldValue(f.number, f.kind, b)
	}
	return size
}

// bytes returns the value of a field that holds text or a message.
func (f *fields) bytes() []byte {
	if !f.is(protowire.BytesType) {
		return nil
	}
	return f.message[f.at-f.length : f.at]
}

// int returns the value of an integer field.
func (f *fields) int() int64 {
	if !f.is(protowire.VarintType) {
		return 0
	}
	return int64(f.integer) // a negative value is encoded as its two's complement
}

func (f *fields) is(kind protowire.Type) bool {
	if f.kind != kind {
		f.fail(fmt.Errorf("it has wire type %d, not %d", f.kind, kind))
	}
	return f.err == nil
}

// check ends the iteration if the field's value could not be decoded.
func (f *fields) check(err error) {
	if err != nil {
		f.fail(err)
	}
}

// fail keeps the first error, and returns false.
func (f *fields) fail(err error) bool {
	if f.err == nil {
		f.err = fmt.Errorf("field %d: %w", f.number, err)
	}
	return false
}
