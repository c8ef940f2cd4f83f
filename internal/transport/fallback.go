package transport

import (
	"errors"
	"net"
	"net/http"
	"slices"
	"sync/atomic"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/klog/v2"
)

// watchClient returns the client for watches. It has its own connections, or uses the main ones if those are rejected.
func watchClient(access *rest.Config, main http.RoundTripper) (kubernetes.Interface, error) {
	client, err := rest.HTTPClientFor(access)
	if err != nil {
		return nil, err
	}
	own := *client
	own.Transport = &fallback{own: client.Transport, main: main}
	return kubernetes.NewForConfigAndClient(access, &own)
}

// fallback sends requests without a body over its own connections. If the first request fails there and succeeds over
// the main connections, it uses the main ones from then on, because some load balancers accept only HTTP/2.
type fallback struct {
	own, main http.RoundTripper
	chosen    atomic.Pointer[http.RoundTripper] // nil until a request has succeeded
}

// RoundTrip sends a request.
func (f *fallback) RoundTrip(r *http.Request) (*http.Response, error) {
	if chosen := f.chosen.Load(); chosen != nil {
		return (*chosen).RoundTrip(r)
	}
	answer, err := f.own.RoundTrip(r)
	switch {
	case err == nil && succeeded(answer):
		f.chosen.CompareAndSwap(nil, &f.own)
	case r.Context().Err() == nil && refusesVersion(answer, err):
		if other := f.tryMain(r, err); other != nil {
			discard(answer)
			return other, nil
		}
	}
	return answer, err
}

// tryMain sends the request over the main connections. It returns nil unless the response is a success.
func (f *fallback) tryMain(r *http.Request, because error) *http.Response {
	answer, err := f.main.RoundTrip(r)
	if err != nil || !succeeded(answer) {
		discard(answer)
		return nil
	}
	if f.chosen.CompareAndSwap(nil, &f.main) {
		klog.FromContext(r.Context()).Info("HTTP/1.1 is not taken on the way to the API server: watches use the main connection, HTTP/2, and cost a little more", "err", because)
	}
	return answer
}

func succeeded(answer *http.Response) bool { return answer.StatusCode/100 == 2 }

// versionStatuses are the statuses with which servers and load balancers reject an HTTP version.
var versionStatuses = []int{http.StatusBadRequest, http.StatusUpgradeRequired, http.StatusHTTPVersionNotSupported, 464}

// refusesVersion reports whether a request may have failed because of HTTP/1.1. A connection that cannot be established
// does not count.
func refusesVersion(answer *http.Response, err error) bool {
	if err == nil {
		return slices.Contains(versionStatuses, answer.StatusCode)
	}
	dialing, ok := errors.AsType[*net.OpError](err)
	return !ok || dialing.Op != "dial"
}

func discard(answer *http.Response) {
	if answer != nil {
		answer.Body.Close()
	}
}
