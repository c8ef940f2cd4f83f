package status_test

import (
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/internal/status"
)

func encoding(value string) func(*http.Request) {
	return func(r *http.Request) { r.Header.Set("Accept-Encoding", value) }
}

func unzipped(t *testing.T, body io.Reader) string {
	t.Helper()
	z, err := gzip.NewReader(body)
	must(t, err)
	text, err := io.ReadAll(z)
	must(t, err)
	return string(text)
}

func TestAnswersAreCompressedForThoseWhoTakeGzip(t *testing.T) {
	s := (&world{}).server()
	for _, path := range []string{"/", "/app.js", "/style.css", "/icon.svg", "/api/v1/evictions"} {
		whole, small := ask(s, path), ask(s, path, encoding("br, gzip;q=0.5"))
		h := small.Header()
		if h.Get("Content-Encoding") != "gzip" || h.Get("Content-Length") != "" || h.Get("Vary") != "Accept-Encoding" || h.Get("Content-Type") != whole.Header().Get("Content-Type") {
			t.Errorf("%s: headers %v", path, h)
			continue
		}
		text := unzipped(t, small.Body)
		if path != "/api/v1/evictions" && text != whole.Body.String() || !strings.HasPrefix(text, whole.Body.String()[:1]) {
			t.Errorf("%s: another text when compressed: %.200s", path, text)
		}
	}
}

func TestASnapshotIsATenthOfItsSize(t *testing.T) {
	s := (&world{views: loadOf(1000)}).server()
	small := ask(s, "/api/v1/snapshot", encoding("gzip"))
	size := small.Body.Len()
	text := unzipped(t, small.Body)
	var got status.Snapshot
	must(t, json.Unmarshal([]byte(text), &got))
	if len(got.Evictions) != 1000 || size > len(text)/10 {
		t.Errorf("%d evictions in %d bytes of %d", len(got.Evictions), size, len(text))
	}
}

func TestWhoDoesNotTakeGzipGetsTheTextAsItIs(t *testing.T) {
	s := (&world{}).server()
	for _, value := range []string{"", "br", "identity", "gzip;q=0", "gzip; q=0.0", "xgzip"} {
		if h := ask(s, "/", encoding(value)).Header(); h.Get("Content-Encoding") != "" || h.Get("Vary") != "Accept-Encoding" {
			t.Errorf("Accept-Encoding: %s: headers %v", value, h)
		}
	}
}

func TestNothingIsCompressedThatHasNoBodyOrIsAPart(t *testing.T) {
	s := (&world{}).server()
	head := func(r *http.Request) { r.Method = http.MethodHead }
	if w := ask(s, "/", encoding("gzip"), head); w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "" || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	part := func(r *http.Request) { r.Header.Set("Range", "bytes=0-10") }
	if w := ask(s, "/app.js", encoding("gzip"), part); w.Code != http.StatusPartialContent || w.Header().Get("Content-Encoding") != "" || w.Body.String() != "// The page" {
		t.Errorf("a range: %d, %v, %q", w.Code, w.Header(), w.Body)
	}
}
