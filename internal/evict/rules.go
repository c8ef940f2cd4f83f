package evict

import (
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"

	"github.com/taint-manager/taint-manager/eviction"
)

const disruptionBudget = policyv1.DisruptionBudgetCause

// defaultRetryAfter is how long to wait when a server is loaded and does not say for how long.
const defaultRetryAfter = time.Second

// proceed is the kind of an answer after which the next request of the same call follows.
const proceed eviction.Kind = 0

// rule maps one sort of answer to an outcome.
type rule struct {
	verbs     verb
	low, high int                // HTTP status codes, inclusive; 0 and 0: no HTTP answer
	sign      string             // what else the answer shows, in words
	shows     func(*answer) bool // the same as code; nil: nothing else is asked
	kind      eviction.Kind
	cause     string
	means     string
}

func (r *rule) matches(a *answer) bool {
	return r.verbs&a.verb != 0 && r.low <= a.code && a.code <= r.high && (r.shows == nil || r.shows(a))
}

// rules returns the table of outcomes. The first rule that matches counts.
func rules() []rule {
	table := append(silences(), denials()...)
	table = append(table, successes()...)
	table = append(table, budgets()...)
	table = append(table, identities()...)
	return append(table, others()...)
}

// silences returns the rules for requests to which no HTTP answer came.
func silences() []rule {
	return []rule{
		{
			anyVerb, 0, 0, "the caller's context has ended", func(a *answer) bool { return a.ended },
			eviction.Interrupted, "", "this process may not evict any longer",
		},
		{
			anyVerb, 0, 0, "no connection", (*answer).unconnected,
			eviction.Unavailable, eviction.CauseUnreachable,
			"connection refused, no route, or none within the dialer's time",
		},
		{
			anyVerb, 0, 0, "the call's time is up", (*answer).late,
			eviction.Failed, eviction.CauseTimeout, "the request may have been carried out",
		},
		{
			anyVerb, 0, 0, "the network failed", (*answer).cut,
			eviction.Unavailable, eviction.CauseUnreachable,
			"connection reset, TLS failure, end of file; the request may have been carried out",
		},
		{
			anyVerb, 0, 0, "", nil,
			eviction.Failed, eviction.CauseClient, "the client did not send the request, for example because of its own rate limit",
		},
	}
}

// denials returns the rules for denials. They come before all others: a webhook may deny with any code from 400
// on, and must not be taken for the API server itself.
func denials() []rule {
	return []rule{
		{
			anyVerb, 400, 599, "a webhook or a policy denied the request", denied,
			eviction.Refused, eviction.CauseAdmission,
			"an admission webhook or a ValidatingAdmissionPolicy forbids it, with a code of its choice",
		},
		{
			anyVerb, 500, 599, "failed calling webhook",
			func(a *answer) bool { return a.says("failed calling webhook") },
			eviction.Failed, eviction.CauseWebhook, "an admission webhook with failure policy Fail does not answer",
		},
		{
			preflightVerb, 400, 400, "does not support dry run",
			func(a *answer) bool { return a.says("does not support dry run") },
			proceed, "", "a webhook with side effects: the preflight can't tell, so the call goes on",
		},
	}
}

func denied(a *answer) bool {
	return a.says(`admission webhook "`) && a.says("denied the request") ||
		a.says("ValidatingAdmissionPolicy '") && a.says("denied request")
}

func successes() []rule {
	return []rule{
		{
			patchVerb | preflightVerb | getVerb, 200, 299, "", nil,
			proceed, "", "done: the next request follows",
		},
		{
			deleteVerb | evictVerb, 200, 299, "", nil,
			eviction.Accepted, "", "the API server took the deletion",
		},
	}
}

// budgets returns the rules for the eviction subresource's answers about PodDisruptionBudgets.
func budgets() []rule {
	return []rule{
		{
			evictVerb, 429, 429, "cause DisruptionBudget",
			func(a *answer) bool { _, ok := a.cause(disruptionBudget); return ok },
			eviction.Blocked, eviction.CausePDB, "the PodDisruptionBudget does not permit it now, or has not been processed yet",
		},
		{
			evictVerb, 500, 500, "more than one PodDisruptionBudget",
			func(a *answer) bool { return a.says("more than one PodDisruptionBudget") },
			eviction.Blocked, eviction.CausePDB, "two budgets select the pod; the body says 500, even where the HTTP status is 201",
		},
		{
			evictVerb, 403, 403, "about a PodDisruptionBudget", aboutBudget,
			eviction.Blocked, eviction.CausePDB, "the budget counts below zero, or has too many unconfirmed evictions",
		},
		{
			evictVerb, 500, 504, "couldn't update PodDisruptionBudget",
			func(a *answer) bool { return a.says("couldn't update PodDisruptionBudget") },
			eviction.Blocked, eviction.CausePDB, "others wrote the budget again and again, so it does not permit it now",
		},
		{
			evictVerb, 404, 504, "about a PodDisruptionBudget", aboutBudget,
			eviction.Failed, eviction.CauseConflict, "the budget was written or deleted by others at the same time",
		},
	}
}

