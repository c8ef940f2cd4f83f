package wire_test

import (
	"bytes"
	"io"
	"testing"
	"testing/iotest"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"

	"github.com/taint-manager/taint-manager/internal/cluster/wire"
)

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
		stream := streamOf(io.NopCloser(reader), wire.Decoder{})
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
		if _, _, err := stream.Decode(); err != io.EOF { //nolint:errorlint // client-go does not wrap it
			t.Errorf("%s: at the end: %v", name, err)
		}
	}
}
