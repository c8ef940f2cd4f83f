// Package shard judges the pods on a part of the nodes and decides when an eviction call starts.
//
// [Core] is the logic, and is pure: [Core.Step] takes the time and one [Input] and returns the
// [Effects]. It reads the cache through a [Reader] and owns its part of the eviction queue; nothing
// else touches that, so nothing in it needs a lock. It has no clock, no client and no goroutine, so
// the same inputs give the same effects.
//
// [Shard] is the goroutine round it: it feeds the core from the inbox, the timer, the permits and the
// outcomes, node updates before all else. What is due waits in the queue, where it can still be
// cancelled, until there is a permit for a slot, or for a slow place if its workload is slow; then the pod is
// judged once more, by the latest state of the cache, and the call starts or does not.
//
// What a shard promises: no call starts before the pod's deadline, for a pod that by the cache
// stays, while a call for it is under way, or after the API server has accepted one; whatever is due
// stays in the queue, or has a call under way, until the watch shows that the pod is gone.
package shard
