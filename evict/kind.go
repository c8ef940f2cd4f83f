package evict

import "github.com/taint-manager/taint-manager/shard"

// The causes of outcomes: a small fixed set, as they are a metric's label.
const (
	CauseAdmission       = "admission"       // admission denies the request
	CauseClient          = "client"          // the client could not send the request
	CauseConflict        = "conflict"        // somebody else wrote at the same time
	CauseNamespace       = "namespace"       // the pod's namespace is being deleted
	CausePanic           = "panic"           // the evictor panicked
	CausePDB             = "pdb"             // a PodDisruptionBudget does not permit it
	CauseRBAC            = "rbac"            // this program lacks the permission
	CauseServer          = "server"          // the API server failed
	CauseTimeout         = "timeout"         // no answer within the call's time
	CauseUnauthenticated = "unauthenticated" // the API server does not know this program
	CauseGateway         = "unavailable"     // the API server says that it can't serve now
	CauseUnknown         = "unknown"         // nothing that the table knows
	CauseUnreachable     = "unreachable"     // no connection to the API server
	CauseWebhook         = "webhook"         // an admission webhook could not be called
)

// causeLabel keeps a metric's label within the fixed set, whatever a caller's evictor says.
func causeLabel(cause string) string {
	switch cause {
	case "", CauseAdmission, CauseClient, CauseConflict, CauseNamespace, CausePanic, CausePDB, CauseRBAC,
		CauseServer, CauseTimeout, CauseUnauthenticated, CauseGateway, CauseUnknown,
		CauseUnreachable, CauseWebhook:
		return cause
	}
	return "other"
}

// kindName is the kind of an outcome in a word.
func kindName(k shard.Kind) string {
	switch k {
	case shard.Accepted:
		return "accepted"
	case shard.NotFound:
		return "missing"
	case shard.Unavailable:
		return "away"
	case shard.Throttled:
		return "throttled"
	case shard.Failed:
		return "failed"
	case shard.Blocked:
		return "blocked"
	case shard.Refused:
		return "refused"
	case shard.Interrupted:
		return "interrupted"
	case shard.DryRun:
		return "pretended"
	case shard.Unconfirmed:
		return "unconfirmed"
	}
	return "none"
}
