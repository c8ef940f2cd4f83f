package eviction

import "slices"

// The causes of outcomes. They are a metric's label, so they are a small fixed set.
const (
	CauseAdmission       = "admission"       // admission denies the request
	CauseClient          = "client"          // the client could not send the request
	CauseConflict        = "conflict"        // another client wrote at the same time
	CauseGateway         = "gateway"         // the API server, or a proxy before it, cannot serve now
	CauseNamespace       = "namespace"       // the pod's namespace is being deleted
	CausePanic           = "panic"           // the evictor panicked
	CausePDB             = "pdb"             // a PodDisruptionBudget does not permit it
	CauseRBAC            = "rbac"            // this program lacks the permission
	CauseServer          = "server"          // the API server failed
	CauseTimeout         = "timeout"         // no answer within the call's time
	CauseUnauthenticated = "unauthenticated" // the API server does not know this program
	CauseUnknown         = "unknown"         // an answer that no rule knows
	CauseUnreachable     = "unreachable"     // no connection to the API server
	CauseWebhook         = "webhook"         // an admission webhook could not be called
)

// Causes returns all causes.
func Causes() []string {
	return []string{
		CauseAdmission, CauseClient, CauseConflict, CauseGateway, CauseNamespace, CausePanic, CausePDB, CauseRBAC,
		CauseServer, CauseTimeout, CauseUnauthenticated, CauseUnknown, CauseUnreachable, CauseWebhook,
	}
}

// CauseLabel returns the cause as a metric's label: "other" for one that is not of the fixed set.
func CauseLabel(cause string) string {
	if cause == "" || slices.Contains(Causes(), cause) {
		return cause
	}
	return "other"
}
