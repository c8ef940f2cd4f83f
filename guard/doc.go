// Package guard bounds how many pods are evicted at once: [Rates] are token buckets, [Breakers] hold the evictions
// of a group of nodes while too many of its nodes are affected, and a [Record] is the state of both that outlives
// the process.
//
// It is pure: no client, no clock, no lock, no goroutine. Its values change, so each belongs to one owner, which
// passes the time. That time may go backwards only as far as clocks do.
package guard
