package evict

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

// web is the path of the pod.
const web = "/api/v1/namespaces/shop/pods/web-0"

func TestThePatchSaysWhyThePodGoes(t *testing.T) {
	for name, row := range map[string]struct {
		effect     v1.TaintEffect
		generation int64
		observed   string
	}{
		"a NoExecute taint":          {v1.TaintEffectNoExecute, 7, `"observedGeneration":7,`},
		"a NoSchedule taint":         {v1.TaintEffectNoSchedule, 1, `"observedGeneration":1,`},
		"a pod without a generation": {v1.TaintEffectNoExecute, 0, ""},
	} {
		s, e := newServer(t), someRequest()
		e.Verdict.Taint.Effect, e.Pod.Generation = row.effect, row.generation
		before := time.Now().UTC().Truncate(time.Second)
		if o := evictOnce(t, s, APIOptions{}, e); o != accepted {
			t.Errorf("%s: got %+v", name, o)
		}
		got, patch := s.requests()[0], v1.Pod{}
		if err := json.Unmarshal([]byte(got.Body), &patch); err != nil || len(patch.Status.Conditions) != 1 {
			t.Fatalf("%s: patch %s: %v, want one condition", name, got.Body, err)
		}
		stamp := patch.Status.Conditions[0].LastTransitionTime.Time
		if stamp.Before(before) || stamp.After(time.Now()) {
			t.Errorf("%s: lastTransitionTime %v, want now in whole seconds", name, stamp)
		}
		want := request{
			patchVerb, "PATCH", web + "/status?fieldManager=taint-manager", "application/strategic-merge-patch+json",
			`{"metadata":{"uid":"` + uid + `"},"status":{"conditions":[{` +
				`"lastTransitionTime":"` + stamp.UTC().Format(time.RFC3339) + `",` +
				`"message":"Taint manager: deleting due to ` + string(row.effect) + ` taint",` + row.observed +
				`"reason":"DeletionByTaintManager","status":"True","type":"DisruptionTarget"}]}}`,
		}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestEachDeletionCarriesTheUID(t *testing.T) {
	const options = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"` + uid + `"}`
	for _, want := range []request{
		{deleteVerb, "DELETE", web, "application/json", options + "}"},
		{preflightVerb, "DELETE", web, "application/json", options + `,"dryRun":["All"]}`},
		{
			evictVerb, "POST", web + "/eviction", "application/json",
			`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"web-0","namespace":"shop"},` +
				`"deleteOptions":{"preconditions":{"uid":"` + uid + `"}}}`,
		},
	} {
		s := newServer(t)
		e, o := evictionFor(want.Verb)
		evictOnce(t, s, o, e)
		got := slices.DeleteFunc(s.requests(), func(r request) bool { return r.Verb != want.Verb })
		if len(got) == 1 {
			got[0].Body = strings.TrimSpace(got[0].Body)
		}
		if diff := cmp.Diff([]request{want}, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestRequestsOfAnEviction(t *testing.T) {
	const del, evict = policy.Delete, policy.Evict
	const yes, refused, failed = eviction.Accepted, eviction.Refused, eviction.Failed
	for name, test := range map[string]struct {
		usual, asked policy.Method // of the evictor, and of this call
		edit         func(e *eviction.Request)
		replies      map[verb]reply
		sent         string
		want         eviction.Kind
	}{
		"delete":                           {del, "", nil, nil, "patch, delete", yes},
		"evict":                            {evict, "", refusedBefore, nil, "evict", yes},
		"evict, where others are deleted":  {del, evict, nil, nil, "evict", yes},
		"delete, where others are evicted": {evict, del, nil, nil, "patch, delete", yes},
		"hold, which is no call":           {del, policy.Hold, nil, nil, "", failed},
		"an unknown method":                {del, "delete", nil, nil, "", failed},
		"a pod that has the condition":     {del, "", disrupted, nil, "delete", yes},
		"after a refusal":                  {del, "", refusedBefore, nil, "preflight, patch, delete", yes},
		"a preflight that is refused leaves the condition alone": {
			del, "", refusedBefore,
			map[verb]reply{preflightVerb: {code: 403, body: policyDenial}},
			"preflight", refused,
		},
		"a webhook that does not support dry run is asked for real": {
			del, "", refusedBefore,
			map[verb]reply{preflightVerb: {code: 400, body: dryRunUnsupported}},
			"preflight, patch, delete", yes,
		},
		"a patch that fails deletes nothing": {
			del, "", nil, map[verb]reply{patchVerb: {code: 500, body: leaderChanged}}, "patch", failed,
		},
	} {
		s, e := newServer(t), someRequest()
		s.replies, e.Method = test.replies, test.asked
		if test.edit != nil {
			test.edit(&e)
		}
		if o := evictOnce(t, s, APIOptions{Method: test.usual}, e); o.Kind != test.want || s.sent() != test.sent {
			t.Errorf("%s: sent %q with outcome %+v, want %q and %s", name, s.sent(), o, test.sent, test.want.String())
		}
	}
}

func refusedBefore(e *eviction.Request) { e.AfterRefusal = true }

func disrupted(e *eviction.Request) { e.Pod.Disrupted = true }

func TestTheGracePeriodGoesWithEachDeletion(t *testing.T) {
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		for _, seconds := range []int64{-1, 0, 1, 480} {
			s, e := newServer(t), someRequest()
			e.Method, e.GracePeriodSeconds, e.AfterRefusal = method, &seconds, true
			o := evictOnce(t, s, APIOptions{}, e)
			if seconds < 1 {
				if o.Kind != eviction.Failed || o.Cause != eviction.CauseClient || o.MayHaveDeleted() ||
					!contains(o.Message, "force") || s.sent() != "" {
					t.Errorf("%s in %d s: sent %q with outcome %+v, want no request", method, seconds, s.sent(), o)
				}
				continue
			}
			if o.Kind != eviction.Accepted {
				t.Errorf("%s in %d s: got %+v", method, seconds, o)
			}
			for _, r := range s.requests() {
				if want := fmt.Sprintf(`"gracePeriodSeconds":%d`, seconds); contains(r.Body, want) == (r.Verb == patchVerb) {
					t.Errorf("%s in %d s: %+v", method, seconds, r)
				}
			}
		}
	}
}

// The watch may show between two requests that the taint was lifted. The condition that was patched is then false.
func TestAPodThatIsToStayByNowGetsNoFurtherRequest(t *testing.T) {
	for name, test := range map[string]struct {
		confirmed int // requests before the one that is not
		kind      eviction.Kind
		sent      string
		preflight bool // goes first in the next call
	}{
		"before the PATCH":                 {0, eviction.Unconfirmed, "", false},
		"after the PATCH":                  {1, eviction.Unconfirmed, "patch", true},
		"a GET that fails after the PATCH": {1, eviction.Failed, "patch", false},
	} {
		s, asked := newServer(t), 0
		confirm := func(context.Context) (eviction.Outcome, bool) {
			asked++
			return eviction.Outcome{Kind: test.kind}, asked <= test.confirmed
		}
		got := apiOf(t, clientOf(t, s), APIOptions{}).EvictConfirmed(t.Context(), someRequest(), confirm)
		if got.Kind != test.kind || got.PreflightFirst != test.preflight || s.sent() != test.sent {
			t.Errorf("%s: sent %q with outcome %+v, want %q", name, s.sent(), got, test.sent)
		}
	}
}

// The watch hangs meanwhile: a toleration may have been edited, and another process may have led and deleted the pod.
func TestAPodThatAnAnswerShowsToHaveChangedIsNotDeleted(t *testing.T) {
	answer := func(m string) reply {
		return reply{code: 200, body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{` + m + `}}`}
	}
	metadata := func(m string) map[verb]reply { return map[verb]reply{patchVerb: answer(m), preflightVerb: answer(m)} }
	const deleted = `,"deletionTimestamp":"2026-05-01T12:00:00Z"`
	edited := eviction.Outcome{Kind: eviction.Unconfirmed, PreflightFirst: true}
	begun := eviction.Outcome{Kind: eviction.Unconfirmed, Cause: eviction.CauseBegun}
	for name, test := range map[string]struct {
		known   int64
		answers map[verb]reply
		refused bool // before
		sent    string
		want    eviction.Outcome
	}{
		"as known":                     {7, metadata(`"generation":7`), false, "patch, delete", accepted},
		"edited since":                 {7, metadata(`"generation":8`), false, "patch", edited},
		"edited since, by a preflight": {7, metadata(`"generation":9` + deleted), true, "preflight", edited},
		"a preflight counts itself as an edit": {7, map[verb]reply{
			preflightVerb: answer(`"generation":8` + deleted), patchVerb: answer(`"generation":7`),
		}, true, "preflight, patch, delete", accepted},
		"its deletion has begun":                {7, metadata(`"generation":8` + deleted), false, "patch", begun},
		"older than what is known":              {7, metadata(`"generation":6`), false, "patch, delete", accepted},
		"a server that counts no generations":   {0, metadata(""), false, "patch, delete", accepted},
		"a server that has begun to count them": {0, metadata(`"generation":1`), false, "patch, delete", accepted},
		"an answer that can't be read": {
			7, map[verb]reply{patchVerb: {code: 200, body: "{"}}, false, "patch, delete", accepted,
		},
	} {
		s, e := newServer(t), someRequest()
		s.replies, e.Pod.Generation, e.AfterRefusal = test.answers, test.known, test.refused
		got := evictOnce(t, s, APIOptions{}, e)
		if got.Message = ""; got != test.want || s.sent() != test.sent {
			t.Errorf("%s: sent %q with outcome %+v, want %q and %+v", name, s.sent(), got, test.sent, test.want)
		}
	}
}

