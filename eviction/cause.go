package eviction

import "slices"

// The causes of outcomes. They are a metric's label, so they are a small fixed set. [Causes] has their meanings.
const (
	CauseAdmission       = "admission"
	CauseAdmissionSlow   = "admission-slow"
	CauseBegun           = "begun"
	CauseClient          = "client"
	CauseConflict        = "conflict"
	CauseGateway         = "gateway"
	CauseNamespace       = "namespace"
	CausePanic           = "panic"
	CausePDB             = "pdb"
	CauseRBAC            = "rbac"
	CauseRejected        = "rejected"
	CauseServer          = "server"
	CauseTimeout         = "timeout"
	CauseUnauthenticated = "unauthenticated"
	CauseUnknown         = "unknown"
	CauseUnreachable     = "unreachable"
	CauseWebhook         = "webhook"
)

// Cause is a cause of outcomes, and its meaning.
type Cause struct{ Name, Meaning string }

// Causes returns all causes, in the order of their names.
func Causes() []Cause {
	return []Cause{
		{CauseAdmission, "admission denies the request"},
		{CauseAdmissionSlow, "the API server gave the request up, mostly because admission held it"},
		{CauseBegun, "another client has begun to delete the pod"},
		{CauseClient, "the client could not send the request"},
		{CauseConflict, "another client wrote at the same time"},
		{CauseGateway, "the API server, or a proxy before it, cannot serve now"},
		{CauseNamespace, "the pod's namespace is being deleted"},
		{CausePanic, "the evictor panicked"},
		{CausePDB, "a PodDisruptionBudget does not permit it"},
		{CauseRBAC, "this program lacks the permission"},
		{CauseRejected, "the API server's validation, or a proxy before it, rejects the request"},
		{CauseServer, "the API server failed"},
		{CauseTimeout, "no answer within the call's time"},
		{CauseUnauthenticated, "the API server does not know this program"},
		{CauseUnknown, "an answer that no rule knows"},
		{CauseUnreachable, "no connection to the API server"},
		{CauseWebhook, "an admission webhook could not be called"},
	}
}

// CauseLabel returns the cause as a metric's label: "other" if the fixed set does not have it.
func CauseLabel(cause string) string {
	known := func(c Cause) bool { return c.Name == cause }
	if cause == "" || slices.ContainsFunc(Causes(), known) {
		return cause
	}
	return "other"
}
