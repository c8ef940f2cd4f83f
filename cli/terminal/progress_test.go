package terminal

import (
	"io"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAProgressIsDrawnOnceItTakesLong(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var screen strings.Builder
		p := NewProgress(&screen, "Reading dump.json", 1000)
		p.w = &screen // as if it were a terminal
		p.Add(100)
		time.Sleep(499 * time.Millisecond)
		p.Add(100)
		if screen.String() != "" {
			t.Errorf("after 499 ms: %q", screen.String())
		}
		time.Sleep(time.Millisecond)
		p.Add(300)
		want := "\r\x1b[KReading dump.json [===============               ]  50 %"
		if screen.String() != want {
			t.Errorf("after 500 ms: %q, want %q", screen.String(), want)
		}
		p.Add(1)
		if screen.String() != want {
			t.Errorf("drawn twice in 100 ms: %q", screen.String())
		}
		p.End()
		if screen.String() != want+"\r\x1b[K" {
			t.Errorf("at the end: %q", screen.String())
		}
	})
}

func TestAProgressIsNotDrawnWhereThereIsNoTerminal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log strings.Builder
		p := NewProgress(&log, "Reading", 10)
		_, err := io.Copy(io.Discard, io.TeeReader(strings.NewReader("12345"), p))
		time.Sleep(time.Second)
		p.Add(1)
		p.End()
		if err != nil || log.String() != "" || p.done != 6 {
			t.Errorf("drawn: %q, done %d, %v", log.String(), p.done, err)
		}
	})
}

func TestAProgressWithoutAKnownEndCounts(t *testing.T) {
	for done, want := range map[int64]string{7: "Reading: 7", 34_560_000: "Reading: 34560000"} {
		if got := (&Progress{label: "Reading", done: done}).String(); got != want {
			t.Errorf("got %q, want %q", got, want)
		}
	}
	if got := (&Progress{label: "Reading", done: 30, total: 20}).String(); !strings.HasSuffix(got, " 100 %") {
		t.Errorf("more than all: got %q", got)
	}
}