var accepted = eviction.Outcome{Kind: eviction.Accepted}

func TestClientGoNeverRetries(t *testing.T) {
	for _, code := range []int{429, 500, 503} {
		for _, method := range []policy.Method{policy.Delete, policy.Evict} {
			s := newServer(t)
			busy := reply{code: code, header: map[string]string{"Retry-After": "1", "Content-Type": "text/plain"}, body: "busy"}
			s.replies = map[verb]reply{deleteVerb: busy, evictVerb: busy}
			e := someRequest()
			e.Pod.Disrupted = true
			evictOnce(t, s, APIOptions{Method: method}, e)
			if n := len(s.requests()); n != 1 {
				t.Errorf("%s, %d: %d requests, want 1", method, code, n)
			}
		}
	}
}

func TestNoRequestFollowsOnceLeadershipIsGone(t *testing.T) {
	s := newServer(t)
	asked := 0
	leading := func() bool { asked++; return asked == 1 }
	outcome := evictOnce(t, s, APIOptions{Leading: leading}, someRequest())
	if outcome.Kind != eviction.Interrupted || s.sent() != "patch" {
		t.Errorf("sent %q with outcome %+v, want the PATCH only, and interrupted", s.sent(), outcome)
	}
}

func TestAFakeClientsetServesBothMethods(t *testing.T) {
	for name, c := range map[string]struct {
		method     policy.Method
		generation int64
		want       []string
		kind       eviction.Kind
	}{
		"delete":             {policy.Delete, 7, []string{"patch status", "delete "}, eviction.Accepted},
		"evict":              {policy.Evict, 7, []string{"create eviction"}, eviction.Accepted},
		"the pod was edited": {policy.Delete, 8, []string{"patch status"}, eviction.Unconfirmed},
	} {
		meta := metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: uid, Generation: c.generation}
		client := fake.NewClientset(&v1.Pod{ObjectMeta: meta})
		outcome := apiOf(t, client, APIOptions{Method: c.method}).Evict(t.Context(), someRequest())
		var verbs []string
		for _, action := range client.Actions() {
			verbs = append(verbs, action.GetVerb()+" "+action.GetSubresource())
		}
		if outcome.Kind != c.kind || !slices.Equal(verbs, c.want) {
			t.Errorf("%s: %+v after %q, want %q", name, outcome, verbs, c.want)
		}
	}
}

func TestAnEnormousDenialIsCutWhereItEnters(t *testing.T) {
	enormous := strings.Repeat("ä", 1<<19)
	denial := fmt.Sprintf(`{"kind":"Status","apiVersion":"v1","status":"Failure","code":403,`+
		`"message":"admission webhook \"guard\" denied the request: %s",`+
		`"details":{"causes":[{"reason":"DisruptionBudget","message":"%s"}]}}`, enormous, enormous)
	s := newServer(t)
	s.replies = map[verb]reply{patchVerb: {code: 403, body: denial}, evictVerb: {code: 403, body: denial}}
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		o := evictOnce(t, s, APIOptions{Method: method}, someRequest())
		if o.Kind != eviction.Refused || o.Cause != eviction.CauseAdmission {
			t.Errorf("%s: got %s, %s", method, o.Kind.String(), o.Cause)
		}
		if n := len(o.Message); n == 0 || n > 1024 || !utf8.ValidString(o.Message) {
			t.Errorf("%s: a message of %d bytes, want at most 1024 that are valid", method, n)
		}
	}
}
