package status

import (
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"net/netip"
	"strings"
	"time"
)

// contentPolicy allows a page to run this server's own scripts and styles, talk to this server, and do nothing else.
const contentPolicy = "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; " +
	"base-uri 'none'; form-action 'none'; frame-ancestors 'none'"

// refused refuses requests that are not from this machine, or that do more than read, and reports whether it did.
func refused(w http.ResponseWriter, r *http.Request) bool {
	if r.ContentLength != 0 {
		forgoBody(w)
	}
	switch {
	case !ownHost(r.Host):
		refuse(w, http.StatusForbidden, fmt.Sprintf(
			"host %q is not allowed; use localhost or a loopback address, as after kubectl port-forward", r.Host))
	case r.Method != http.MethodGet && r.Method != http.MethodHead:
		w.Header().Set("Allow", "GET, HEAD")
		refuse(w, http.StatusMethodNotAllowed, fmt.Sprintf(
			"method %q is not allowed; use GET", r.Method))
	case r.ContentLength != 0:
		refuse(w, http.StatusRequestEntityTooLarge,
			"a request body is not allowed; use GET without a body")
	case foreign(r):
		refuse(w, http.StatusForbidden, "cross-site requests are not allowed; open this address directly")
	default:
		return false
	}
	return true
}

// forgoBody keeps the server from waiting for the body of a request, which it would read to the end to reuse the
// connection.
func forgoBody(w http.ResponseWriter) {
	w.Header().Set("Connection", "close")
	_ = http.NewResponseController(w).SetReadDeadline(time.Now())
}

// mark sets the headers of all answers.
func mark(h http.Header) {
	h.Set("Content-Security-Policy", contentPolicy)
	h.Set("X-Content-Type-Options", "nosniff")
	h.Set("X-Frame-Options", "DENY")
	h.Set("Referrer-Policy", "no-referrer")
	h.Set("Cross-Origin-Resource-Policy", "same-origin")
	h.Set("Cross-Origin-Opener-Policy", "same-origin")
	h.Set("Cache-Control", "no-store")
}

// ownHost reports whether a Host header names this machine. With DNS rebinding, a foreign name may resolve to
// this machine, and a page of that name could read the answers of this server.
func ownHost(host string) bool {
	name := host
	if h, _, err := net.SplitHostPort(host); err == nil {
		name = h
	}
	if strings.EqualFold(strings.TrimSuffix(name, "."), "localhost") {
		return true
	}
	ip, err := netip.ParseAddr(strings.Trim(name, "[]"))
	return err == nil && ip.Unmap().IsLoopback()
}

// foreign reports whether a browser sends the request for a page of another site. Following a link does not count.
func foreign(r *http.Request) bool {
	switch r.Header.Get("Sec-Fetch-Site") {
	case "", "same-origin", "none":
		return false
	}
	return r.Header.Get("Sec-Fetch-Mode") != "navigate" || r.Header.Get("Sec-Fetch-Dest") != "document"
}

// refuse answers with one sentence as JSON, and a line break for terminals.
func refuse(w http.ResponseWriter, code int, sentence string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(code)
	_ = json.NewEncoder(w).Encode(Error{TypeMeta{APIVersion, KindError}, sentence}) // it fails if the client is gone
}
