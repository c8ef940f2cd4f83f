package main

import (
	"os"
	"path/filepath"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
)

func line(verb, subresource, name, at string) string {
	return `{"verb":"` + verb + `","objectRef":{"resource":"pods","subresource":"` + subresource + `","name":"` + name +
		`"},"requestReceivedTimestamp":"` + at + "\"}\n"
}

// added creates a log to which a test can add text.
func added(t *testing.T) (path string, write func(text string)) {
	path = filepath.Join(t.TempDir(), "audit.log")
	return path, func(text string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
}

func TestTheFirstDeleteIsThatOfThePodSinceTheLogIsFollowed(t *testing.T) {
	path, write := added(t)
	write(line("delete", "", "mine", "2026-01-01T00:00:01.000001Z"))
	log, err := load.OpenAuditLog(path, true)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	write(line("patch", "status", "mine", "2026-01-01T00:00:02.000001Z") +
		line("get", "", "mine", "2026-01-01T00:00:02.000002Z") +
		line("delete", "", "other", "2026-01-01T00:00:03.000001Z") +
		line("delete", "", "mine", "2026-01-01T00:00:04.000001Z") +
		line("delete", "", "other", "2026-01-01T00:00:05.000001Z"))
	at, err := firstDelete(t.Context(), log, "mine")
	if want := time.Date(2026, 1, 1, 0, 0, 4, 1000, time.UTC); err != nil || !at.Equal(want) {
		t.Errorf("got %v, %v; want %v", at, err, want)
	}
}

// The record is written when the answer is complete; the watch may have shown the deletion before.
func TestARecordThatIsStillBeingWrittenIsWaitedFor(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		path, write := added(t)
		write("")
		log, err := load.OpenAuditLog(path, true)
		if err != nil {
			t.Fatal(err)
		}
		defer log.Close()
		record := line("delete", "", "mine", "2026-01-01T00:00:04.000001Z")
		time.AfterFunc(time.Second, func() { write(record[:40]) })
		time.AfterFunc(2*time.Second, func() { write(record[40:]) })
		at, err := firstDelete(t.Context(), log, "mine")
		if want := time.Date(2026, 1, 1, 0, 0, 4, 1000, time.UTC); err != nil || !at.Equal(want) {
			t.Errorf("got %v, %v; want %v", at, err, want)
		}
		if _, err := firstDelete(t.Context(), log, "mine"); err == nil {
			t.Error("a record that never comes is found")
		}
	})
}
