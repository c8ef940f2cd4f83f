package evict

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"testing"
	"time"

	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"
	"k8s.io/client-go/util/flowcontrol"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// Bodies as API servers send them.
const (
	policyDenial = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"web-0\" is forbidden: ` +
		`ValidatingAdmissionPolicy 'keep' with binding 'keep' denied request: keep it","reason":"Forbidden","details":{"name":"web-0","kind":"pods"},"code":403}`
	pluginDenial = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"web-0\" is forbidden: ` +
		`not allowed here","reason":"Forbidden","details":{"name":"web-0","kind":"pods"},"code":403}`
	dryRunUnsupported = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"admission webhook \"guard.example.com\" does not support dry run","reason":"BadRequest","code":400}`
	leaderChanged = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"etcdserver: leader changed","code":500}`
	webhookDenial = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"admission webhook \"guard.example.com\" denied the request: not now","reason":"TooManyRequests","code":429}`
	webhookDown = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Internal error occurred: ` +
		`failed calling webhook \"guard.example.com\": failed to call webhook: Post \"https://guard.shop.svc:443/?timeout=10s\": dial tcp 10.0.0.9:443: connect: connection refused",` +
		`"reason":"InternalError","details":{"causes":[{"message":"failed calling webhook"}]},"code":500}`
	budgetBlocks = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"Cannot evict pod as it would violate the pod's disruption budget.","reason":"TooManyRequests",` +
		`"details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web needs 2 healthy pods and has 2 currently"}]},"code":429}`
	budgetBehind = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"Cannot evict pod as it would violate the pod's disruption budget.","reason":"TooManyRequests",` +
		`"details":{"causes":[{"reason":"DisruptionBudget","message":"The disruption budget web is still being processed by the server."}],"retryAfterSeconds":10},"code":429}`
	twoBudgets = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"This pod has more than one PodDisruptionBudget, which the eviction subresource does not support.","code":500}`
	budgetNegative = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"poddisruptionbudget.policy \"web\" is forbidden: pdb disruptions allowed is negative","reason":"Forbidden",` +
		`"details":{"name":"web","group":"policy","kind":"poddisruptionbudget"},"code":403}`
	budgetNegative137 = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"poddisruptionbudget.policy \"web\" is forbidden: pdb disruptions allowed is negative","reason":"Forbidden",` +
		`"details":{"name":"web","group":"policy","kind":"poddisruptionbudget","causes":[{"reason":"DisruptionBudget",` +
		`"message":"The disruption budget web does not allow evicting pods currently: pdb disruptions allowed is negative"}]},"code":403}`
	evicted138    = `{"kind":"Status","apiVersion":"v1","metadata":{"resourceVersion":"4711"},"status":"Success","code":201}`
	budgetWritten = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on ` +
		`poddisruptionbudgets.policy \"web\": the object has been modified; please apply your changes to the latest version and try again",` +
		`"reason":"Conflict","details":{"name":"web","group":"policy","kind":"poddisruptionbudgets"},"code":409}`
	budgetSlow = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure",` +
		`"message":"Timeout: couldn't update PodDisruptionBudget \"web\" due to conflicts","reason":"Timeout","details":{"retryAfterSeconds":10},"code":504}`
	budgetGone = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"poddisruptionbudgets.policy \"web\" not found",` +
		`"reason":"NotFound","details":{"name":"web","group":"policy","kind":"poddisruptionbudgets"},"code":404}`
	budgetStorage = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"The update operation against ` +
		`poddisruptionbudgets.policy could not be completed at this time, please try again.","reason":"ServerTimeout",` +
		`"details":{"name":"update","group":"policy","kind":"poddisruptionbudgets","retryAfterSeconds":2},"code":500}`
	timedOut = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Timeout: request did not complete within ` +
		`requested timeout - context deadline exceeded","reason":"Timeout","details":{},"code":504}`
	cacheCold = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"storage is (re)initializing",` +
		`"reason":"TooManyRequests","details":{"retryAfterSeconds":7},"code":429}`
	deniedByLoad = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"the gateway has denied request 7 of this second",` +
		`"reason":"TooManyRequests","code":429}`
	unauthorized = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Unauthorized","reason":"Unauthorized","code":401}`
	rbacDenial   = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"web-0\" is forbidden: ` +
		`User \"system:serviceaccount:kube-system:tm\" cannot delete resource \"pods\" in API group \"\" in the namespace \"shop\"",` +
		`"reason":"Forbidden","details":{"name":"web-0","kind":"pods"},"code":403}`
	namespaceGoing = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"web-0\" is forbidden: ` +
		`unable to create new content in namespace shop because it is being terminated","reason":"Forbidden",` +
		`"details":{"name":"web-0","kind":"pods","causes":[{"reason":"NamespaceTerminating","message":"namespace shop is being terminated","field":"metadata.namespace"}]},"code":403}`
	notFound = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"pods \"web-0\" not found",` +
		`"reason":"NotFound","details":{"name":"web-0","kind":"pods"},"code":404}`
	uidChanged = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod \"web-0\" is invalid: metadata.uid: ` +
		`Invalid value: \"` + uid + `\": field is immutable","reason":"Invalid","details":{"name":"web-0","kind":"Pod",` +
		`"causes":[{"reason":"FieldValueInvalid","message":"Invalid value: \"` + uid + `\": field is immutable","field":"metadata.uid"}]},"code":422}`
	uidConflict = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods \"web-0\": ` +
		`the UID in the precondition (` + uid + `) does not match the UID in record (1). The object might have been deleted and then recreated",` +
		`"reason":"Conflict","details":{"name":"web-0","kind":"pods"},"code":409}`
	versionConflict = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Operation cannot be fulfilled on pods \"web-0\": ` +
		`the object has been modified; please apply your changes to the latest version and try again","reason":"Conflict","details":{"name":"web-0","kind":"pods"},"code":409}`
	invalid = `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Failure","message":"Pod \"web-0\" is invalid: status: no",` +
		`"reason":"Invalid","details":{"name":"web-0","kind":"Pod","causes":[{"reason":"FieldValueInvalid","message":"no","field":"status"}]},"code":422}`
)

