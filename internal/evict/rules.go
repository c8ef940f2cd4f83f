package evict

import (
	"slices"
	"strings"
	"time"

	v1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
)

const disruptionBudget = policyv1.DisruptionBudgetCause

// leastRetryAfter is the wait after a throttled request for which the server names no wait.
const leastRetryAfter = time.Second

// proceed is the kind of an answer after which the next request of the same call follows.
const proceed eviction.Kind = 0

// rule maps one sort of answer to an outcome.
type rule struct {
	verbs     verb
	low, high int                // HTTP status codes, inclusive; 0 and 0: no HTTP answer
	sign      string             // describes the answers for which shows returns true
	shows     func(*answer) bool // a further condition; nil: none
	kind      eviction.Kind
	cause     string
	means     string
}

// on returns a rule for answers to these requests with these HTTP status codes.
func on(verbs verb, low, high int) rule { return rule{verbs: verbs, low: low, high: high} }

// silence returns a rule for requests to which no HTTP answer came.
func silence() rule { return on(anyVerb, 0, 0) }

// showing returns the rule for answers for which shows also returns true. sign describes these answers.
func (r rule) showing(sign string, shows func(*answer) bool) rule {
	r.sign, r.shows = sign, shows
	return r
}

// saying returns the rule for answers whose message also contains the phrase.
func (r rule) saying(phrase string) rule {
	return r.showing(phrase, func(a *answer) bool { return a.says(phrase) })
}

// is returns the rule with this outcome: its kind and cause, and what they mean.
func (r rule) is(kind eviction.Kind, cause, means string) rule {
	r.kind, r.cause, r.means = kind, cause, means
	return r
}

func (r *rule) matches(a *answer) bool {
	return r.verbs&a.verb != 0 && r.low <= a.code && a.code <= r.high && (r.shows == nil || r.shows(a))
}

// rules is the table of outcomes. The first rule that matches counts.
var rules = slices.Concat(silences(), admissions(), budgets(), identities(), others())

func silences() []rule {
	return []rule{
		silence().showing("the caller's context has ended", func(a *answer) bool { return a.ended }).
			is(eviction.Interrupted, "", "this process may not evict any longer"),
		silence().showing("no connection", (*answer).unconnected).is(eviction.Unavailable, eviction.CauseUnreachable,
			"connection refused, no route, or none within the dialer's time"),
		silence().showing("the call's time is up", (*answer).late).
			is(eviction.Failed, eviction.CauseTimeout, "the request may have been carried out"),
		silence().showing("the network failed", (*answer).cut).is(eviction.Unavailable, eviction.CauseUnreachable,
			"connection reset, TLS failure, end of file; the request may have been carried out"),
		silence().is(eviction.Failed, eviction.CauseClient,
			"the client did not send the request, for example because of its own rate limit"),
	}
}

// admissions returns the rules for denials, and those for successes. Denials come before all other answers: a webhook
// may deny with any code from 400 on, and must not be taken for the API server itself.
func admissions() []rule {
	return []rule{
		on(anyVerb, 400, 599).showing("a webhook or a policy denied the request", denied).
			is(eviction.Refused, eviction.CauseAdmission,
				"an admission webhook or a ValidatingAdmissionPolicy forbids it, with a code of its choice"),
		on(anyVerb, 500, 599).saying("failed calling webhook").
			is(eviction.Failed, eviction.CauseWebhook, "an admission webhook with failure policy Fail does not answer"),
		on(preflightVerb, 400, 400).saying("does not support dry run").
			is(proceed, "", "a webhook with side effects: the preflight can't tell, so the call goes on"),
		on(patchVerb|preflightVerb|getVerb, 200, 299).is(proceed, "", "done: the next request follows"),
		on(deleteVerb|evictVerb, 200, 299).is(eviction.Accepted, "",
			"the API server took the deletion; its cache may have lacked a budget that was just created"),
	}
}

func denied(a *answer) bool {
	return a.says(`admission webhook "`) && a.says("denied the request") ||
		a.says("ValidatingAdmissionPolicy '") && a.says("denied request")
}

// budgets returns the rules for the eviction subresource's answers about PodDisruptionBudgets.
func budgets() []rule {
	return []rule{
		on(evictVerb, 429, 429).showing("cause DisruptionBudget", hasCause(disruptionBudget)).
			is(eviction.Blocked, eviction.CausePDB,
				"the PodDisruptionBudget does not permit it now, or has not been processed yet"),
		on(evictVerb, 500, 500).saying("more than one PodDisruptionBudget").is(eviction.Blocked, eviction.CausePDB,
			"two budgets select the pod; the HTTP status is 500, or 201 with a body that says 500"),
		on(evictVerb, 403, 403).showing("about a PodDisruptionBudget", aboutBudget).
			is(eviction.Blocked, eviction.CausePDB, "the budget counts below zero, or has too many unconfirmed evictions"),
		on(evictVerb, 500, 504).saying("couldn't update PodDisruptionBudget").is(eviction.Blocked, eviction.CausePDB,
			"others wrote the budget again and again, so it does not permit it now"),
		on(evictVerb, 404, 504).showing("about a PodDisruptionBudget", aboutBudget).
			is(eviction.Failed, eviction.CauseConflict, "the budget was written or deleted by others at the same time"),
	}
}

