// Package eviction is the vocabulary of evictions: a [Request] to evict one pod, the [Outcome] of the call that
// carries it out, the [State] and the [View] of an eviction, and the [Note] that is reported of it. It is pure:
// values and their wording, no behaviour.
//
// The packages shard (which decides when an eviction is due), dispatch (which starts its call), evict (which makes the
// call), event and status (which report it) share these types, so that none imports another for its types.
package eviction