// outcomeTest is an answer to one request of an eviction, and what is to be made of it.
type outcomeTest struct {
	name  string
	verb  verb
	reply reply
	kind  eviction.Kind
	cause string
	words string // part of the message
	after time.Duration

	may bool // have deleted the pod: then a token of a rate is kept
}

func outcomeTests() []outcomeTest {
	plain := map[string]string{"Content-Type": "text/plain; charset=utf-8", "Retry-After": "3"}
	return []outcomeTest{
		{"a policy denies", deleteVerb, reply{code: 403, body: policyDenial}, eviction.Refused, "admission", "keep it", 0, false},
		{"a webhook denies with the code of a loaded server", evictVerb, reply{code: 429, body: webhookDenial}, eviction.Refused, "admission", "not now", 0, false},
		{"a webhook is down", deleteVerb, reply{code: 500, body: webhookDown}, eviction.Failed, "webhook", "guard.example.com", 0, false},
		{"a preflight is not supported", preflightVerb, reply{code: 400, body: dryRunUnsupported}, eviction.Accepted, "", "", 0, true},
		{"a deletion is accepted at once", deleteVerb, reply{code: 200, body: "{}"}, eviction.Accepted, "", "", 0, true},
		{"a deletion is accepted for later", deleteVerb, reply{code: 202, body: "{}"}, eviction.Accepted, "", "", 0, true},
		{"an eviction is accepted with a body that nobody reads", evictVerb, reply{code: 201, body: "x"}, eviction.Accepted, "", "", 0, true},
		{"a budget blocks", evictVerb, reply{code: 429, body: budgetBlocks}, eviction.Blocked, "pdb", "The disruption budget web needs 2", 0, false},
		{"a budget is not processed yet", evictVerb, reply{code: 429, body: budgetBehind}, eviction.Blocked, "pdb", "disruption budget web", 10 * time.Second, false},
		{"two budgets", evictVerb, reply{code: 500, body: twoBudgets}, eviction.Blocked, "pdb", "more than one PodDisruptionBudget", 0, false},
		{"two budgets under a status of success", evictVerb, reply{code: 201, body: twoBudgets}, eviction.Blocked, "pdb", "more than one PodDisruptionBudget", 0, false},
		{"a budget below zero", evictVerb, reply{code: 403, body: budgetNegative}, eviction.Blocked, "pdb", `"web"`, 0, false},
		{"a budget below zero, with a cause as in 1.37", evictVerb, reply{code: 403, body: budgetNegative137}, eviction.Blocked, "pdb", "budget web does not allow", 0, false},
		{"an eviction is accepted with the pod's resourceVersion as in 1.38", evictVerb, reply{code: 201, body: evicted138}, eviction.Accepted, "", "", 0, true},
		{"a budget was written", evictVerb, reply{code: 409, body: budgetWritten}, eviction.Failed, "conflict", `"web"`, 0, false},
		{"a budget was written for too long", evictVerb, reply{code: 504, body: budgetSlow}, eviction.Blocked, "pdb", `"web"`, 10 * time.Second, false},
		{"a budget is gone", evictVerb, reply{code: 404, body: budgetGone}, eviction.Failed, "conflict", `"web"`, 0, false},
		{"the storage of budgets fails", evictVerb, reply{code: 500, body: budgetStorage}, eviction.Failed, "conflict", "poddisruptionbudgets", 2 * time.Second, false},
		{"a loaded server says for how long", deleteVerb, reply{429, plain, "Too many requests, please try again later."}, eviction.Throttled, "", "too many requests", 3 * time.Second, false},
		{"a loaded server says it in the body", evictVerb, reply{code: 429, body: cacheCold}, eviction.Throttled, "", "initializing", 7 * time.Second, false},
		{"a loaded server does not say for how long", patchVerb, reply{code: 429, body: "{}"}, eviction.Throttled, "", "", time.Second, false},
		{"a loaded server whose words are like those of a denial", deleteVerb, reply{code: 429, body: deniedByLoad}, eviction.Throttled, "", "denied request", time.Second, false},
		{"wrong credentials", patchVerb, reply{code: 401, body: unauthorized}, eviction.Refused, "unauthenticated", "Unauthorized", 0, false},
		{"no permission", deleteVerb, reply{code: 403, body: rbacDenial}, eviction.Refused, "rbac", `cannot delete resource "pods"`, 0, false},
		{"the namespace is going", evictVerb, reply{code: 403, body: namespaceGoing}, eviction.Refused, "namespace", "being terminated", 0, false},
		{"no such pod to patch", patchVerb, reply{code: 404, body: notFound}, eviction.NotFound, "", "not found", 0, false},
		{"no such pod to delete", deleteVerb, reply{code: 404, body: notFound}, eviction.NotFound, "", "not found", 0, false},
		{"no such pod to evict", evictVerb, reply{code: 404, body: notFound}, eviction.NotFound, "", "not found", 0, false},
		{"the node is gone", getVerb, reply{code: 404, body: notFound}, eviction.Unconfirmed, "", "not found", 0, false},
		{"no permission to get the node", getVerb, reply{code: 403, body: rbacDenial}, eviction.Refused, "rbac", "cannot", 0, false},
		{"a patch with a foreign UID", patchVerb, reply{code: 422, body: uidChanged}, eviction.NotFound, "", "immutable", 0, false},
		{"a deletion with a foreign UID", deleteVerb, reply{code: 409, body: uidConflict}, eviction.NotFound, "", "UID", 0, false},
		{"an eviction with a foreign UID", evictVerb, reply{code: 409, body: uidConflict}, eviction.NotFound, "", "UID", 0, false},
		{"a patch in conflict", patchVerb, reply{code: 409, body: versionConflict}, eviction.Failed, "conflict", "modified", 0, false},
		{"an eviction in conflict", evictVerb, reply{code: 409, body: versionConflict}, eviction.Failed, "conflict", "modified", 0, false},
		{"bad gateway", deleteVerb, reply{code: 502, header: plain, body: "bad gateway"}, eviction.Unavailable, "gateway", "", 3 * time.Second, true},
		{"unavailable", evictVerb, reply{code: 503, body: "{}"}, eviction.Unavailable, "gateway", "", 0, true},
		{"gateway timeout", patchVerb, reply{code: 504, body: "{}"}, eviction.Unavailable, "gateway", "", 0, false},
		{"a proxy's page says gateway timeout", deleteVerb, reply{504, plain, "<html>504</html>"}, eviction.Unavailable, "gateway", "", 3 * time.Second, true},
		{"admission holds a patch for too long", patchVerb, reply{code: 504, body: timedOut}, eviction.Failed, "admission-slow", "did not complete", 0, false},
		{"admission holds a preflight for too long", preflightVerb, reply{code: 504, body: timedOut}, eviction.Failed, "admission-slow", "did not complete", 0, false},
		{"admission holds a deletion for too long", deleteVerb, reply{code: 504, body: timedOut}, eviction.Failed, "admission-slow", "did not complete", 0, true},
		{"admission holds an eviction for too long", evictVerb, reply{code: 504, body: timedOut}, eviction.Failed, "admission-slow", "did not complete", 0, true},
		{"a node can't be read in time", getVerb, reply{code: 504, body: timedOut}, eviction.Unavailable, "gateway", "did not complete", 0, false},
		{"the server failed", deleteVerb, reply{code: 500, body: leaderChanged}, eviction.Failed, "server", "leader changed", 0, true},
		{"the patch is invalid", patchVerb, reply{code: 422, body: invalid}, eviction.Refused, "rejected", "is invalid", 0, false},
		{"an admission plugin forbids it", evictVerb, reply{code: 403, body: pluginDenial}, eviction.Refused, "admission", "not allowed here", 0, false},
		{"a proxy forbids it", evictVerb, reply{403, plain, "<html>403</html>"}, eviction.Refused, "rejected", "", 3 * time.Second, false},
		{"a proxy's page says forbidden", deleteVerb, reply{403, plain, "blocked by the firewall"}, eviction.Refused, "rejected", "", 3 * time.Second, false},
		{"a redirect to nowhere", deleteVerb, reply{code: 304}, eviction.Failed, "unknown", "304", 0, true},
	}
}

