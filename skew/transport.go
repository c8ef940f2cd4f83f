package skew

import (
	"net/http"
	"time"
)

// observer is a RoundTripper that reads the Date of the first answers.
type observer struct {
	http.RoundTripper

	clock *Clock
}

// RoundTripper returns next with the clock reading the Date header of its answers; it sends no request of its own.
// It is for [k8s.io/client-go/rest.Config.Wrap].
func (c *Clock) RoundTripper(next http.RoundTripper) http.RoundTripper { return observer{next, c} }

// RoundTrip passes the request on.
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

// WrappedRoundTripper returns what is wrapped, as client-go asks for it.
func (o observer) WrappedRoundTripper() http.RoundTripper { return o.RoundTripper }
