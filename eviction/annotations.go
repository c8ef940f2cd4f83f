package eviction

// Annotations of the events of pods that are evicted.
const (
	DeadlineAnnotation = "taint-manager/deadline" // RFC 3339
	TaintAnnotation    = "taint-manager/taint"    // as kubectl taint writes it
	NodeAnnotation     = "taint-manager/node"
	BoundAnnotation    = "taint-manager/bound"    // RFC 3339: when the pod was bound to the node
	WorkloadAnnotation = "taint-manager/workload" // KIND.GROUP/NAME; empty if the pod has no controller
)
