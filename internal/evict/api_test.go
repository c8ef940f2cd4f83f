package evict

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/kubernetes/fake"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

func contains(s, part string) bool { return strings.Contains(s, part) }

const deletion = `{"kind":"DeleteOptions","apiVersion":"v1","preconditions":{"uid":"` + uid + `"}}`

func TestDeletePatchesTheConditionAndDeletesWithTheUID(t *testing.T) {
	s := newServer(t)
	before := time.Now().UTC().Truncate(time.Second)
	outcome := evictOnce(t, s, APIOptions{}, someRequest())
	if outcome != (eviction.Outcome{Kind: eviction.Accepted}) {
		t.Fatalf("outcome %+v, want accepted", outcome)
	}
	got := s.requests()
	if len(got) != 2 {
		t.Fatalf("requests: %+v, want a PATCH and a DELETE, and no GET", got)
	}
	stamp := checkPatch(t, got[0])
	if stamp.Before(before) || stamp.After(time.Now()) || stamp.Nanosecond() != 0 {
		t.Errorf("lastTransitionTime %v, want now in whole seconds", stamp)
	}
	want := request{deleteVerb, "DELETE", "/api/v1/namespaces/shop/pods/web-0", "application/json", deletion}
	got[1].Body = strings.TrimSpace(got[1].Body)
	if diff := cmp.Diff(want, got[1]); diff != "" {
		t.Errorf("DELETE (-want +got):\n%s", diff)
	}
}

// checkPatch compares the whole body but the time, which it returns.
func checkPatch(t *testing.T, r request) time.Time {
	t.Helper()
	const target, kind = "/api/v1/namespaces/shop/pods/web-0/status?fieldManager=taint-manager", "application/strategic-merge-patch+json"
	if r.Method != "PATCH" || r.Target != target || r.ContentType != kind {
		t.Errorf("got %s %s of %s, want a strategic merge PATCH of %s", r.Method, r.Target, r.ContentType, target)
	}
	var patch v1.Pod
	if err := json.Unmarshal([]byte(r.Body), &patch); err != nil || len(patch.Status.Conditions) != 1 {
		t.Fatalf("patch %s: %v, want one condition", r.Body, err)
	}
	at := patch.Status.Conditions[0].LastTransitionTime.UTC().Format(time.RFC3339)
	want := `{"metadata":{"uid":"` + uid + `"},"status":{"conditions":[{"lastTransitionTime":"` + at + `",` +
		`"message":"Taint manager: deleting due to NoExecute taint","observedGeneration":7,` +
		`"reason":"DeletionByTaintManager","status":"True","type":"DisruptionTarget"}]}}`
	if diff := cmp.Diff(want, r.Body); diff != "" {
		t.Errorf("patch (-want +got):\n%s", diff)
	}
	return patch.Status.Conditions[0].LastTransitionTime.Time
}

func TestTheConditionNamesTheEffectOfTheTaint(t *testing.T) {
	for _, effect := range []v1.TaintEffect{v1.TaintEffectNoExecute, v1.TaintEffectNoSchedule} {
		s, e := newServer(t), someRequest()
		e.Verdict.Taint.Effect = effect
		evictOnce(t, s, APIOptions{}, e)
		if body := s.requests()[0].Body; !contains(body, "deleting due to "+string(effect)+" taint") {
			t.Errorf("%s: got %s", effect, body)
		}
	}
}

func TestTheConditionOfAPodWithoutAGenerationNamesNone(t *testing.T) {
	for generation, named := range map[int64]bool{0: false, 1: true} {
		s, e := newServer(t), someRequest()
		e.Pod.Generation = generation
		evictOnce(t, s, APIOptions{}, e)
		if body := s.requests()[0].Body; contains(body, "observedGeneration") != named {
			t.Errorf("generation %d: got %s", generation, body)
		}
	}
}

func TestRequestsOfAnEviction(t *testing.T) {
	tests := []struct {
		name      string
		method    policy.Method
		refused   bool
		disrupted bool
		replies   map[verb]reply
		want      []verb
		kind      eviction.Kind
	}{
		{name: "delete", want: []verb{patchVerb, deleteVerb}, kind: eviction.Accepted},
		{name: "a condition that is there is not patched again", disrupted: true, want: []verb{deleteVerb}, kind: eviction.Accepted},
		{
			name: "after a refusal a preflight goes first", refused: true,
			want: []verb{preflightVerb, patchVerb, deleteVerb}, kind: eviction.Accepted,
		},
		{
			name: "a preflight that is refused leaves the condition alone", refused: true,
			replies: map[verb]reply{preflightVerb: {code: 403, body: policyDenial}},
			want:    []verb{preflightVerb}, kind: eviction.Refused,
		},
		{
			name: "a webhook that does not support dry run is asked for real", refused: true,
			replies: map[verb]reply{preflightVerb: {code: 400, body: dryRunUnsupported}},
			want:    []verb{preflightVerb, patchVerb, deleteVerb}, kind: eviction.Accepted,
		},
		{
			name:    "a patch that fails deletes nothing",
			replies: map[verb]reply{patchVerb: {code: 500, body: leaderChanged}},
			want:    []verb{patchVerb}, kind: eviction.Failed,
		},
		{name: "evict is one call", method: policy.Evict, refused: true, want: []verb{evictVerb}, kind: eviction.Accepted},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.replies = test.replies
			e := someRequest()
			e.AfterRefusal, e.Pod.Disrupted = test.refused, test.disrupted
			outcome := evictOnce(t, s, APIOptions{Method: test.method}, e)
			if outcome.Kind != test.kind || !slices.Equal(s.verbs(), test.want) {
				t.Errorf("sent %v with outcome %+v, want %v and %s", s.verbs(), outcome, test.want, test.kind.String())
			}
		})
	}
}

