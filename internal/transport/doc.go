// Package transport has the connections to the API server: three clients with connections of their own, for calls, for
// watches and for the lease, so that none of them waits for another.
//
// Watches speak HTTP/1.1 and cost little (docs/adr/0014, 0016); where a balancer does not take that, they use the main
// connections. A connection whose peer is gone is noticed within 45 s, a watch whose server hangs within 150 s.
package transport
