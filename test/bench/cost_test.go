package main

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"
)

// paused is a process that adds up how long it was stopped.
type paused struct {
	stopped bool
	since   time.Time
	total   time.Duration
	fails   error
}

func (p *paused) Pause() error { p.stopped, p.since = true, time.Now(); return p.fails }

func (p *paused) Resume() error {
	p.stopped, p.total = false, p.total+time.Since(p.since)
	return nil
}

func TestAThrottledProcessRunsForItsShareAndFreelyAfterwards(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &paused{}
		err := throttled(t.Context(), p, 0.25, func() error { time.Sleep(10*time.Second + time.Millisecond); return nil }) //nolint:forbidigo // in virtual time
		if err != nil || p.stopped || p.total < 7500*time.Millisecond || p.total > 7502*time.Millisecond {
			t.Errorf("got %v; stopped for %v of 10 s, now: %v", err, p.total, p.stopped)
		}
	})
}

func TestAThrottleThatFailsIsReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		broken := errors.New("no such process")
		do := func() error { time.Sleep(time.Second); return nil } //nolint:forbidigo // in virtual time
		if err := throttled(t.Context(), &paused{fails: broken}, 0.25, do); !errors.Is(err, broken) {
			t.Errorf("got %v", err)
		}
	})
}

func TestRequestsAreCountedWithoutWatches(t *testing.T) {
	const before = `apiserver_request_total{resource="pods",verb="DELETE"} 10
apiserver_request_total{resource="events",verb="POST"} 1
apiserver_request_total{resource="pods",verb="WATCH"} 3
`
	const after = `apiserver_request_total{resource="pods",verb="DELETE"} 50
apiserver_request_total{resource="events",verb="POST"} 6
apiserver_request_total{resource="events",verb="LIST"} 2
apiserver_request_total{resource="pods",verb="WATCH"} 9
`
	was, is := requests(before), requests(after)
	if is[calls]-was[calls] != 47 || is[eventWrites]-was[eventWrites] != 5 {
		t.Errorf("%v after %v", is, was)
	}
}
