// Package event reports evictions as core/v1 events on the pods.
//
// [Queue] takes notes from the shards and never blocks them. It is bounded: when too many notes wait,
// further ones are dropped, a metric counts them, and an event on the node gives their number. Few writers
// send one event after the other, so that the API server's capacity is left to the evictions. Events
// are best effort: each is tried twice at most.
package event
