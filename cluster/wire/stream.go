package wire

import (
	"encoding/binary"
	"fmt"
	"io"
	"slices"

	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
)

// The numbers of the fields of WatchEvent and of its RawExtension.
const (
	eventType   = 1
	eventObject = 2

	extensionRaw = 1
)

// largest is the size of the largest accepted event, the limit of client-go.
const largest = 16 << 20

// Stream decodes the events of a watch. Only one goroutine may call Decode; another may call Close.
type Stream struct {
	body   io.ReadCloser
	lookup Lookup

	header [4]byte
	frame  []byte
}

var _ watch.Decoder = (*Stream)(nil)

// NewStream returns a stream of the events in the body of a watch. The body should be buffered, because it is read in
// small pieces.
func NewStream(body io.ReadCloser, lookup Lookup) *Stream {
	return &Stream{body: body, lookup: lookup}
}

// Decode waits for the next event. Its object is a result of [Decode]. It returns read errors, and io.EOF at the end,
// unwrapped.
func (s *Stream) Decode() (watch.EventType, runtime.Object, error) {
	frame, err := s.next()
	if err != nil {
		return "", nil, err
	}
	kind, raw, err := openEvent(frame)
	if err != nil {
		return "", nil, fmt.Errorf("decoding a watch event: %w", err)
	}
	object, err := Decode(raw, s.lookup)
	if err != nil {
		return "", nil, err
	}
	return kind, object, nil
}

// Close closes the body, which ends a blocked Decode.
func (s *Stream) Close() { _ = s.body.Close() }

// next reads a frame: its length in four bytes, most significant first, and that many bytes. They are valid until the
// next call.
func (s *Stream) next() ([]byte, error) {
	if _, err := io.ReadFull(s.body, s.header[:]); err != nil {
		return nil, err
	}
	size := binary.BigEndian.Uint32(s.header[:])
	if size > largest {
		return nil, fmt.Errorf("an event of %d bytes is larger than the most that is taken, %d", size, largest)
	}
	s.frame = slices.Grow(s.frame[:0], int(size))[:size]
	if _, err := io.ReadFull(s.body, s.frame); err != nil {
		return nil, cut(err)
	}
	return s.frame, nil
}

// cut returns the error for an incomplete frame.
func cut(err error) error {
	if err == io.EOF { //nolint:errorlint // readers return it as it is
		return io.ErrUnexpectedEOF
	}
	return err
}

func openEvent(message []byte) (kind watch.EventType, raw []byte, err error) {
	f := fields{message: message}
	for f.next() {
		switch f.number {
		case eventType:
			kind = typeOf(f.bytes())
		case eventObject:
			raw, err = extension(f.bytes())
			f.check(err)
		}
	}
	if f.err == nil && kind == "" {
		f.err = errType
	}
	return kind, raw, f.err
}

func typeOf(b []byte) watch.EventType {
	for _, kind := range [...]watch.EventType{watch.Modified, watch.Added, watch.Deleted, watch.Bookmark, watch.Error} {
		if string(b) == string(kind) {
			return kind
		}
	}
	return ""
}

func extension(message []byte) (raw []byte, err error) {
	f := fields{message: message}
	for f.next() {
		if f.number == extensionRaw {
			raw = f.bytes()
		}
	}
	return raw, f.err
}
