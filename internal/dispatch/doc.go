// Package dispatch decides whose turn it is: it holds every eviction whose time has come, and all capacity for calls.
//
// [Core] is the logic, and is pure: [Core.Step] takes the time and one [Input], and returns the [Effects]. It has no
// clock, no client, no lock and no goroutine. [Dispatcher] is one lock and one timer round it; a call has a goroutine
// of its own.
//
// # Whose turn it is
//
// Namespaces take turns: the namespace with the fewest calls under way in this kind of place goes first, and of those
// the namespace that was served longest ago. In a slow namespace, workloads take turns in the same way, by all their
// calls. In a namespace, lines take turns, one for each set of rates that evictions wait for. In a line, nodes take
// turns: nodes that were not served yet alternate with nodes that were, and a node that was served has eight evictions
// in a row. On a node, the earliest deadline goes first, then the higher priority, then the lesser UID. The pods of
// this program go last, but wait for a minute at most.
//
// For a place, only the calls of a namespace in this kind of place count; for the token of a rate, all of them.
//
// # Places
//
// A call has a slot for its first second. Then it is slow, and takes a slow place; it keeps its slot while all slow
// places are taken. A workload, which is the pods of a namespace that webhooks select alike, is slow while it has slow
// calls, and for two minutes after the last; quick for two minutes after a call that admission has answered within a
// second; otherwise unknown. A quick call of a slow workload does not count. A namespace is slow if one of its
// workloads is slow, otherwise quick if one of them is quick, otherwise unknown. Once sixteen calls of a namespace in a
// row were quick, and none is slow, its workloads are no longer slow.
//
//   - A quick namespace uses any free slot.
//   - An unknown namespace has one call at a time, in a slot.
//   - In a slow namespace, a quick workload uses slots; of its unknown workloads, one call at a time starts in a slot;
//     all other calls start in slow places. The calls of all slow namespaces hold half of the slots at most.
//   - Calls start in slow places 25 ms apart, and while fewer than three quarters of the slow places are taken.
//
// # Promises
//
// No call starts while this process does not lead, while all calls are paused, or before the API server has answered
// after an outage, except for one call that asks. In any window of w seconds, at most burst + evictionsPerSecond * w
// calls start by each rate, besides as many as have given a token back in that window because they deleted nothing.
// Nothing that was offered is forgotten before it is withdrawn or its outcome is settled, and no call starts for a pod
// whose last outcome is not settled. A candidate that can't start costs those behind it nothing: those that wait for
// the same rates in the same namespace stand in one line.
package dispatch
