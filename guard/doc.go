// Package guard bounds how much goes at once: [Rates] are token buckets, [Breakers] hold the evictions of a group of
// nodes while too many of its nodes are affected, and a [Record] is what of that outlives the process.
//
// It is pure: no client, no clock, no lock, no goroutine. Its values change, so each belongs to one owner, who hands the
// time in. That time may not go backwards by more than clocks do.
package guard
