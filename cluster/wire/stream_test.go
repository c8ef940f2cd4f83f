package wire_test

import (
	"bytes"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/cluster/wire"
)

// sent returns the body of a watch that has sent these bytes.
func sent(frames ...[]byte) io.ReadCloser {
	return io.NopCloser(bytes.NewReader(slices.Concat(frames...)))
}

func TestEventsComeInTheirOrder(t *testing.T) {
	expired := &metav1.Status{Status: metav1.StatusFailure, Reason: metav1.StatusReasonExpired, Code: 410}
	want := []watch.Event{
		{Type: watch.Added, Object: usualPod(1)},
		{Type: watch.Added, Object: usualPod(2)},
		{Type: watch.Modified, Object: usualPod(1)},
		{Type: watch.Bookmark, Object: &v1.Pod{ObjectMeta: metav1.ObjectMeta{ResourceVersion: "7"}}},
		{Type: watch.Deleted, Object: usualPod(2)},
		{Type: watch.Error, Object: expired},
	}
	var body []byte
	for _, event := range want {
		body = append(body, frameOf(t, event.Type, event.Object)...)
	}
	for name, reader := range map[string]io.Reader{
		"all at once": bytes.NewReader(body), "byte by byte": iotest.OneByteReader(bytes.NewReader(body)),
	} {
		stream := wire.NewStream(io.NopCloser(reader))
		// All are decoded before the first is compared: none refers to bytes that are overwritten.
		got := make([]watch.Event, len(want))
		for i := range got {
			var err error
			if got[i].Type, got[i].Object, err = stream.Decode(); err != nil {
				t.Fatal(err)
			}
		}
		for i := range got {
			if diff := cmp.Diff(trimmed(want[i].Object), got[i].Object); got[i].Type != want[i].Type || diff != "" {
				t.Errorf("%s: event %d is %s: (-want +got)\n%s", name, i, got[i].Type, diff)
			}
		}
		if _, _, err := stream.Decode(); err != io.EOF { //nolint:errorlint // Decode promises not to wrap it
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}

func TestAnErrorToReadComesAsItIs(t *testing.T) {
	frame, broken := frameOf(t, watch.Added, usualPod(1)), errors.New("broken")
	for n := range len(frame) {
		stream := wire.NewStream(sent(frame[:n]))
		want := io.ErrUnexpectedEOF
		if n == 0 {
			want = io.EOF
		}
		if _, object, err := stream.Decode(); err != want || object != nil { //nolint:errorlint // see above
			t.Fatalf("cut after %d bytes: got %v and error %v, want %v", n, object, err, want)
		}
	}
	stream := wire.NewStream(io.NopCloser(iotest.ErrReader(broken)))
	if _, _, err := stream.Decode(); err != broken { //nolint:errorlint // see above
		t.Errorf("got %v", err)
	}
}

func TestEventsThatAreRefused(t *testing.T) {
	nameless := slices.Concat(holding(1, []byte("UPDATED")), holding(2, holding(1, encoded(t, usualPod(1)))))
	for want, frame := range map[string][]byte{
		"an event of 16777217 bytes is larger than the most that is taken, 16777216": {1, 0, 0, 1},
		"an event of 2065855609 bytes":     []byte(`{"type":"ADDED"}`),
		"its type is unknown":              framed(nameless),
		"decoding a watch event: its type": framed([]byte{8, 1}),
		"not those of an object":           framed(holding(1, []byte("ADDED"))),
		"decoding a Secret of v1":          framed(slices.Concat(holding(1, []byte("ADDED")), holding(2, holding(1, sealed("v1", "Secret", nil))))),
	} {
		stream := wire.NewStream(sent(frame))
		if _, object, err := stream.Decode(); object != nil || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v and error %v, want %q", object, err, want)
		}
	}
}

// closed records that it was closed.
type closed struct {
	io.Reader
	times int
}

func (c *closed) Close() error { c.times++; return nil }

func TestCloseClosesTheBody(t *testing.T) {
	body := &closed{}
	wire.NewStream(body).Close()
	if body.times != 1 {
		t.Errorf("closed %d times", body.times)
	}
}
