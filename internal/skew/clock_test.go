package skew

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// server responds with its own clock, after a delay.
type server struct {
	offset, takes time.Duration
	date          string
	status        int // 0: OK
	fails         bool
	asked         int
}

func (s *server) RoundTrip(*http.Request) (*http.Response, error) {
	s.asked++
	time.Sleep(s.takes)
	if s.fails {
		return nil, errors.New("connection refused")
	}
	date := s.date
	if date == "" {
		date = time.Now().Add(s.offset).UTC().Format(http.TimeFormat)
	}
	return &http.Response{
		StatusCode: cmp.Or(s.status, http.StatusOK), Header: http.Header{"Date": {date}}, Body: http.NoBody,
	}, nil
}

func ask(t *testing.T, c *Clock, s *server, times int) {
	t.Helper()
	client := c.RoundTripper(s)
	for range times {
		answer, err := client.RoundTrip(&http.Request{})
		if (err != nil) != s.fails || err == nil && answer == nil {
			t.Fatalf("got %v, %v", answer, err)
		}
		if err == nil {
			_ = answer.Body.Close()
		}
		time.Sleep(300 * time.Millisecond)
	}
}

func TestAClockLearnsFromTheDateOfAnswers(t *testing.T) {
	for _, c := range []struct {
		name    string
		server  server
		least   time.Duration
		most    time.Duration
		trouble string
	}{
		{"in step", server{takes: time.Millisecond}, -100 * time.Millisecond, 100 * time.Millisecond, ""},
		{"an hour ahead", server{offset: -time.Hour, takes: time.Millisecond}, time.Hour - 100*time.Millisecond, time.Hour + 100*time.Millisecond, "is ahead of the API server's by 59m59.9s to 1h0m0s"},
		{"an hour behind", server{offset: time.Hour}, -time.Hour - 100*time.Millisecond, -time.Hour + 100*time.Millisecond, "is behind the API server's by 1h0m0s to 1h0m0.1s"},
		{"no Date that can be read", server{date: "today", offset: -time.Hour}, 0, 0, ""},
		{"no answer", server{fails: true, offset: -time.Hour}, 0, 0, ""},
		{"an error of a load balancer", server{status: http.StatusServiceUnavailable, offset: -time.Hour}, 0, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock := New()
				ask(t, clock, &c.server, 10)
				if least, most := clock.Ahead(time.Now()); least < c.least || most > c.most {
					t.Errorf("ahead by %v to %v, want %v to %v", least, most, c.least, c.most)
				}
				err := clock.Trouble(time.Now())
				if (err == nil) != (c.trouble == "") || err != nil && !strings.Contains(err.Error(), c.trouble) {
					t.Errorf("got the trouble %v, want %q", err, c.trouble)
				}
			})
		})
	}
}

// A clock without NTP runs a second a day too fast, or is suspended.
func TestAClockThatDriftsIsFollowed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		clock, s := New(), &server{takes: 3 * time.Millisecond}
		ask(t, clock, s, 10)
		for range 100_000 {
			s.offset -= 20 * time.Microsecond
			ask(t, clock, s, 1)
			if least, most := clock.Ahead(time.Now()); most < -s.offset-50*time.Millisecond || least > -s.offset {
				t.Fatalf("ahead by %v; got %v to %v", -s.offset, least, most)
			}
		}
		s.offset -= time.Hour
		ask(t, clock, s, 20)
		if least, most := clock.Ahead(time.Now()); least < -s.offset-time.Second || most > -s.offset+time.Second {
			t.Errorf("after an hour of sleep: ahead by %v; got %v to %v", -s.offset, least, most)
		}
	})
}

func TestASearchFindsTheTurnOfASecondAndEnds(t *testing.T) {
	for _, c := range []struct {
		name   string
		server server
		known  time.Duration // how exactly
		within time.Duration
		asked  int // at most
	}{
		{"a quick server", server{offset: -730 * time.Millisecond, takes: 2 * time.Millisecond}, 60 * time.Millisecond, 1100 * time.Millisecond, 25},
		{"a slow server", server{takes: 300 * time.Millisecond}, time.Second, 2300 * time.Millisecond, 7},
		{"a server without a Date", server{date: "today"}, 0, 2100 * time.Millisecond, 45},
		{"no server", server{fails: true}, 0, 2100 * time.Millisecond, 45},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				clock, began := New(), time.Now()
				client := clock.RoundTripper(&c.server)
				clock.Search(t.Context(), func(context.Context) {
					_, _ = client.RoundTrip(&http.Request{}) //nolint:bodyclose // it has none
				})
				least, most := clock.Ahead(time.Now())
				if took := time.Since(began); most-least > c.known || took > c.within || c.server.asked > c.asked {
					t.Errorf("known to %v after %v and %d requests", most-least, took, c.server.asked)
				}
				if ahead := -c.server.offset; c.known > 0 && (least > ahead || most < ahead) {
					t.Errorf("ahead by %v; got %v to %v", ahead, least, most)
				}
			})
		})
	}
}

func TestTheMetricSaysHowFarAheadTheClockMayBe(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		registry := prometheus.NewRegistry()
		clock := New()
		if err := clock.Register(registry); err != nil {
			t.Fatal(err)
		}
		if err := clock.Register(registry); err == nil {
			t.Error("it registers twice")
		}
		value := func() float64 {
			families, err := registry.Gather()
			if err != nil || len(families) != 1 {
				t.Fatalf("got %v, %v", families, err)
			}
			return families[0].GetMetric()[0].GetGauge().GetValue()
		}
		if got := value(); got == got {
			t.Errorf("before an answer it is %v, want NaN", got)
		}
		ask(t, clock, &server{offset: -90 * time.Second}, 10)
		if got := value(); got < 90 || got > 90.1 {
			t.Errorf("it is %v, want 90", got)
		}
	})
}

func TestClientGoSeesWhatIsWrapped(t *testing.T) {
	s := &server{}
	wrapped, ok := New().RoundTripper(s).(interface{ WrappedRoundTripper() http.RoundTripper })
	if !ok || wrapped.WrappedRoundTripper() != s {
		t.Error("it is hidden")
	}
}
