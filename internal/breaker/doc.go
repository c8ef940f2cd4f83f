// Package guard bounds how many pods are evicted at once, and keeps the facts on which verdicts depend beside pods,
// nodes and the configuration: [Rates] are token buckets, [Breakers] hold the evictions of a group of nodes while too
// many of its nodes are affected, and a [Record] of the trips and of the ends of holds outlives the process.
//
// [Core] is pure: [Core.Step] takes one input, such as changes of nodes or the record that the journal has, and
// returns the effects: a new judge, a record to store, and trips and resets to report. [Tracker] is the lock and the
// timer around it, and replaces the configuration. Everything else is pure, too. The time may go backwards only as far
// as clocks do.
//
// Standbys run a core, too, so a change of leader loses neither trips nor nodes that were deleted. Only the leader
// records.
package breaker
