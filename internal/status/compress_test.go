package status_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"strings"
	"testing"
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