// evictionFor returns an eviction that sends the verb, and the options for it.
func evictionFor(v verb) (eviction.Request, APIOptions) {
	e := someRequest()
	e.AfterRefusal = v == preflightVerb
	if v == evictVerb {
		return e, APIOptions{Method: policy.Evict}
	}
	return e, APIOptions{}
}

func TestEveryRowOfTheTable(t *testing.T) {
	before := rules
	defer func() { rules = before }()
	rules = slices.Clone(rules)
	hits := counting(rules)
	for _, test := range outcomeTests() {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.replies[test.verb] = test.reply
			e, options := evictionFor(test.verb)
			got := eviction.Outcome{}
			if test.verb == getVerb {
				got = getNode(t, s)
			} else {
				got = evictOnce(t, s, options, e)
			}
			check(t, got, test)
			if got.MayHaveDeleted() != test.may {
				t.Errorf("it may have deleted the pod: %t, want %t", got.MayHaveDeleted(), test.may)
			}
		})
	}
	for _, test := range silenceTests() {
		t.Run(test.name, func(t *testing.T) {
			for _, disrupted := range []bool{true, false} { // otherwise the PATCH is lost
				api, ctx := test.api(t)
				e := someRequest()
				e.Pod.Disrupted = disrupted
				got := api.Evict(ctx, e)
				check(t, got, outcomeTest{kind: test.kind, cause: test.cause})
				if may := got.MayHaveDeleted(); may != (test.may && disrupted) {
					t.Errorf("disrupted %t: it may have deleted the pod: %t", disrupted, may)
				}
			}
		})
	}
	for i, row := range outcomeRows() {
		if hits[i] == 0 {
			t.Errorf("no test for row %d: %+v", i, row)
		}
	}
}

