package skew

import (
	"net/http"
	"time"
)

// observer is a RoundTripper that reads the Date header of the first responses.
type observer struct {
	http.RoundTripper

	clock *Clock
}

// RoundTripper returns next, wrapped so that the clock reads the Date header of its responses; it sends no request of
// its own.
// It is for [k8s.io/client-go/rest.Config.Wrap].
func (c *Clock) RoundTripper(next http.RoundTripper) http.RoundTripper { return observer{next, c} }

// RoundTrip forwards the request.
func (o observer) RoundTrip(r *http.Request) (*http.Response, error) {
	if !o.clock.wanted() {
		return o.RoundTripper.RoundTrip(r)
	}
	sent := time.Now()
	answer, err := o.RoundTripper.RoundTrip(r)
	received := time.Now()
	if err != nil {
		return answer, err
	}
	if date, err := http.ParseTime(answer.Header.Get("Date")); err == nil {
		o.clock.answered(date, sent, received)
	}
	return answer, nil
}

// WrappedRoundTripper returns the wrapped RoundTripper; client-go calls it.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.RoundTripper }
