// Package transport makes the connections to the API server: three clients of client-go, for calls, for watches and for
// the lease. Each has a connection of its own, so that none of them waits for another.
//
// A dead connection is detected in two ways, and a broken one changes nothing for later connections. The kernel probes
// a connection of watches or of the lease that is idle, and gives it up after 45 s. Client-go pings by HTTP/2 a server
// that has sent nothing for 30 s, and gives it up if no answer comes within 15 s, so that a hanging server is detected,
// too. The environment variables HTTP2_READ_IDLE_TIMEOUT_SECONDS and HTTP2_PING_TIMEOUT_SECONDS of client-go change
// these two times. There are no pings on HTTP/1.1, which a proxy may impose.
//
// [Unreachable] says in one sentence why an API server can't be worked with, and what to check.
package transport
