package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

func line(verb, subresource, name, at string) string {
	return `{"verb":"` + verb + `","objectRef":{"resource":"pods","subresource":"` + subresource + `","name":"` + name +
		`"},"requestReceivedTimestamp":"` + at + "\"}\n"
}

func TestTheFirstDeleteIsThatOfThePodSinceTheLogIsFollowed(t *testing.T) {
	path := filepath.Join(t.TempDir(), "audit.log")
	write := func(lines ...string) {
		file, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		if err != nil {
			t.Fatal(err)
		}
		defer file.Close()
		if _, err := file.WriteString(strings.Join(lines, "")); err != nil {
			t.Fatal(err)
		}
	}
	write(line("delete", "", "mine", "2026-01-01T00:00:01.000001Z"))
	log, err := followAudit(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.close()
	write(
		line("patch", "status", "mine", "2026-01-01T00:00:02.000001Z"),
		line("get", "", "mine", "2026-01-01T00:00:02.000002Z"),
		line("delete", "", "other", "2026-01-01T00:00:03.000001Z"),
		line("delete", "", "mine", "2026-01-01T00:00:04.000001Z"),
		line("delete", "", "mine", "2026-01-01T00:00:05.000001Z"),
	)
	at, err := log.firstDelete("mine")
	if want := time.Date(2026, 1, 1, 0, 0, 4, 1000, time.UTC); err != nil || !at.Equal(want) {
		t.Errorf("got %v, %v; want %v", at, err, want)
	}
	if _, err := log.firstDelete("mine"); err == nil {
		t.Error("what was read before counts again")
	}
}
