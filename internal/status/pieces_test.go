package status_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"pgregory.net/rapid"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
)

// slowClient takes what it is sent after a while, or never: then its writes fail at their deadline.
type slowClient struct {
	httptest.ResponseRecorder
	takes time.Duration // for each piece; 0 for never

	deadline time.Time
	pieces   int // that were encoded
	largest  int
}

func (s *slowClient) SetWriteDeadline(at time.Time) error { s.deadline = at; return nil }

func (s *slowClient) Write(p []byte) (int, error) {
	s.pieces++
	s.largest = max(s.largest, len(p))
	left := time.Until(s.deadline)
	if s.takes == 0 || s.takes > left {
		time.Sleep(left)
		return 0, os.ErrDeadlineExceeded
	}
	time.Sleep(s.takes)
	return s.ResponseRecorder.Write(p)
}

// askSlowly asks as a client that takes its time, and calls ended once that was answered.
func askSlowly(s *status.Server, path string, takes time.Duration, ended func()) *slowClient {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "localhost"
	c := &slowClient{ResponseRecorder: *httptest.NewRecorder(), takes: takes}
	go func() { defer ended(); s.ServeHTTP(c, r) }()
	synctest.Wait()
	return c
}

func TestOfTwentyClientsThatReadNothingFourHoldAPieceEach(t *testing.T) {
	for _, path := range []string{"/api/v1/snapshot", "/api/v1/evictions?limit=10000", "/api/v1/nodes"} {
		synctest.Test(t, func(t *testing.T) {
			w := &world{views: loadOf(20_000)}
			for i := range 5000 {
				w.nodes = append(w.nodes, node("n"+strings.Repeat("x", i%50), 0))
			}
			s := w.server()
			var under sync.WaitGroup
			under.Add(20)
			began := time.Now()
			holding, refused := 0, 0
			for range 20 {
				c := askSlowly(s, path, 0, under.Done)
				switch {
				case c.pieces == 1 && c.largest < 300_000 && c.Code == http.StatusOK:
					holding++
				case c.Code == http.StatusServiceUnavailable && c.Header().Get("Retry-After") == "1":
					refused++
				default:
					t.Errorf("%s: %d pieces of up to %d bytes, code %d", path, c.pieces, c.largest, c.Code)
				}
			}
			under.Wait()
			if took := time.Since(began); holding != 4 || refused != 16 || took != 10*time.Second {
				t.Errorf("%s: %d hold a piece, %d were refused, the last was cut after %s", path, holding, refused, took)
			}
			if w := ask(s, path); w.Code != http.StatusOK {
				t.Errorf("%s: then: %d", path, w.Code)
			}
		})
	}
}

func TestWhoIsRefusedForTheCrowdLearnsItInOneSentence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&world{views: loadOf(501)}).server()
		var under sync.WaitGroup
		under.Add(4)
		for range 4 {
			askSlowly(s, "/api/v1/snapshot", 0, under.Done)
		}
		for _, path := range []string{"/api/v1/nodes", "/api/v1/evictions?limit=500"} {
			if w := ask(s, path); w.Code != http.StatusOK {
				t.Errorf("%s, which is one piece: %d %s", path, w.Code, w.Body)
			}
		}
		w := ask(s, "/api/v1/evictions?limit=1000")
		var got status.Error
		must(t, json.Unmarshal(w.Body.Bytes(), &got))
		if want := "too many requests: 4 are already being answered; try again in a second"; w.Code != http.StatusServiceUnavailable || got.Message != want {
			t.Errorf("%d %s, want %q", w.Code, w.Body, want)
		}
		under.Wait()
	})
}

func TestASlowClientGetsAllButNotForEver(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := (&world{views: loadOf(10_000)}).server()
		for takes, want := range map[time.Duration]bool{5 * time.Second: true, 9 * time.Second: false} {
			var under sync.WaitGroup
			under.Add(1)
			c := askSlowly(s, "/api/v1/snapshot", takes, under.Done)
			began := time.Now()
			under.Wait()
			var got status.Snapshot
			err := json.Unmarshal(c.Body.Bytes(), &got)
			if whole := err == nil && len(got.Evictions) == 10_000; whole != want || time.Since(began) > 2*time.Minute {
				t.Errorf("%s a piece: whole %t after %s, %v", takes, whole, time.Since(began), err)
			}
		}
	})
}

// TestPiecesTogetherAreTheWholeText compares with the plain way to write what was read.
func TestPiecesTogetherAreTheWholeText(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		synctest.Test(t, func(t *testing.T) {
			w := &world{views: loadOf(rapid.SampledFrom([]int{0, 1, 499, 500, 501, 1000, 1200}).Draw(rt, "evictions"))}
			for range rapid.SampledFrom([]int{0, 1, 501}).Draw(rt, "nodes") {
				w.nodes = append(w.nodes, node("n1", 1))
			}
			for range rapid.SampledFrom([]int{0, 1, 501}).Draw(rt, "evicted") {
				w.history.Ended(evicted("gone", 1), eviction.Outcome{Kind: eviction.Accepted}, time.Now())
			}
			s := w.server()
			w.manager = status.Manager{Identity: `"evictions":[],"nodes":[] <&>`, Role: status.Leading}
			got := ask(s, "/api/v1/snapshot").Body.String()
			var parsed status.Snapshot
			must(t, json.Unmarshal([]byte(got), &parsed))
			want, err := json.Marshal(parsed)
			must(t, err)
			if got != string(want)+"\n" || len(parsed.Evictions) != len(w.views) || len(parsed.Nodes) != len(w.nodes) {
				rt.Errorf("got\n%.3000s\nwant\n%.3000s", got, want)
			}
		})
	})
}
