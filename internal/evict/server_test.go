package evict

import (
	"cmp"
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes"
	"k8s.io/client-go/rest"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const uid = "6d9f1c1e-0000-4000-8000-000000000001"

func someRequest() eviction.Request {
	return eviction.Request{
		Pod: &taint.Pod{UID: uid, Namespace: "shop", Name: "web-0", Node: "n1", Generation: 7},
		Verdict: taint.Verdict{
			Evict: true, At: time.Now(), Start: time.Now(), Node: "n1",
			Taint: &v1.Taint{Key: "maintenance", Effect: v1.TaintEffectNoExecute},
		},
		Attempt: 1,
	}
}

// request is what a server got.
type request struct {
	Verb        verb
	Method      string
	Target      string
	ContentType string
	Body        string
}

// reply is what a server answers.
type reply struct {
	code   int
	header map[string]string
	body   string
}

// server speaks enough of the API: it notes every request and answers a success, or the reply
// that is set for its verb.
type server struct {
	*httptest.Server
	replies map[verb]reply

	mu   sync.Mutex
	seen []request
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{replies: map[verb]reply{}}
	s.Server = httptest.NewServer(s)
	t.Cleanup(s.Close)
	return s
}

func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	got := request{verbOf(r, string(body)), r.Method, r.URL.RequestURI(), r.Header.Get("Content-Type"), string(body)}
	s.mu.Lock()
	s.seen = append(s.seen, got)
	answer, ok := s.replies[got.Verb]
	s.mu.Unlock()
	if !ok {
		answer = success(got.Verb)
	}
	w.Header().Set("Content-Type", "application/json")
	for key, value := range answer.header {
		w.Header().Set(key, value)
	}
	w.WriteHeader(answer.code)
	_, _ = io.WriteString(w, answer.body)
}

func (s *server) requests() []request {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.seen
}

// sent returns the requests by their verbs: "patch, delete".
func (s *server) sent() string {
	var verbs []string
	for _, r := range s.requests() {
		verbs = append(verbs, r.Verb.String())
	}
	return strings.Join(verbs, ", ")
}

func verbOf(r *http.Request, body string) verb {
	switch r.Method {
	case http.MethodGet:
		return getVerb
	case http.MethodPatch:
		return patchVerb
	case http.MethodPost:
		return evictVerb
	}
	if contains(body, `"dryRun":["All"]`) {
		return preflightVerb
	}
	return deleteVerb
}

func success(v verb) reply {
	if v == evictVerb {
		return reply{code: 201, body: `{"kind":"Status","apiVersion":"v1","metadata":{},"status":"Success","code":201}`}
	}
	return reply{code: 200, body: `{"kind":"Pod","apiVersion":"v1","metadata":{"name":"web-0","namespace":"shop"}}`}
}

// clientOf returns a real clientset for the server, without client-side limits.
func clientOf(t *testing.T, s *server) kubernetes.Interface {
	t.Helper()
	client, err := kubernetes.NewForConfig(&rest.Config{Host: s.URL, QPS: -1})
	if err != nil {
		t.Fatal(err)
	}
	return client
}

func apiOf(t *testing.T, client kubernetes.Interface, o APIOptions) *API {
	t.Helper()
	o.Method = cmp.Or(o.Method, policy.Delete)
	if o.Leading == nil {
		o.Leading = func() bool { return true }
	}
	return NewAPI(client, o)
}

func evictOnce(t *testing.T, s *server, o APIOptions, e eviction.Request) eviction.Outcome {
	t.Helper()
	return apiOf(t, clientOf(t, s), o).Evict(context.Background(), e)
}
