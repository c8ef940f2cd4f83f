// Package status serves what will be evicted, when and why: as JSON, as JSON deltas, and as a page.
//
// All answers come from samples, which all clients share. A [Source] is sampled when a client asks, at most once a
// second, and sampling takes at most a fiftieth of the time. Nothing runs while no client asks, except that a [History]
// records each eviction that has ended, in bounded memory.
//
// The cost of a client is bounded, even if it does not read: a long answer is written in pieces, each with a deadline,
// and only a few long answers at once. A panic while answering ends the page, not the process.
//
// The package is read-only, and no eviction waits for it. A [Server] answers only requests from its own machine, so
// clients use kubectl port-forward, and the permission for that protects the page.
package status