func aboutBudget(a *answer) bool {
	details := a.status.Details
	return details != nil && strings.HasPrefix(details.Kind, "poddisruptionbudget")
}

// identities returns the rules for answers about this program's identity, and about the pod's.
func identities() []rule {
	return []rule{
		{
			anyVerb, 429, 429, "", nil,
			eviction.Throttled, "", "the API server is loaded; without Retry-After, 1 s",
		},
		{
			anyVerb, 401, 401, "", nil,
			eviction.Refused, eviction.CauseUnauthenticated, "the credentials are missing, wrong or expired",
		},
		{
			anyVerb, 403, 403, `User "..." cannot ...`, func(a *answer) bool { return a.says(`forbidden: User "`) },
			eviction.Refused, eviction.CauseRBAC, "this program lacks the permission",
		},
		{
			evictVerb, 403, 403, "cause NamespaceTerminating",
			func(a *answer) bool { _, ok := a.cause(v1.NamespaceTerminatingCause); return ok },
			eviction.Refused, eviction.CauseNamespace,
			"the namespace is being deleted, and takes no evictions; its pods go with it",
		},
		{
			getVerb, 404, 404, "", nil,
			eviction.Unconfirmed, "", "the node is gone: its pods are left to pod garbage collection",
		},
		{
			anyVerb, 404, 404, "", nil,
			eviction.NotFound, "", "no pod of this name",
		},
		{
			anyVerb, 422, 422, "cause on metadata.uid", uidImmutable,
			eviction.NotFound, "", "the pod of this name has another UID",
		},
		{
			deleteVerb | preflightVerb, 409, 409, "", nil,
			eviction.NotFound, "", "the pod of this name has another UID",
		},
		{
			patchVerb | evictVerb, 409, 409, "about the UID",
			func(a *answer) bool { return a.says("UID in", "uid mismatch") },
			eviction.NotFound, "", "the pod of this name has another UID",
		},
		{
			patchVerb | evictVerb, 409, 409, "", nil,
			eviction.Failed, eviction.CauseConflict, "the pod was written by others at the same time, again and again",
		},
	}
}

func uidImmutable(a *answer) bool {
	if a.status.Details == nil {
		return false
	}
	for _, cause := range a.status.Details.Causes {
		if cause.Field == "metadata.uid" {
			return true
		}
	}
	return false
}

// others returns the rules for all other answers.
func others() []rule {
	return []rule{
		{
			writeVerbs, 504, 504, "a Status of reason Timeout", (*answer).timedOut,
			eviction.Failed, eviction.CauseTimeout, "the API server gave the request up, mostly because admission held it; it concerns this pod alone",
		},
		{
			anyVerb, 502, 504, "", nil,
			eviction.Unavailable, eviction.CauseGateway, "the API server, or a proxy before it, can't serve now",
		},
		{
			anyVerb, 500, 599, "", nil,
			eviction.Failed, eviction.CauseServer, "the API server failed",
		},
		{
			writeVerbs, 403, 403, "a Status of reason Forbidden", (*answer).forbidden,
			eviction.Refused, eviction.CauseAdmission, "an admission plugin forbids it",
		},
		{
			anyVerb, 400, 499, "", nil,
			eviction.Refused, eviction.CauseRejected,
			"validation, or a proxy before the API server, rejects the request",
		},
		{
			anyVerb, 1, 999, "", nil,
			eviction.Failed, eviction.CauseUnknown, "an answer that nobody expects",
		},
	}
}

// classify finds the outcome of an answer by the table.
func classify(table []rule, a answer) eviction.Outcome {
	for i := range table {
		if table[i].matches(&a) {
			o := atLeastASecond(a.outcome(table[i].kind, table[i].cause))
			o.NothingDeleted = o.MayHaveDeleted() && o.Kind != eviction.Accepted && a.deletedNothing(o)
			return o
		}
	}
	return a.outcome(eviction.Failed, eviction.CauseUnknown)
}

// atLeastASecond sets the wait of a throttled outcome for which the server named none.
func atLeastASecond(o eviction.Outcome) eviction.Outcome {
	if o.Kind == eviction.Throttled && o.RetryAfter <= 0 {
		o.RetryAfter = defaultRetryAfter
	}
	return o
}