func aboutBudget(a *answer) bool {
	details := a.status.Details
	return details != nil && strings.HasPrefix(details.Kind, "poddisruptionbudget")
}

func hasCause(t metav1.CauseType) func(*answer) bool {
	return func(a *answer) bool { return apierrors.HasStatusCause(a.err, t) }
}

// serverSays reports whether the API server itself gives this reason. If a proxy's body is not a Status, the client
// makes up a Status with the same reason, and marks it by a cause.
func serverSays(reason metav1.StatusReason) func(*answer) bool {
	return func(a *answer) bool {
		return a.status.Reason == reason && !hasCause(metav1.CauseTypeUnexpectedServerResponse)(a)
	}
}

// identities returns the rules for answers about this program's identity, and about the pod's.
func identities() []rule {
	const otherUID = "the pod of this name has another UID"
	return []rule{
		on(anyVerb, 429, 429).is(eviction.Throttled, "", "the API server is loaded; without Retry-After, 1 s"),
		on(anyVerb, 401, 401).
			is(eviction.Refused, eviction.CauseUnauthenticated, "the credentials are missing, wrong or expired"),
		on(anyVerb, 403, 403).
			showing(`User "..." cannot ...`, func(a *answer) bool { return a.says(`forbidden: User "`) }).
			is(eviction.Refused, eviction.CauseRBAC, "this program lacks the permission"),
		on(evictVerb, 403, 403).showing("cause NamespaceTerminating", hasCause(v1.NamespaceTerminatingCause)).
			is(eviction.Refused, eviction.CauseNamespace,
				"the namespace is being deleted, and takes no evictions; its pods go with it"),
		on(getVerb, 404, 404).
			is(eviction.Unconfirmed, "", "the node is gone: its pods are left to pod garbage collection"),
		on(anyVerb, 404, 404).is(eviction.NotFound, "", "no pod of this name"),
		on(anyVerb, 422, 422).showing("cause on metadata.uid", uidImmutable).is(eviction.NotFound, "", otherUID),
		on(deleteVerb|preflightVerb, 409, 409).is(eviction.NotFound, "", otherUID),
		on(patchVerb|evictVerb, 409, 409).
			showing("about the UID", func(a *answer) bool { return a.says("UID in", "uid mismatch") }).
			is(eviction.NotFound, "", otherUID+"; an eviction request has spent its budget for two minutes all the same"),
		on(patchVerb|evictVerb, 409, 409).is(eviction.Failed, eviction.CauseConflict,
			"the pod was written by others at the same time, again and again"),
	}
}

func uidImmutable(a *answer) bool {
	details := a.status.Details
	return details != nil &&
		slices.ContainsFunc(details.Causes, func(c metav1.StatusCause) bool { return c.Field == "metadata.uid" })
}

// others returns the rules for all other answers.
func others() []rule {
	return []rule{
		on(writeVerbs, 504, 504).showing("a Status of reason Timeout", serverSays(metav1.StatusReasonTimeout)).
			is(eviction.Failed, eviction.CauseAdmissionSlow,
				"the API server gave the request up, mostly because admission held it; it concerns this pod alone"),
		on(anyVerb, 502, 504).is(eviction.Unavailable, eviction.CauseGateway,
			"the API server, or a proxy before it, can't serve now"),
		on(anyVerb, 500, 599).is(eviction.Failed, eviction.CauseServer, "the API server failed"),
		on(writeVerbs, 403, 403).showing("a Status of reason Forbidden", serverSays(metav1.StatusReasonForbidden)).
			is(eviction.Refused, eviction.CauseAdmission, "an admission plugin forbids it"),
		on(anyVerb, 400, 499).is(eviction.Refused, eviction.CauseRejected,
			"validation, or a proxy before the API server, rejects the request"),
		on(anyVerb, 1, 999).is(eviction.Failed, eviction.CauseUnknown, "an answer that nobody expects"),
	}
}

// classify finds the outcome of an answer by the table.
func classify(a answer) eviction.Outcome {
	i := slices.IndexFunc(rules, func(r rule) bool { return r.matches(&a) })
	if i < 0 {
		return a.outcome(eviction.Failed, eviction.CauseUnknown)
	}
	o := a.outcome(rules[i].kind, rules[i].cause)
	if o.Kind == eviction.Throttled {
		o.RetryAfter = max(o.RetryAfter, leastRetryAfter)
	}
	o.NothingDeleted = o.MayHaveDeleted() && a.deletedNothing(o)
	return o
}
