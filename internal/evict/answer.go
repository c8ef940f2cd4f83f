package evict

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/truncate"
)

// verb is a set of the requests that an eviction may consist of, as bits.
type verb uint8

const (
	patchVerb     verb = 1 << iota // PATCH of the condition
	preflightVerb                  // DELETE with dryRun=All
	deleteVerb                     // DELETE
	evictVerb                      // POST of the eviction subresource
	getVerb                        // GET of the pod's node

	writeVerbs = patchVerb | preflightVerb | deleteVerb | evictVerb
	anyVerb    = writeVerbs | getVerb
)

// answer is the result of one request.
type answer struct {
	verb   verb
	code   int           // HTTP status code; 0 when no HTTP answer came
	status metav1.Status // the server's words; zero on success and when no HTTP answer came
	err    error         // nil on success
	ended  bool          // the caller's context had ended
}

// readAnswer converts what the client returned. ctx is the caller's.
func readAnswer(ctx context.Context, v verb, err error) answer {
	a := answer{verb: v, err: err, ended: ctx.Err() != nil}
	if err == nil {
		a.code = http.StatusOK
		return a
	}
	if status := apierrors.APIStatus(nil); errors.As(err, &status) {
		a.status = status.Status()
		a.code = int(a.status.Code)
	}
	return a
}

// outcome returns the outcome of this kind and cause, with the answer's message and Retry-After.
func (a *answer) outcome(kind eviction.Kind, cause string) eviction.Outcome {
	seconds, _ := apierrors.SuggestsClientDelay(a.err)
	return eviction.Outcome{
		Kind: kind, Cause: cause, Message: a.message(), RetryAfter: time.Duration(seconds) * time.Second,
	}
}

// message returns the server's message, with the details of its status about PodDisruptionBudgets; otherwise the
// error's text.
func (a *answer) message() string {
	if a.err == nil {
		return ""
	}
	words := a.err.Error()
	if cause, ok := apierrors.StatusCause(a.err, disruptionBudget); ok {
		words = truncate.Text(words) + " " + cause.Message
	}
	return truncate.Text(words)
}

// says reports whether the status's message contains any of the phrases.
func (a *answer) says(phrases ...string) bool {
	return slices.ContainsFunc(phrases, func(p string) bool { return strings.Contains(a.status.Message, p) })
}

// unconnected reports whether there was no connection to send the request on.
func (a *answer) unconnected() bool {
	op, ok := errors.AsType[*net.OpError](a.err)
	return ok && op.Op == "dial"
}

// unsent reports whether the request was certainly not sent: there was no connection, or the client's own rate limit
// kept it back.
func (a *answer) unsent() bool {
	return a.unconnected() || a.code == 0 &&
		strings.Contains(a.err.Error(), "client rate limiter Wait returned an error")
}

// deletedNothing reports whether the answer shows that the request deleted nothing; o is its outcome. A server may fail
// after it has stored the deletion, but it calls webhooks and checks budgets before.
func (a *answer) deletedNothing(o eviction.Outcome) bool {
	switch {
	case a.verb&(deleteVerb|evictVerb) == 0 || a.unsent():
		return true
	case a.code == 0:
		return false
	}
	return o.Cause == eviction.CauseWebhook || o.Cause == eviction.CauseConflict
}

// late reports whether the call's time was up.
func (a *answer) late() bool { return errors.Is(a.err, context.DeadlineExceeded) }

// cut reports whether the network lost the request or its answer.
func (a *answer) cut() bool {
	if _, ok := errors.AsType[*url.Error](a.err); ok {
		return true
	}
	_, ok := errors.AsType[net.Error](a.err)
	return ok || errors.Is(a.err, io.EOF) || errors.Is(a.err, io.ErrUnexpectedEOF)
}

// interrupted returns the outcome of a call that ends before its deletion is sent.
func interrupted() eviction.Outcome {
	return eviction.Outcome{
		Kind: eviction.Interrupted, NothingDeleted: true,
		Message: "this process does not lead any longer",
	}
}
