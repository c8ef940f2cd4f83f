// Package breaker keeps the facts on which verdicts depend in addition to pods, nodes and the configuration: which
// breakers are tripped ([Breakers]), which holds have ended, and when policies began. A [Record] of them outlives the
// process.
//
// [Core] is pure: [Core.Step] takes one input, such as changes of nodes, and returns the effects: a new judge, a record
// to store, and trips and resets to report. [Tracker] is the lock and the timer around it, and replaces the
// configuration. The time may go backwards only as far as clocks do.
//
// A term begins with the record of the term before. In a term, shards know which pods were released from holds, and
// when; the record is for the next term. Standbys run a core, too, so a change of leader loses neither the trips nor
// the nodes that were deleted. Only the leader records.
package breaker
