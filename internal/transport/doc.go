// Package transport makes the connections to the API server: three clients with separate connections, for calls, for
// watches and for the lease, so that none of them waits for another.
//
// Watches use HTTP/1.1 and cost little (docs/adr/0014, 0016). If a load balancer rejects that, they use the main
// connections. A connection whose peer is gone is detected within 45 s, a watch whose server hangs within 150 s.
//
// [Unreachable] says in one sentence why an API server can't be worked with, and what to check.
package transport
