package eviction

// Annotations of the events of pods that are evicted.
const (
	DeadlineAnnotation = "taint-manager/deadline" // RFC 3339
	TaintAnnotation    = "taint-manager/taint"    // as kubectl taint writes it
	NodeAnnotation     = "taint-manager/node"
)
