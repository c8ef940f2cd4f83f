package status_test

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/status"
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

func TestNothingIsCompressedThatHasNoBody(t *testing.T) {
	s := (&world{}).server()
	head := func(r *http.Request) { r.Method = http.MethodHead }
	if w := ask(s, "/", encoding("gzip"), head); w.Code != http.StatusOK || w.Header().Get("Content-Encoding") != "" || w.Body.Len() != 0 {
		t.Errorf("HEAD: %d, %v, %d bytes", w.Code, w.Header(), w.Body.Len())
	}
	part := func(r *http.Request) { r.Header.Set("Range", "bytes=0-9") }
	if w := ask(s, "/app.js", encoding("gzip"), part); w.Code != http.StatusOK || !strings.HasPrefix(unzipped(t, w.Body), "// The page") {
		t.Errorf("a range: %d", w.Code)
	}
}

// A message can be read once it is sent, and the whole stream is one complete file.
func TestTheStreamIsCompressedMessageByMessage(t *testing.T) {
	w := &world{views: loadOf(1200)}
	server := httptest.NewServer(w.server())
	defer server.Close()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, server.URL+"/api/v1/events", nil)
	must(t, err)
	request.Header.Set("Accept-Encoding", "gzip")
	answer, err := server.Client().Do(request)
	must(t, err)
	defer answer.Body.Close()
	if answer.Header.Get("Content-Encoding") != "gzip" {
		t.Fatalf("headers %v", answer.Header)
	}
	var sent bytes.Buffer
	z, err := gzip.NewReader(io.TeeReader(answer.Body, &sent))
	must(t, err)
	lines := bufio.NewReader(z)
	next := func(prefix string) string {
		for {
			line, err := lines.ReadString('\n')
			must(t, err)
			if strings.HasPrefix(line, prefix) {
				return line
			}
		}
	}
	size := len(next(`data: {"apiVersion"`)) + len(next(`data: {"evictions"`)) + len(next(`data: {"evictions"`))
	if sent.Len() > size/5 {
		t.Errorf("%d bytes were sent for %d", sent.Len(), size)
	}
	w.set(func(w *world) { w.views = w.views[:1] })
	line := next(`data: {"at"`)
	for strings.Contains(line, `"scheduled":1200,`) { // of a tick before that
		line = next(`data: {"at"`)
	}
	if !strings.Contains(line, `"scheduled":1,`) {
		t.Errorf("then came %.100s", line)
	}
}

func TestTheStreamEndsAsACompleteFile(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := &world{views: []eviction.View{view("p", "n", 60)}}
		v := watchAs(t, w.server(), "", &watcher{}, encoding("gzip"))
		time.Sleep(6 * tick)
		v.leave()
		text := unzipped(t, strings.NewReader(v.text.String()))
		if !strings.HasPrefix(text, "retry: 1000\n\nevent: snapshot\n") || !strings.Contains(text, "\nevent: change\n") {
			t.Errorf("got %q", text)
		}
	})
}
