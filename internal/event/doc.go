// Package event reports evictions as core/v1 events on the pods.
//
// [Queue] takes notes from the shards and never blocks them. It is bounded: when too many notes wait, the newest notes
// of the namespace with the most are dropped, a metric counts them, and an event on the node gives their number.
// Namespaces are served in turn, and the notes on nodes in turn with them. Two writers send one event after the other,
// so that the API server's capacity is left to the evictions; a write that takes long leaves its writer to others.
// Events are best effort: each is tried twice at most, and once if it times out.
package event
