package source

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/taint-manager/taint-manager/status"
)

// silentManager answers, and its stream falls silent after the snapshot.
type silentManager struct{ streams int }

func (sm *silentManager) RoundTrip(r *http.Request) (*http.Response, error) {
	s := status.Snapshot{TypeMeta: status.TypeMeta{APIVersion: status.APIVersion, Kind: status.KindSnapshot}, At: time.Now(), Manager: status.Manager{Synced: true, Role: status.Leading}}
	text, err := json.Marshal(s)
	if err != nil {
		return nil, err
	}
	answer := &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(text)))}
	if strings.HasSuffix(r.URL.Path, "/events") {
		sm.streams++
		here, there := io.Pipe()
		go func() { _, _ = io.WriteString(there, "event: snapshot\ndata: "+string(text)+"\n\n") }()
		answer.Body = here
	}
	return answer, nil
}

func TestAStreamThatFallsSilentIsSaidAndOpenedAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		client, err := NewManager("http://127.0.0.1:8080")
		if err != nil {
			t.Fatal(err)
		}
		manager := &silentManager{}
		client.http.Transport = manager
		of, err := client.Follow(ctx, "", nil)
		if err != nil {
			t.Fatal(err)
		}
		time.Sleep(silence - time.Second)
		if notes := of.Pending().Notes; notes != nil {
			t.Errorf("before: %q", notes)
		}
		time.Sleep(1500 * time.Millisecond)
		if notes := of.Pending().Notes; len(notes) != 1 || notes[0] != "the manager does not answer, so this may be out of date: it has been silent for 15s" {
			t.Errorf("after: %q", notes)
		}
		time.Sleep(time.Second)
		if notes := of.Pending().Notes; notes != nil || manager.streams != 2 {
			t.Errorf("opened %d times, and then: %q", manager.streams, notes)
		}
		cancel()
		time.Sleep(2 * silence)
		synctest.Wait()
	})
}

func TestALineWithoutAnEndIsRefused(t *testing.T) {
	endless := io.LimitReader(zeros{}, 1<<30)
	if _, _, err := nextEvent(linesOf(endless)); !errors.Is(err, errTooLarge) {
		t.Errorf("got %v", err)
	}
	if _, err := io.Copy(io.Discard, &bounded{zeros{}, 1000}); !errors.Is(err, errTooLarge) {
		t.Errorf("an answer: got %v", err)
	}
}

// zeros is an endless text.
type zeros struct{}

func (zeros) Read(p []byte) (int, error) { return len(p), nil }
