// Package check asks the API server, once in a while, for a pod whose eviction another client has overtaken, and
// reports if that was the original: in the log, by a metric, and as trouble. It needs no permission beyond listing
// pods.
package check