func TestARequestHasAMethodOfItsOwn(t *testing.T) {
	for _, test := range []struct {
		own    policy.Method
		method policy.Method
		want   []verb
		kind   eviction.Kind
	}{
		{policy.Delete, "", []verb{patchVerb, deleteVerb}, eviction.Accepted},
		{policy.Evict, "", []verb{evictVerb}, eviction.Accepted},
		{policy.Delete, policy.Evict, []verb{evictVerb}, eviction.Accepted},
		{policy.Evict, policy.Delete, []verb{patchVerb, deleteVerb}, eviction.Accepted},
		{policy.Delete, policy.Hold, nil, eviction.Failed},
		{policy.Delete, "delete", nil, eviction.Failed},
	} {
		s, e := newServer(t), someRequest()
		e.Method = test.method
		o := evictOnce(t, s, APIOptions{Method: test.own}, e)
		if o.Kind != test.kind || !slices.Equal(s.verbs(), test.want) {
			t.Errorf("%q by an evictor of method %s: sent %v with outcome %+v, want %v", test.method, test.own, s.verbs(), o, test.want)
		}
	}
}

func TestTheGracePeriodGoesWithEachDeletion(t *testing.T) {
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		for _, seconds := range []int64{-1, 0, 1, 480} {
			s, e := newServer(t), someRequest()
			e.Method, e.GracePeriodSeconds, e.AfterRefusal = method, &seconds, true
			o := evictOnce(t, s, APIOptions{}, e)
			if seconds < 1 {
				if o.Kind != eviction.Failed || o.Cause != eviction.CauseClient || o.MayHaveDeleted() || !contains(o.Message, "force") || len(s.verbs()) > 0 {
					t.Errorf("%s in %d s: sent %v with outcome %+v, want nothing to be sent", method, seconds, s.verbs(), o)
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
	for _, test := range []struct {
		name      string
		confirmed int // requests before the one that is not
		kind      eviction.Kind
		want      []verb
		preflight bool // goes first in the next call
	}{
		{"before the PATCH", 0, eviction.Unconfirmed, nil, false},
		{"after the PATCH", 1, eviction.Unconfirmed, []verb{patchVerb}, true},
		{"a GET that fails after the PATCH", 1, eviction.Failed, []verb{patchVerb}, false},
	} {
		s, asked := newServer(t), 0
		outcome := apiOf(t, clientOf(t, s), APIOptions{}).EvictConfirmed(t.Context(), someRequest(), func(context.Context) (eviction.Outcome, bool) {
			asked++
			return eviction.Outcome{Kind: test.kind}, asked <= test.confirmed
		})
		if outcome.Kind != test.kind || outcome.PreflightFirst != test.preflight || !slices.Equal(s.verbs(), test.want) {
			t.Errorf("%s: sent %v with outcome %+v, want %v", test.name, s.verbs(), outcome, test.want)
		}
	}
}

// A toleration may have been edited while the watch of pods hangs.
func TestAPodThatAnAnswerShowsToBeEditedIsNotDeleted(t *testing.T) {
	answer := func(m string) reply {
		return reply{code: 200, body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1","metadata":{` + m + `}}`}
	}
	metadata := func(m string) map[verb]reply { return map[verb]reply{patchVerb: answer(m), preflightVerb: answer(m)} }
	const deleted = `,"deletionTimestamp":"2026-05-01T12:00:00Z"`
	for _, test := range []struct {
		name    string
		known   int64
		answers map[verb]reply
		refused bool
		want    []verb
	}{
		{name: "as known", known: 7, answers: metadata(`"generation":7`), want: []verb{patchVerb, deleteVerb}},
		{name: "edited since", known: 7, answers: metadata(`"generation":8`), want: []verb{patchVerb}},
		{name: "edited since, by a preflight", known: 7, answers: metadata(`"generation":9` + deleted), refused: true, want: []verb{preflightVerb}},
		{
			name: "a preflight counts itself as an edit", known: 7, refused: true,
			answers: map[verb]reply{preflightVerb: answer(`"generation":8` + deleted), patchVerb: answer(`"generation":7`)},
			want:    []verb{preflightVerb, patchVerb, deleteVerb},
		},
		{name: "older than what is known", known: 7, answers: metadata(`"generation":6`), want: []verb{patchVerb, deleteVerb}},
		{name: "a server that counts no generations", known: 0, answers: metadata(""), want: []verb{patchVerb, deleteVerb}},
		{name: "a server that has begun to", known: 0, answers: metadata(`"generation":1`), want: []verb{patchVerb, deleteVerb}},
		{name: "an answer that can't be read", known: 7, answers: map[verb]reply{patchVerb: {code: 200, body: "{"}}, want: []verb{patchVerb, deleteVerb}},
	} {
		t.Run(test.name, func(t *testing.T) {
			s := newServer(t)
			s.replies = test.answers
			e := someRequest()
			e.Pod.Generation, e.AfterRefusal = test.known, test.refused
			want := eviction.Accepted
			if !slices.Contains(test.want, deleteVerb) {
				want = eviction.Unconfirmed
			}
			outcome := evictOnce(t, s, APIOptions{}, e)
			if outcome.Kind != want || outcome.PreflightFirst != (want == eviction.Unconfirmed) || !slices.Equal(s.verbs(), test.want) {
				t.Errorf("sent %v with outcome %+v, want %v and %s", s.verbs(), outcome, test.want, want.String())
			}
		})
	}
}

// The watch has not shown yet that another process, which led at the same time, has deleted the pod.
func TestAPodWhoseDeletionHasBegunIsNotDeletedAgain(t *testing.T) {
	s := newServer(t)
	s.replies[patchVerb] = reply{code: 200, body: `{"kind":"PartialObjectMetadata","apiVersion":"meta.k8s.io/v1",` +
		`"metadata":{"generation":8,"deletionTimestamp":"2026-05-01T12:00:00Z"}}`}
	e := someRequest()
	e.Pod.Generation = 7
	outcome := evictOnce(t, s, APIOptions{}, e)
	if outcome.Kind != eviction.Unconfirmed || outcome.Cause != eviction.CauseBegun || outcome.PreflightFirst || !slices.Equal(s.verbs(), []verb{patchVerb}) {
		t.Errorf("sent %v with outcome %+v", s.verbs(), outcome)
	}
}

func TestDryRunOfADeletionCarriesTheUID(t *testing.T) {
	s := newServer(t)
	e := someRequest()
	e.AfterRefusal = true
	evictOnce(t, s, APIOptions{}, e)
	want := strings.TrimSuffix(deletion, "}") + `,"dryRun":["All"]}`
	if got := strings.TrimSpace(s.requests()[0].Body); got != want {
		t.Errorf("body %s, want %s", got, want)
	}
}

func TestEvictPostsTheUIDToTheSubresource(t *testing.T) {
	s := newServer(t)
	evictOnce(t, s, APIOptions{Method: policy.Evict}, someRequest())
	got := s.requests()[0]
	got.Body = strings.TrimSpace(got.Body)
	want := request{
		evictVerb, "POST", "/api/v1/namespaces/shop/pods/web-0/eviction", "application/json",
		`{"kind":"Eviction","apiVersion":"policy/v1","metadata":{"name":"web-0","namespace":"shop"},` +
			`"deleteOptions":{"preconditions":{"uid":"` + uid + `"}}}`,
	}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("POST (-want +got):\n%s", diff)
	}
}

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
	if outcome.Kind != eviction.Interrupted || !slices.Equal(s.verbs(), []verb{patchVerb}) {
		t.Errorf("sent %v with outcome %+v, want the PATCH only, and interrupted", s.verbs(), outcome)
	}
}

func TestAnEndedContextSendsNothing(t *testing.T) {
	s := newServer(t)
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	outcome := apiOf(t, clientOf(t, s), APIOptions{}).Evict(ctx, someRequest())
	if outcome.Kind != eviction.Interrupted || len(s.requests()) != 0 {
		t.Errorf("sent %v with outcome %+v, want nothing, and interrupted", s.verbs(), outcome)
	}
}

func TestAFakeClientsetServesBothMethods(t *testing.T) {
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		client := fake.NewClientset(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: uid}})
		outcome := apiOf(t, client, APIOptions{Method: method}).Evict(context.Background(), someRequest())
		if outcome.Kind != eviction.Accepted {
			t.Errorf("%s: outcome %+v, want accepted", method, outcome)
		}
		var verbs []string
		for _, action := range client.Actions() {
			verbs = append(verbs, action.GetVerb()+" "+action.GetSubresource())
		}
		want := map[policy.Method][]string{policy.Delete: {"patch status", "delete "}, policy.Evict: {"create eviction"}}[method]
		if !slices.Equal(verbs, want) {
			t.Errorf("%s: actions %q, want %q", method, verbs, want)
		}
	}
}

func TestAFakeClientsetShowsThatThePodWasEdited(t *testing.T) {
	client := fake.NewClientset(&v1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "shop", Name: "web-0", UID: uid, Generation: 8}})
	outcome := apiOf(t, client, APIOptions{}).Evict(t.Context(), someRequest())
	if outcome.Kind != eviction.Unconfirmed || len(client.Actions()) != 1 {
		t.Errorf("got %+v after %v", outcome, client.Actions())
	}
}