// getNode returns what a GET of a node comes to.
func getNode(t *testing.T, s *server) eviction.Outcome {
	t.Helper()
	c := Confirm(ConfirmOptions{Client: clientOf(t, s), NodeRead: func(string, time.Time, eviction.Outcome) {}})
	read, err := c.readNode(t.Context(), "n1", time.Now)
	if err != nil {
		t.Fatal(err)
	}
	return read.outcome
}

func check(t *testing.T, got eviction.Outcome, want outcomeTest) {
	t.Helper()
	if got.Kind != want.kind || got.Cause != want.cause || got.RetryAfter != want.after || !contains(got.Message, want.words) {
		t.Errorf("%s, %+v, want %s %q with %q after %v", got.Kind.String(), got, want.kind.String(), want.cause, want.words, want.after)
	}
	if got.Kind != eviction.Accepted && got.Message == "" {
		t.Error("no message")
	}
}

// counting makes the table count how often each rule was the one.
func counting(table []rule) []int {
	hits := make([]int, len(table))
	for i := range table {
		shows := table[i].shows
		table[i].shows = func(a *answer) bool {
			if shows != nil && !shows(a) {
				return false
			}
			hits[i]++
			return true
		}
	}
	return hits
}

// silenceTest is a way not to get an answer.
type silenceTest struct {
	name  string
	api   func(t *testing.T) (*API, context.Context)
	kind  eviction.Kind
	cause string
	may   bool // have deleted the pod, if the DELETE was sent
}

func silenceTests() []silenceTest {
	return []silenceTest{
		{"the caller gives up", givenUp, eviction.Interrupted, "", true},
		{"connection refused", refused, eviction.Unavailable, eviction.CauseUnreachable, false},
		{"no answer in time", hanging, eviction.Failed, eviction.CauseTimeout, true},
		{"connection cut", cutOff, eviction.Unavailable, eviction.CauseUnreachable, true},
		{"TLS failure", noTLS, eviction.Unavailable, eviction.CauseUnreachable, true},
		{"not sent at all", limited, eviction.Failed, eviction.CauseClient, false},
	}
}

