// Package load makes load for tests and benchmarks on a real control plane: many nodes and pods of a realistic size,
// taints, webhooks that delay deletions, and requests that evict pods without a controller. It measures the effects:
// the time of each pod's deletion, the memory and processor time of processes, metrics, and the API server's audit log.
package load
