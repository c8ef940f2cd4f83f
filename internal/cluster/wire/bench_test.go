package wire_test

import (
	"io"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	streams "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

// endless is a watch that sends one frame again and again.
type endless struct {
	frame []byte
	at    int
}

func (e *endless) Read(p []byte) (int, error) {
	n := copy(p, e.frame[e.at:])
	e.at = (e.at + n) % len(e.frame)
	return n, nil
}

func (e *endless) Close() error { return nil }

// streamOf returns client-go's decoder of a watch, with this decoder of the objects; nil means client-go's.
func streamOf(body io.ReadCloser, objects runtime.Decoder) watch.Decoder {
	whole, events, framer, err := runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), v1.SchemeGroupVersion).
		StreamDecoder(runtime.ContentTypeProtobuf, nil)
	if err != nil {
		panic(err)
	}
	if objects == nil {
		objects = whole
	}
	return restwatch.NewDecoder(streams.NewDecoder(framer.NewFrameReader(body), events), objects)
}

// BenchmarkDecodeEvent measures decoding a status update of a pod.
func BenchmarkDecodeEvent(b *testing.B) {
	pod := usualPod(1)
	frame := frameOf(b, watch.Modified, pod)
	b.Logf("an event of %d bytes", len(frame))
	for name, stream := range map[string]watch.Decoder{
		"whole":   streamOf(&endless{frame: frame}, nil),
		"trimmed": streamOf(&endless{frame: frame}, wire.Decoder{}),
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, _, err := stream.Decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