func givenUp(t *testing.T) (*API, context.Context) {
	ctx, cancel := context.WithCancel(context.Background())
	return apiTo(t, serve(t, func(http.ResponseWriter, *http.Request) { cancel(); <-ctx.Done(); <-t.Context().Done() }), 0), ctx
}

func refused(t *testing.T) (*API, context.Context) {
	s := httptest.NewServer(nil)
	s.Close()
	return apiTo(t, s.URL, 0), context.Background()
}

func hanging(t *testing.T) (*API, context.Context) {
	hang := func(http.ResponseWriter, *http.Request) { <-t.Context().Done() }
	return apiTo(t, serve(t, hang), 20*time.Millisecond), context.Background()
}

func cutOff(t *testing.T) (*API, context.Context) {
	return apiTo(t, serve(t, func(http.ResponseWriter, *http.Request) { panic(http.ErrAbortHandler) }), 0), context.Background()
}

func noTLS(t *testing.T) (*API, context.Context) {
	s := httptest.NewTLSServer(nil)
	s.Config.ErrorLog = log.New(io.Discard, "", 0)
	t.Cleanup(s.Close)
	return apiTo(t, s.URL, 0), context.Background()
}

// noTokens is a client-side limit that lets nothing through.
type noTokens struct{ flowcontrol.RateLimiter }

func (noTokens) Wait(context.Context) error {
	return errors.New("rate: Wait(n=1) would exceed context deadline")
}

func limited(t *testing.T) (*API, context.Context) {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: "http://127.0.0.1:1", RateLimiter: noTokens{}})
	if err != nil {
		t.Fatal(err)
	}
	return apiOf(t, client, APIOptions{}), context.Background()
}

// client-go wraps what fails before the headers of an answer in a url.Error, and nothing after that.
func TestANetworkThatFailsIsKnownByItsError(t *testing.T) {
	for _, err := range []error{
		&url.Error{Op: "Delete", Err: errors.New("broken")}, &net.DNSError{}, io.EOF, io.ErrUnexpectedEOF,
		fmt.Errorf("reading the body: %w", io.EOF), fmt.Errorf("reading the body: %w", io.ErrUnexpectedEOF),
	} {
		o := classify(readAnswer(t.Context(), deleteVerb, err))
		if o.Kind != eviction.Unavailable || o.Cause != eviction.CauseUnreachable || !o.MayHaveDeleted() {
			t.Errorf("%v: got %+v", err, o)
		}
	}
}

// serve starts a server; its handlers see the test's context end before it is closed.
func serve(t *testing.T, handler http.HandlerFunc) string {
	s := httptest.NewServer(handler)
	t.Cleanup(s.Close)
	return s.URL
}

func apiTo(t *testing.T, url string, timeout time.Duration) *API {
	client, err := kubernetes.NewForConfig(&rest.Config{Host: url, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return apiOf(t, client, APIOptions{Timeout: timeout})
}

func TestEachCauseIsOfTheFixedSet(t *testing.T) {
	for _, row := range outcomeRows() {
		if eviction.CauseLabel(row.Cause) != row.Cause {
			t.Errorf("cause %q of %+v is not listed", row.Cause, row)
		}
	}
	if got := eviction.CauseLabel("of a caller's own"); got != "other" {
		t.Errorf("label %q, want other", got)
	}
}

func TestACallThatEndsBeforeItsFirstRequestHasDeletedNothing(t *testing.T) {
	s := newServer(t)
	ended, end := context.WithCancel(t.Context())
	end()
	api := apiOf(t, clientOf(t, s), APIOptions{})
	unconfirmed := func(o eviction.Outcome) eviction.Outcome {
		no := func(context.Context) (eviction.Outcome, bool) { return o, false }
		return api.EvictConfirmed(t.Context(), someRequest(), no)
	}
	following := apiOf(t, clientOf(t, s), APIOptions{Leading: func() bool { return false }})
	for name, o := range map[string]eviction.Outcome{
		"the node can't be read": unconfirmed(eviction.Outcome{Kind: eviction.Failed, NodeRead: true}),
		"unconfirmed":            unconfirmed(eviction.Outcome{Kind: eviction.Unconfirmed}),
		"another process leads":  following.Evict(t.Context(), someRequest()),
		"its context had ended":  api.Evict(ended, someRequest()),
		"a GET that is cut short": func() eviction.Outcome {
			o, _ := newConfirming().confirmSince(ended, new(someRequest()), time.Now)
			return o
		}(),
	} {
		if o.MayHaveDeleted() || s.sent() != "" {
			t.Errorf("%s: sent %q with outcome %+v", name, s.sent(), o)
		}
	}
}
