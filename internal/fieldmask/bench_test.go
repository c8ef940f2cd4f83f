package fieldmask

import (
	"io"
	"testing"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/runtime"
	streams "k8s.io/apimachinery/pkg/runtime/serializer/streaming"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/scheme"
	restwatch "k8s.io/client-go/rest/watch"
	"pgregory.net/rapid"
)

// endless is a watch that sends one event again and again.
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

// BenchmarkPrune measures what a status update of a pod costs without its unused fields: to read it, and to decode it,
// too. "whole" is client-go without this package.
func BenchmarkPrune(b *testing.B) {
	frame := frameOf(b, watch.Modified, usualPod())
	b.Run("read", func(b *testing.B) {
		b.ReportAllocs()
		s := &stream{body: &endless{frame: frame}}
		p := make([]byte, len(frame))
		for b.Loop() {
			if n, err := s.Read(p); err != nil || n == len(frame) {
				b.Fatal(n, err)
			}
		}
	})
	for name, body := range map[string]io.ReadCloser{
		"decode/whole":  &endless{frame: frame},
		"decode/pruned": &stream{body: &endless{frame: frame}},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			events := decoderOf(b, body)
			for b.Loop() {
				if _, _, err := events.Decode(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}

// decoderOf returns client-go's decoder of a watch.
func decoderOf(t rapid.TB, body io.ReadCloser) watch.Decoder {
	t.Helper()
	objects, events, framer, err := runtime.NewClientNegotiator(scheme.Codecs.WithoutConversion(), v1.SchemeGroupVersion).
		StreamDecoder(runtime.ContentTypeProtobuf, nil)
	must(t, err)
	return restwatch.NewDecoder(streams.NewDecoder(framer.NewFrameReader(body), events), objects)
}
