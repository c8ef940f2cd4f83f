// Package status serves what will be evicted, when and why: as JSON, as JSON deltas, and as a page.
//
// All answers come from samples, which all clients share. A [Source] is sampled when a client asks, at most once a
// second, and sampling takes at most a fiftieth of the time. Nothing runs while no client asks, except that a [History]
// records each eviction that has ended, in bounded memory.
//
// The cost of a client is bounded, whether it reads or not: long answers are written in pieces that have a deadline,
// and few at once. A panic while answering ends the page, not the process.
//
// The package is read-only, and no eviction waits for it. A [Server] answers only requests from its own machine, so
// clients use kubectl port-forward, whose permission protects it.
package status
