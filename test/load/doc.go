// Package load makes load for tests and benchmarks on a real control plane, and observes the effects: many nodes
// and pods of a realistic size, taints on all of them, the time of each pod's deletion as one watch shows it, plain
// requests that evict without a controller, and the API server's audit log.
package load
