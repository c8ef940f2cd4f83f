// Package status shows what will be evicted, when and why: as JSON, as a stream of changes, and as a
// page.
//
// All three come from the same [Facts], of which [Build] makes a [Snapshot]; it uses no clock. Facts are sampled
// only while a client watches or asks, at most once a second, and in at most a fiftieth of the time. Without a
// viewer nothing runs here, except that a [History] records each eviction that has ended, in bounded memory.
//
// The cost of a client is bounded, whether it reads or not: few answers are written at once, each in pieces that
// have a deadline. A panic while sampling ends the page, not the process.
//
// It is read-only, and no eviction waits for it. A [Server] answers requests of its own machine only: it is reached
// by kubectl port-forward, whose permission protects it.
package status
