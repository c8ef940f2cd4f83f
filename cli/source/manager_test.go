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

	"github.com/taint-manager/taint-manager/internal/status"
)

// manager answers with each change once, and with a whole snapshot where the tag is not its own.
type manager struct {
	changes  []status.Changes // the first one is a snapshot
	away     bool
	hangs    bool
	requests int
}

func (m *manager) RoundTrip(r *http.Request) (*http.Response, error) {
	m.requests++
	if m.away {
		return nil, errors.New("connection refused")
	}
	if m.hangs {
		<-r.Context().Done()
		return nil, context.Cause(r.Context())
	}
	next := 0
	for i := range m.changes {
		if m.changes[i].Tag == r.URL.Query().Get("since") {
			next = i + 1
		}
	}
	if next == len(m.changes) {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody}, nil
	}
	text, err := json.Marshal(m.changes[next])
	return &http.Response{StatusCode: http.StatusOK, Body: io.NopCloser(strings.NewReader(string(text)))}, err
}

// answerOf returns an answer of a manager that leads.
func answerOf(kind, tag string, uids ...string) (c status.Changes) {
	c.TypeMeta = status.TypeMeta{APIVersion: status.APIVersion, Kind: kind}
	c.Tag, c.Manager = tag, status.Manager{Synced: true, Role: status.Leading}
	for _, uid := range uids {
		c.Evictions = append(c.Evictions, status.Eviction{UID: uid})
	}
	return c
}

// follow follows a manager in the test's bubble.
func follow(t *testing.T, m *manager) *Followed {
	t.Helper()
	client, err := NewManager("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	client.http.Transport = m
	f, err := client.Follow(t.Context(), "", nil)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

// uidsOf returns the UIDs of the evictions, in any order, as letters.
func uidsOf(f *Followed) string {
	pods := f.Pending(context.Background()).Pods
	list := ""
	for _, letter := range "abcd" {
		for i := range pods {
			if pods[i].UID == string(letter) {
				list += string(letter)
			}
		}
	}
	return list
}

func TestAManagerIsAskedEverySecondForWhatHasChanged(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &manager{changes: []status.Changes{answerOf(status.KindSnapshot, "1", "a", "b")}}
		f := follow(t, m)
		if got := uidsOf(f); got != "ab" {
			t.Errorf("at first: %s", got)
		}
		change := answerOf(status.KindChanges, "2", "c")
		change.Gone = append(change.Gone, "a")
		m.changes = append(m.changes, change)
		time.Sleep(askAgainAfter)
		got := uidsOf(f)
		if got != "bc" {
			t.Errorf("after a second: %s", got)
		}
		for range 10 {
			time.Sleep(time.Second)
			_, got = uidsOf(f), uidsOf(f)
		}
		if got != "bc" || m.requests != 12 {
			t.Errorf("then: %s after %d requests", got, m.requests)
		}
		m.changes = []status.Changes{answerOf(status.KindSnapshot, "of another process", "d")}
		time.Sleep(askAgainAfter)
		if got := uidsOf(f); got != "d" {
			t.Errorf("of another process: %s", got)
		}
	})
}

func TestAManagerThatIsAwayIsSaidAndAskedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &manager{changes: []status.Changes{answerOf(status.KindSnapshot, "1", "a")}}
		f := follow(t, m)
		m.away = true
		time.Sleep(askAgainAfter)
		if notes := strings.Join(f.Pending(context.Background()).Notes, "\n"); !strings.Contains(notes, "connection refused") || uidsOf(f) != "a" {
			t.Errorf("while it is away: %s, %s", notes, uidsOf(f))
		}
		m.away = false
		time.Sleep(askAgainAfter)
		if notes := f.Pending(context.Background()).Notes; notes != nil {
			t.Errorf("then: %v", notes)
		}
	})
}

// A screen waits with the request.
func TestAManagerThatHangsIsSaidAfterTwoSeconds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &manager{changes: []status.Changes{answerOf(status.KindSnapshot, "1", "a")}}
		f := follow(t, m)
		m.hangs = true
		time.Sleep(askAgainAfter)
		asked := time.Now()
		notes := strings.Join(f.Pending(context.Background()).Notes, "\n")
		if took := time.Since(asked); took != newsPatience || !strings.Contains(notes, "no answer within 2s") {
			t.Errorf("after %v: %s", took, notes)
		}
	})
}

func TestAChangeIsRefusedWhereASnapshotWasAskedFor(t *testing.T) {
	client, err := NewManager("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	client.http.Transport = &manager{changes: []status.Changes{answerOf(status.KindChanges, "1")}}
	if _, err := client.Follow(t.Context(), "", nil); err == nil || !strings.Contains(err.Error(), "Changes") {
		t.Errorf("got %v", err)
	}
}

// Ctrl-C must not look like a manager without evictions.
func TestAFirstAnswerThatIsInterruptedIsAnError(t *testing.T) {
	client, err := NewManager("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	client.http.Transport = &manager{away: true}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := client.Follow(ctx, "", nil); !errors.Is(err, context.Canceled) {
		t.Errorf("got %v", err)
	}
}

func TestAnAnswerThatIsTooLargeIsSaid(t *testing.T) {
	client, err := NewManager("http://127.0.0.1:8080")
	if err != nil {
		t.Fatal(err)
	}
	const want = "the response is larger than 512 MiB"
	if err := client.errNotManager(&http.MaxBytesError{Limit: largestAnswer}); !strings.Contains(err.Error(), want) {
		t.Errorf("got %v", err)
	}
}
