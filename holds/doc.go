// Package holds keeps what verdicts depend on beside pods, nodes and the configuration: which breakers are tripped,
// whether evictions are paused, and when each hold has ended.
//
// [Core] is pure: [Core.Step] takes one input, such as changes of nodes or the record that the journal has, and returns
// the effects: a new judge, a record to store, and trips and resets to report. [Tracker] is the goroutine around it.
//
// Standbys run it, too, so a change of leader loses neither trips nor nodes that were deleted. Only the leader records.
package holds
