package cluster

import (
	"bytes"
	"io"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"testing/synctest"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
)

// reflectorBackoff is the reflector's own maximum delay after a failure.
const reflectorBackoff = 4500 * time.Millisecond

// failures fails requests about pods as configured, and records when each is made.
type failures struct {
	api *api

	mu    sync.Mutex
	asked []time.Time
	fail  func(ask string) (*http.Response, error)
}

// begin forgets the recorded requests, and fails requests in this way from now on; nil means no failures.
func (f *failures) begin(fail func(ask string) (*http.Response, error)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.asked, f.fail = nil, fail
}

// way returns how this request fails; nil if it does not.
func (f *failures) way(ask string) func(ask string) (*http.Response, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.fail != nil && strings.HasSuffix(ask, " pods") && strings.HasPrefix(ask, "stream") == f.api.streams {
		f.asked = append(f.asked, time.Now())
		return f.fail
	}
	return nil
}

// refuse fails lists only: streamed ones if the server supports them.
func (f *failures) refuse(ask string) (*http.Response, error) {
	if fail := f.way(ask); fail != nil {
		return fail(ask)
	}
	return nil, nil
}

// pauses returns the times between the requests.
func (f *failures) pauses() (list []time.Duration) {
	f.mu.Lock()
	defer f.mu.Unlock()
	for i := 1; i < len(f.asked); i++ {
		list = append(list, f.asked[i].Sub(f.asked[i-1]))
	}
	return list
}

// cutShort responds with the beginning of a list.
func (a *api) cutShort(string) (*http.Response, error) {
	if !a.streams {
		whole := a.encode(a.list("pods"))
		return a.answer(io.NopCloser(bytes.NewReader(whole[:len(whole)-10]))), nil
	}
	body, w := io.Pipe()
	go func() {
		a.sendTo(w, watch.Added, aPod())
		time.Sleep(500 * time.Millisecond)
		_ = w.Close()
	}()
	return a.answer(body), nil
}

func (a *api) answer(body io.ReadCloser) *http.Response {
	return &http.Response{StatusCode: 200, Header: http.Header{"Content-Type": {a.format}}, Body: body}
}

// A streamed list that breaks off is followed by a plain list, which may succeed.
func TestAListThatBreaksOffIsTroubleAndFollowedByAnotherAfterADelay(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		f := &failures{api: a, fail: a.cutShort}
		var lists atomic.Int32
		a.refuse = func(ask string) (*http.Response, error) {
			if a.streams && ask == "list pods" && f.way("stream pods") != nil {
				lists.Add(1)
				return a.fail(metav1.StatusReasonTimeout, 504), nil
			}
			return f.refuse(ask)
		}
		a.over(t, func(w *Watcher, _ *record) {
			time.Sleep(5 * time.Minute)
			if w.Trouble() == nil || w.HasSynced() {
				t.Errorf("in sync %t, trouble %v", w.HasSynced(), w.Trouble())
			}
			if n := len(f.pauses()); n < 60 || n > 300 {
				t.Errorf("%d lists in 5 minutes", n)
			}
			f.begin(nil)
			time.Sleep(reflectorBackoff)
			must(t, w.Trouble())
			if !w.HasSynced() {
				t.Error("it is not in sync")
			}
		})
	})
}

func TestAServerThatRefusesConnectionsIsAskedEveryFewSeconds(t *testing.T) {
	inAllForms(t, func(t *testing.T, a *api) {
		f := &failures{api: a, fail: func(string) (*http.Response, error) { return nil, syscall.ECONNREFUSED }}
		a.refuse = f.refuse
		a.over(t, func(w *Watcher, _ *record) {
			time.Sleep(5 * time.Minute)
			const want = "watching pods for 5m0s without success: "
			if err := w.Trouble(); w.HasSynced() || err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("in sync %t, trouble %v", w.HasSynced(), err)
			}
			got := f.pauses()
			if len(got) < 60 {
				t.Errorf("%d requests in 5 minutes", len(got)+1)
			}
			for _, pause := range got {
				if pause > reflectorBackoff {
					t.Errorf("a pause of %s", pause)
				}
			}
		})
	})
}

func TestARequestWithoutAnAnswerIsTroubleAfter45Seconds(t *testing.T) {
	for what, begun := range map[string]bool{"the first list": false, "a watch": true} {
		inAllForms(t, func(t *testing.T, a *api) {
			var lost atomic.Bool
			lost.Store(!begun)
			a.refuse = func(string) (*http.Response, error) {
				if !lost.Load() {
					return nil, nil
				}
				time.Sleep(time.Minute) // as if packets were lost
				return nil, syscall.ETIMEDOUT
			}
			a.over(t, func(w *Watcher, _ *record) {
				if begun {
					lost.Store(true)
					time.Sleep(time.Minute)
					must(t, a.watch("pods").Close())
				}
				time.Sleep(44 * time.Second)
				must(t, w.Trouble())
				time.Sleep(time.Second)
				synctest.Wait()
				if err := w.Trouble(); err == nil || !strings.Contains(err.Error(), "watching pods for 45s without success: the API server does not answer") {
					t.Errorf("%s: after 45 s: %v", what, err)
				}
				lost.Store(false)
				time.Sleep(2 * time.Minute)
				must(t, w.Trouble())
			})
		})
	}
}
