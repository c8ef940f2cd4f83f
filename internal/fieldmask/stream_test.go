package fieldmask

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/watch"
	"pgregory.net/rapid"
)

func TestHowAStreamIsReadChangesNothing(t *testing.T) {
	frames := slices.Concat(
		frameOf(t, watch.Added, usualPod()), frameOf(t, watch.Modified, usualNode()), framed(nil),
		frameOf(t, watch.Bookmark, &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "9"}}),
		frameOf(t, watch.Error, expired()),
	)
	want := throughStream(frames)
	rapid.Check(t, func(t *rapid.T) {
		body := &pieces{rest: frames, size: func() int { return rapid.IntRange(0, 700).Draw(t, "arrives") }}
		s := &stream{body: body}
		var got []byte
		for {
			p := make([]byte, rapid.IntRange(0, 700).Draw(t, "asked for"))
			n, err := s.Read(p)
			got = append(got, p[:n]...)
			if err == io.EOF { //nolint:errorlint // readers return it as it is
				break
			}
			must(t, err)
		}
		if !bytes.Equal(got, want) {
			t.Errorf("got %d bytes, want %d", len(got), len(want))
		}
	})
}

func TestAStreamThatIsCutOffEndsAsBefore(t *testing.T) {
	frame := frameOf(t, watch.Added, usualPod())
	reset := errors.New("connection reset")
	for _, failure := range []error{io.EOF, io.ErrUnexpectedEOF, reset} {
		for _, length := range []int{0, 1, header - 1, header, header + 1, len(frame) / 2, len(frame) - 1, len(frame)} {
			body := func() io.ReadCloser {
				return io.NopCloser(io.MultiReader(bytes.NewReader(frame[:length]), iotest.ErrReader(failure)))
			}
			before, after := decoderOf(t, body()), decoderOf(t, &stream{body: body()})
			if length == len(frame) {
				_, _, err := before.Decode()
				_, _, errAfter := after.Decode()
				must(t, errors.Join(err, errAfter))
			}
			_, _, want := before.Decode()
			if _, _, err := after.Decode(); err != want { //nolint:errorlint // the same error, unwrapped
				t.Errorf("cut by %v after %d of %d bytes: got %v, want %v", failure, length, len(frame), err, want)
			}
		}
	}
}

func TestAnEventThatIsTooLargeForClientGoPassesUnchangedAndIsNotHeld(t *testing.T) {
	for name, test := range map[string]struct {
		size int
		want error
	}{
		"as large as client-go accepts": {largest, nil},
		"larger":                        {largest + 1, errTooLarge},
	} {
		t.Run(name, func(t *testing.T) {
			usual := frameOf(t, watch.Modified, usualPod())
			frame := framed(sizedEvent(t, test.size))
			if _, _, err := decoderOf(t, io.NopCloser(bytes.NewReader(frame))).Decode(); (err == nil) != (test.want == nil) {
				t.Errorf("client-go says %v, want %v", err, test.want)
			}
			s := &stream{body: io.NopCloser(bytes.NewReader(slices.Concat(frame, usual)))}
			events := decoderOf(t, s)
			_, object, err := events.Decode()
			if test.want == nil {
				must(t, err)
				hasNoContainers(t, object)
			} else if err == nil || !strings.Contains(err.Error(), test.want.Error()) {
				t.Errorf("got %v, want %v", err, test.want)
			}
			if test.want != nil && cap(s.event) > kept {
				t.Errorf("%d bytes of it were held", cap(s.event))
			}
			kind, object, err := events.Decode()
			if must(t, err); kind != watch.Modified {
				t.Errorf("the event after it is %q", kind)
			}
			hasNoContainers(t, object)
			if held := cap(s.event) + cap(s.pruned); held > 2*kept {
				t.Errorf("%d bytes are kept after it", held)
			}
			if test.want != nil {
				if got := throughStream(frame); !bytes.Equal(got, frame) {
					t.Errorf("got %d bytes of %d", len(got), len(frame))
				}
			}
		})
	}
}

// hasNoContainers checks that a pod was pruned.
func hasNoContainers(t *testing.T, object runtime.Object) {
	t.Helper()
	if n := len(object.(*v1.Pod).Spec.Containers); n > 0 {
		t.Errorf("the pod has %d containers", n)
	}
}

var errTooLarge = errors.New("longer than maximum allowed size")

// sizedEvent returns an event of this size.
func sizedEvent(t *testing.T, size int) []byte {
	pod := usualPod()
	for {
		event := eventWith(t, watch.Added, encoded(t, pod))
		if len(event) == size {
			return event
		}
		value := pod.Spec.Containers[0].Image
		pod.Spec.Containers[0].Image = strings.Repeat("x", len(value)+size-len(event))
	}
}

func TestAStreamKeepsItsBuffersButNotThoseOfALargeEvent(t *testing.T) {
	usual, large := usualPod(), usualPod()
	large.Spec.Containers[0].Image = strings.Repeat("x", 1_200_000)
	large.Labels = map[string]string{"large": strings.Repeat("x", 2*kept)}
	body := &pieces{size: func() int { return largest }}
	s := &stream{body: body}
	read := func(frame []byte) {
		t.Helper()
		body.rest = frame
		for body.rest != nil || len(s.pending) > 0 {
			_, err := s.Read(make([]byte, 4096))
			must(t, err)
		}
	}
	small := frameOf(t, watch.Modified, usual)
	read(small)
	if allocs := testing.AllocsPerRun(10, func() { body.rest = small; s.next() }); allocs > 0 {
		t.Errorf("an event of the usual size allocates %v times", allocs)
	}
	read(frameOf(t, watch.Modified, large))
	waited := false
	body.waits = func() {
		waited = true
		if cap(s.event) > kept || cap(s.pruned) > kept || cap(s.pending) > 0 {
			t.Errorf("while the next event is awaited, buffers have %d, %d and %d bytes", cap(s.event), cap(s.pruned), cap(s.pending))
		}
	}
	if _, err := s.Read(make([]byte, 1)); err != io.EOF || !waited { //nolint:errorlint // as above
		t.Errorf("got %v, waited %v", err, waited)
	}
}

func TestClosingAStreamClosesItsBody(t *testing.T) {
	here, there := io.Pipe()
	s := &stream{body: here}
	must(t, s.Close())
	if _, err := there.Write([]byte("x")); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v", err)
	}
}

// pieces is a body that arrives in pieces.
type pieces struct {
	rest  []byte
	size  func() int
	waits func() // if not nil, called at the end
}

func (b *pieces) Read(p []byte) (int, error) {
	if len(b.rest) == 0 {
		if b.waits != nil {
			b.waits()
		}
		return 0, io.EOF
	}
	n := copy(p[:min(len(p), b.size())], b.rest)
	if b.rest = b.rest[n:]; len(b.rest) == 0 {
		b.rest = nil
	}
	return n, nil
}

func (b *pieces) Close() error { return nil }
