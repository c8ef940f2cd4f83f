// Package shard judges the pods on a part of the nodes and decides when the eviction of a pod is due.
//
// [Core] is the logic. It is pure, except that it reads the cache through a [Reader] and offers evictions to a
// [Dispatcher]: [Core.Step] takes the time and one [Input], and returns the [Effects]. It has no clock, no client and
// no goroutine, and nothing else uses its state, so that no part of it needs a lock.
//
// [Shard] is the goroutine around it. Call Open, then Run; NodeChanged and PodChanged put names into its queues between
// Open and Close, and Earliest and Pending answer while it runs. It processes node updates before everything else.
//
// A due eviction is offered to the dispatcher, and withdrawn as soon as the pod may stay, is held or has a later
// deadline. Before each request, package evict judges the pod once more, by the latest state of the cache and by the
// live node.
//
// Promises: no eviction is offered before the pod's deadline, for a pod that stays according to the cache, or after the
// API server has accepted its deletion. Every due eviction is offered or has a call in flight until the watch shows
// that the pod is gone.
package shard
