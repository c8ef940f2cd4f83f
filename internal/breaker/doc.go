// Package breaker keeps the facts on which verdicts depend in addition to pods, nodes and the configuration: which
// breakers are tripped ([Breakers]), which holds have ended, and when policies began. A [Record] of them survives
// restarts.
//
// [Core] is pure: [Core.Step] takes one input, such as changes of nodes, and the time, which may decrease slightly, as
// wall clocks do. It returns the effects: a new judge, a record to store, and trips and resets to report. [Tracker] is
// the lock and the timer around it: [Tracker.Put] takes inputs, Options.Judged receives each new judge for the shards,
// [Tracker.Prepare] waits for the cache's data; [Tracker.Replace] waits for Prepare, then replaces the configuration.
//
// A term begins with the record of the previous term. Within a term, the shards track which pods policies and breakers
// have released; the record of these holds serves only the next term. Standbys run a core, too, so a change of leader
// loses neither trips nor deleted nodes. Only the leader records.
package breaker
