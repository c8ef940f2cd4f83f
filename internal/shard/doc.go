// Package shard judges the pods on a part of the nodes and decides when the eviction of a pod is due.
//
// [Core] is the logic. It is pure, except that it reads the cache through a [Reader] and offers evictions to a
// [Dispatcher]: [Core.Step] takes the time and one [Input], and returns the [Effects]. It has no clock, no client and
// no goroutine, and nothing else uses its state, so that no part of it needs a lock.
//
// [Shard] is the goroutine round it: it passes on what its queues and the timer bring, node updates before all else.
//
// An eviction whose time has come is offered to the dispatcher, and withdrawn as soon as the pod is judged to stay, to
// be held or to go later. Between the offer and the call, package evict judges the pod once more, by the latest state
// of the cache and by the live node.
//
// What a shard promises: no eviction is offered before the pod's deadline, for a pod that by the cache stays, or after
// the API server has accepted its deletion; whatever is due is offered, or has a call under way, until the watch shows
// that the pod is gone.
package shard
