package status_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
)

// broken is a source that panics from a moment on.
type broken struct {
	*world
	from time.Time
}

func (b *broken) Earliest(ctx context.Context, most int) ([]eviction.View, int, error) {
	if !time.Now().Before(b.from) {
		panic("a view of nothing")
	}
	return b.world.Earliest(ctx, most)
}

func TestAPanicWhileLookingEndsThePageAndNothingElse(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines []string
		log := funcr.New(func(_, line string) { lines = append(lines, line) }, funcr.Options{})
		w := &broken{world: &world{views: loadOf(3)}, from: time.Now().Add(5 * time.Second)}
		s := status.New(status.Options{Source: w, History: &w.history, Manager: w.about})
		logged := func(r *http.Request) { *r = *r.WithContext(klog.NewContext(r.Context(), log)) }
		for range 10 {
			ask(s, "/api/v1/snapshot", logged)
			time.Sleep(time.Second)
		}
		if len(lines) != 1 || !strings.Contains(lines[0], "The page has stopped after an internal error; evictions continue") || !strings.Contains(lines[0], "a view of nothing") || !strings.Contains(lines[0], "panic_test.go") {
			t.Errorf("said %q, want one line with the stack", lines)
		}
		for _, path := range []string{"/", "/app.js", "/api/v1/snapshot", "/api/v1/evictions", "/api/v1/nodes"} {
			answer := ask(s, path, logged)
			var got status.Error
			must(t, json.Unmarshal(answer.Body.Bytes(), &got))
			if want := "the page has stopped after an internal error; evictions continue; see the log, and restart taint-manager to restore the page"; answer.Code != http.StatusServiceUnavailable || got.Message != want {
				t.Errorf("%s: %d %s, want %q", path, answer.Code, answer.Body, want)
			}
		}
		time.Sleep(time.Hour)
		if len(lines) != 1 {
			t.Errorf("said %q", lines[1:])
		}
	})
}
