package wire

import (
	"encoding/binary"
	"errors"
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

var errType = errors.New("decoding a watch event: its type is unknown")

const (
	// largest is the size of the largest accepted event, the limit of client-go.
	largest = 16 << 20

	// usual is the size above which the space of an event is not used again.
	usual = 64 << 10
)

// Stream decodes the events of a watch. Only one goroutine may call Decode; another may call Close.
type Stream struct {
	body io.ReadCloser

	header [4]byte
	frame  []byte
}

var _ watch.Decoder = (*Stream)(nil)

// NewStream returns a stream of the events in the body of a watch. The body should be buffered, because it is read in
// small pieces.
func NewStream(body io.ReadCloser) *Stream {
	return &Stream{body: body}
}

// Decode waits for the next event. Its object is a result of [Decode]. It returns read errors, and io.EOF at the end,
// unwrapped.
func (s *Stream) Decode() (watch.EventType, runtime.Object, error) {
	frame, err := s.next()
	if err != nil {
		return "", nil, err
	}
	kind := typeOf(last(frame, eventType))
	if kind == "" {
		return "", nil, errType
	}
	object, err := Decode(last(last(frame, eventObject), extensionRaw))
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
	if cap(s.frame) > usual {
		s.frame = nil // one large pod does not cost its size for ever
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

func typeOf(b []byte) watch.EventType {
	for _, kind := range [...]watch.EventType{watch.Modified, watch.Added, watch.Deleted, watch.Bookmark, watch.Error} {
		if string(b) == string(kind) {
			return kind
		}
	}
	return ""
}
