package journal_test

import (
	"bytes"
	"testing"

	"github.com/taint-manager/taint-manager/internal/journal"
)

// FuzzState decodes any state: a configuration that is taken has one stored form, which is read as it was written.
func FuzzState(f *testing.F) {
	config := aConfig()
	text, err := config.Encode()
	if err != nil {
		f.Fatal(err)
	}
	f.Add(`{"version":1,"written":"2026-01-01T00:00:00Z","leader":"me","unstored":[1],"reached":"7"}`, `{"trips":[]}`, string(text))
	f.Add(`{"version":1}`, "", `{"method":"Ignore","guards":{"breakers":[{"name":"b","resetBefore":"2026-01-01T00:00:00.5+01:00","minNodes":3}],"rates":[{"name":"r","evictionsPerSecond":1e-9}]}}`)
	f.Add(`{"version":2}`, "", "null")
	f.Fuzz(func(t *testing.T, head, guards, text string) {
		s, err := journal.DecodeState(map[string]string{journal.Head: head, journal.GuardsKey: guards, journal.ConfigKey: text})
		if err != nil || s.Config == nil {
			if err != nil && s.Config != nil {
				t.Errorf("got %+v with %v", s.Config, err)
			}
			return
		}
		stored, err := s.Config.Encode()
		if err != nil {
			return // it is too large
		}
		again, err := journal.DecodeState(journal.EncodeState(s.Heartbeat, s.Guards, stored))
		if err != nil {
			t.Fatalf("the stored form %s can't be read: %v", stored, err)
		}
		if twice, err := again.Config.Encode(); err != nil || !bytes.Equal(stored, twice) {
			t.Errorf("%s is read as %s, %v", stored, twice, err)
		}
	})
}
