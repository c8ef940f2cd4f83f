// Package status shows what will be evicted, when and why: as JSON, as a stream of changes, and as a
// page.
//
// All three come from the same picture: [Build] makes a [Snapshot] of plain values and knows no clock.
// Pictures are taken only while somebody watches or asks, and at most once a second; whoever takes
// them spends at most a fiftieth of the time on it. Without a viewer nothing runs here, but that a
// [History] notes each eviction that has ended, in memory that is set aside once.
//
// What a client costs is bounded, whether it reads or not: few answers are written at once, each in pieces that
// have a deadline. A panic while looking ends the page, and not the process.
//
// Nothing here can change anything, and nothing in the way of an eviction waits for it. A [Server]
// answers requests of the own machine only: it is reached by kubectl port-forward, whose permission
// guards it.
package status
