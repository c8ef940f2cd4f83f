package load

import (
	"net/http/httptest"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

func TestAWebhookHoldsADeletionFor30SecondsOrUntilItIsReleased(t *testing.T) {
	const review = `{"request":{"uid":"1"}}`
	for _, c := range []struct {
		name, denial, body string
		released           bool
		takes              time.Duration
		answer             string
	}{
		{name: "held", body: review, takes: 30 * time.Second, answer: `"allowed":true`},
		{name: "released", body: review, released: true, takes: time.Second, answer: `"allowed":true`},
		{name: "denied", denial: "no", body: review, answer: `"allowed":false,"status":{"metadata":{},"message":"no"}`},
		{name: "no review", body: "{}", answer: "no AdmissionReview"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				h := &Webhook{Denial: c.denial, released: make(chan struct{})}
				if c.released {
					time.AfterFunc(time.Second, func() { close(h.released) })
				}
				began, w := time.Now(), httptest.NewRecorder()
				h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "POST", "/", strings.NewReader(c.body)))
				if took, answer := time.Since(began), w.Body.String(); took != c.takes || !strings.Contains(answer, c.answer) {
					t.Errorf("after %v: %s; want %s after %v", took, answer, c.answer, c.takes)
				}
			})
		})
	}
}
