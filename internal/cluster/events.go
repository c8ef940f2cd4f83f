package cluster

import (
	"bufio"
	"fmt"
	"io"

	"k8s.io/apimachinery/pkg/runtime"
	streams "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

// events decodes the events of a watch, whose body may be protobuf or JSON: the headers of the response are not
// available.
type events struct {
	body    buffered
	decoder watch.Decoder // chosen when the first event comes
}

type buffered struct {
	*bufio.Reader
	io.Closer
}

func newEvents(body io.ReadCloser) *events {
	return &events{body: buffered{bufio.NewReaderSize(body, readAhead), body}}
}

// Decode waits for the next event.
func (e *events) Decode() (watch.EventType, runtime.Object, error) {
	if e.decoder == nil {
		first, err := e.body.Peek(1)
		if err != nil {
			return "", nil, err
		}
		if e.decoder, err = e.choose(first[0]); err != nil {
			return "", nil, err
		}
	}
	return e.decoder.Decode()
}

// choose selects the decoder by the first byte. An event in protobuf begins with its length in four bytes, most
// significant first; a first byte other than 0 would mean 16 MB or more, which is not accepted. JSON never begins with
// 0.
func (e *events) choose(first byte) (watch.Decoder, error) {
	format := runtime.ContentTypeJSON
	if first == 0 {
		format = runtime.ContentTypeProtobuf
	}
	objects, outer, framer, err := decoders().StreamDecoder(format, nil)
	if err != nil {
		return nil, fmt.Errorf("decoding a watch as %s: %w", format, err)
	}
	if first == 0 {
		objects = wire.Decoder{}
	}
	return restwatch.NewDecoder(streams.NewDecoder(framer.NewFrameReader(e.body), outer), objects), nil
}

// Close ends a Decode that waits.
func (e *events) Close() { _ = e.body.Close() }
