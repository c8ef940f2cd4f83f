package evict

import (
	"cmp"
	"context"
	"fmt"
	"time"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// CallTimeout bounds one request of an eviction. It is longer than the 30 s that admission webhooks may take.
const CallTimeout = 35 * time.Second

// APIOptions are the settings of an [API].
type APIOptions struct {
	// Method is the method of requests that name none.
	Method policy.Method

	// Timeout bounds one request. 0: CallTimeout.
	Timeout time.Duration

	// Leading is called before each request, because leadership may end between the requests of a call.
	Leading func() bool
}

// API evicts through the API server. It is safe for concurrent use.
type API struct {
	options APIOptions
	sender  sender
}

// NewAPI returns an evictor that writes with the client.
func NewAPI(client kubernetes.Interface, o APIOptions) *API {
	o.Timeout = cmp.Or(o.Timeout, CallTimeout)
	return &API{o, newSender(client)}
}

// Evict makes one eviction call and waits for its end, without a [Confirmation]; see EvictConfirmed.
func (a *API) Evict(ctx context.Context, e eviction.Request) eviction.Outcome {
	return a.EvictConfirmed(ctx, e, func(context.Context) (eviction.Outcome, bool) { return eviction.Outcome{}, true })
}

// EvictConfirmed makes one eviction call and waits for its end. It gives up when the context ends, and before a request
// that is not confirmed.
//
// Method delete sends a PATCH of the condition, unless the pod has the condition, and a DELETE; after a refusal, a
// DELETE with dryRun=All precedes both. Method evict sends one POST of an eviction. The first answer that is not a
// success, or else the last answer, is the outcome. The outcome is Unconfirmed if an answer shows that the pod was
// edited and the cache lacks the edit, or that another client has begun the deletion.
func (a *API) EvictConfirmed(ctx context.Context, e eviction.Request, confirm Confirmation) eviction.Outcome {
	e.Method = cmp.Or(e.Method, a.options.Method)
	if why := whyInvalid(&e); why != "" {
		return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseClient, Message: why, NothingDeleted: true}
	}
	patched := false
	for _, request := range requests(&e) {
		if outcome, ok := confirm(ctx); !ok {
			outcome.PreflightFirst = patched && outcome.Kind == eviction.Unconfirmed
			return outcome
		}
		if !a.options.Leading() {
			return interrupted()
		}
		outcome, pod := a.send(ctx, &e, request)
		switch known := e.Pod.Generation; {
		case outcome.Kind != proceed:
			return outcome
		case request == patchVerb && pod.terminating:
			return begun()
		case known > 0 && pod.generation > known:
			return edited(known, pod.generation)
		}
		patched = patched || request == patchVerb
	}
	// Not reached: in the table, every answer to the last request is an outcome.
	return eviction.Outcome{Kind: eviction.Failed, Cause: eviction.CauseUnknown, Message: "no outcome"}
}

// edited returns the outcome for a pod whose spec is newer than the cache's: its tolerations may differ.
func edited(known, generation int64) eviction.Outcome {
	why := fmt.Sprintf("the pod was edited: its generation is %d, and the watch has shown %d", generation, known)
	return eviction.Outcome{Kind: eviction.Unconfirmed, Message: why, PreflightFirst: true}
}

// begun returns the outcome for a pod whose deletion another client has begun, which the watch has not shown yet.
func begun() eviction.Outcome {
	return eviction.Outcome{
		Kind: eviction.Unconfirmed, Cause: eviction.CauseBegun, Message: "another client has begun to delete the pod",
	}
}

// whyInvalid returns why a request is not carried out, or "". A grace period of 0 would be a force deletion, which
// removes the pod from the API before its containers have stopped.
func whyInvalid(e *eviction.Request) string {
	switch seconds := e.GracePeriodSeconds; {
	case e.Method != policy.Delete && e.Method != policy.Evict:
		return fmt.Sprintf("method %q makes no call: it may be %s or %s", e.Method, policy.Delete, policy.Evict)
	case seconds != nil && *seconds < 1:
		return fmt.Sprintf("a grace period of %d s would force the deletion: it may be 1 s or more; "+
			"leave it out for the pod's own", *seconds)
	}
	return ""
}

// requests returns the requests of a call, in order.
func requests(e *eviction.Request) []verb {
	if e.Method == policy.Evict {
		return []verb{evictVerb}
	}
	requests := make([]verb, 0, 3)
	if e.AfterRefusal {
		// If the DELETE stays forbidden, the condition would announce it wrongly. Admission that refused an eviction
		// may refuse the DELETE, too. A budget does not apply to a DELETE, so Blocked does not set AfterRefusal.
		requests = append(requests, preflightVerb)
	}
	if !e.Pod.Disrupted {
		requests = append(requests, patchVerb)
	}
	return append(requests, deleteVerb)
}

// send makes one request within the timeout. It returns the outcome, and what the answer shows of the pod.
func (a *API) send(ctx context.Context, e *eviction.Request, v verb) (eviction.Outcome, shown) {
	bounded, cancel := context.WithTimeout(ctx, a.options.Timeout)
	defer cancel()
	pod, err := a.request(bounded, e, v)
	return classify(readAnswer(ctx, v, err)), pod
}

func (a *API) request(ctx context.Context, e *eviction.Request, v verb) (shown, error) {
	pod, options := e.Pod, deleteOptions(e)
	switch v {
	case patchVerb:
		body, err := conditionPatch(e, time.Now())
		if err != nil {
			return shown{}, fmt.Errorf("writing the condition of pod %s: %w", pod.Key(), err)
		}
		return a.sender.patch(ctx, pod, body)
	case preflightVerb:
		options.DryRun = []string{metav1.DryRunAll}
		return a.sender.delete(ctx, pod, options)
	case evictVerb:
		return shown{}, a.sender.evict(ctx, &policyv1.Eviction{
			ObjectMeta:    metav1.ObjectMeta{Namespace: pod.Namespace, Name: pod.Name},
			DeleteOptions: &options,
		})
	}
	return a.sender.delete(ctx, pod, options)
}

// deleteOptions returns options by which a deletion applies only to the pod that was judged.
func deleteOptions(e *eviction.Request) metav1.DeleteOptions {
	return metav1.DeleteOptions{
		Preconditions:      metav1.NewUIDPreconditions(string(e.Pod.UID)),
		GracePeriodSeconds: e.GracePeriodSeconds,
	}
}
