package status_test

import (
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

// ask asks as a browser on the own machine does, changed by the edits.
func ask(s *status.Server, path string, edits ...func(*http.Request)) *httptest.ResponseRecorder {
	r := httptest.NewRequest(http.MethodGet, path, nil)
	r.Host = "127.0.0.1:8080"
	for _, edit := range edits {
		edit(r)
	}
	w := httptest.NewRecorder()
	s.ServeHTTP(w, r)
	return w
}

func get(t *testing.T, s *status.Server, path string, into any) {
	t.Helper()
	w := ask(s, path)
	if w.Code != http.StatusOK || w.Header().Get("Content-Type") != "application/json" {
		t.Fatalf("%s: %d %s", path, w.Code, w.Body)
	}
	if err := json.Unmarshal(w.Body.Bytes(), into); err != nil {
		t.Fatalf("%s: %v", path, err)
	}
}

func host(h string) func(*http.Request) { return func(r *http.Request) { r.Host = h } }

func TestOnlyTheOwnMachineIsAnswered(t *testing.T) {
	s := (&world{}).server()
	for h, want := range map[string]int{
		"127.0.0.1:8080":                http.StatusOK,
		"localhost:34567":               http.StatusOK,
		"LOCALHOST":                     http.StatusOK,
		"localhost.:80":                 http.StatusOK,
		"[::1]:8080":                    http.StatusOK,
		"[::ffff:127.0.0.1]:8080":       http.StatusOK,
		"127.8.9.1":                     http.StatusOK,
		"":                              http.StatusForbidden,
		"evil.example:8080":             http.StatusForbidden,
		"localhost.evil.example:8080":   http.StatusForbidden,
		"127.0.0.1.evil.example:8080":   http.StatusForbidden,
		"10.0.0.1:8080":                 http.StatusForbidden,
		"[2001:db8::1]:8080":            http.StatusForbidden,
		"0.0.0.0:8080":                  http.StatusForbidden,
		"taint-manager.kube-system.svc": http.StatusForbidden,
	} {
		for _, path := range []string{"/", "/api/v1/snapshot"} {
			if w := ask(s, path, host(h)); w.Code != want {
				t.Errorf("%s of host %q: %d, want %d", path, h, w.Code, want)
			}
		}
	}
}

func TestAnotherSitesPageGetsNothing(t *testing.T) {
	s := (&world{}).server()
	for _, c := range []struct {
		site, mode, dest string
		want             int
	}{
		{"same-origin", "cors", "empty", http.StatusOK},
		{"none", "navigate", "document", http.StatusOK},
		{"cross-site", "navigate", "document", http.StatusOK},
		{"cross-site", "navigate", "iframe", http.StatusForbidden},
		{"cross-site", "no-cors", "script", http.StatusForbidden},
		{"same-site", "cors", "empty", http.StatusForbidden}, // another port of localhost
	} {
		w := ask(s, "/api/v1/snapshot", func(r *http.Request) {
			r.Header.Set("Sec-Fetch-Site", c.site)
			r.Header.Set("Sec-Fetch-Mode", c.mode)
			r.Header.Set("Sec-Fetch-Dest", c.dest)
		})
		if w.Code != c.want {
			t.Errorf("%+v: got %d", c, w.Code)
		}
	}
}

func TestAllAnswersForbidWhatThePageDoesNotNeed(t *testing.T) {
	s := (&world{}).server()
	for _, path := range []string{"/", "/api/v1/snapshot", "/api/v1/nope", "/nope.js"} {
		h := ask(s, path).Header()
		csp := h.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "script-src 'self'", "style-src 'self'", "connect-src 'self'", "base-uri 'none'", "frame-ancestors 'none'"} {
			if !strings.Contains(csp, part) {
				t.Errorf("%s: the policy %q lacks %s", path, csp, part)
			}
		}
		if strings.Contains(csp, "unsafe") || h.Get("X-Content-Type-Options") != "nosniff" ||
			h.Get("Referrer-Policy") != "no-referrer" || h.Get("Access-Control-Allow-Origin") != "" {
			t.Errorf("%s: headers %v", path, h)
		}
	}
}

func TestEveryRefusalIsOneSentence(t *testing.T) {
	s := (&world{}).server()
	post := func(r *http.Request) { r.Method = http.MethodPost }
	for _, c := range []struct {
		path string
		edit func(*http.Request)
		code int
		want string
	}{
		{"/", host("evil.example"), 403, `host "evil.example" is not allowed; use localhost or a loopback address, as after kubectl port-forward`},
		{"/api/v1/snapshot", post, 405, `method "POST" is not allowed; use GET`},
		{"/api/v1/pods", nil, 404, `/api/v1/pods not found; use /api/v1/snapshot, /api/v1/evictions or /api/v1/nodes`},
		{"/api/v1/snapshot?node=a", nil, 400, `/api/v1/snapshot supports only the parameter since; use /api/v1/evictions for filters`},
		{"/api/v1/nodes?node=a", nil, 400, `/api/v1/nodes supports no parameters; use /api/v1/evictions for filters`},
		{"/api/v1/evictions?node=a;state=due", nil, 400, `invalid query: invalid semicolon separator in query; separate parameters with &, and encode % as %25 and ; as %3B`},
		{"/api/v1/evictions?node=100%", nil, 400, `invalid query: invalid URL escape "%"; separate parameters with &, and encode % as %25 and ; as %3B`},
		{"/api/v1/evictions?nod=a", nil, 400, `unknown parameter "nod": must be node, namespace, taint, policy, state or limit`},
		{"/api/v1/evictions?state=late", nil, 400, `unknown state "late": must be one or more of scheduled, held, due, in-flight, blocked, refused, delayed, terminating`},
		{"/api/v1/evictions?limit=0", nil, 400, `invalid limit "0": must be between 1 and 10000, inclusive`},
		{"/api/v1/evictions?limit=many", nil, 400, `invalid limit "many": must be between 1 and 10000, inclusive`},
		{"/api/v1/evictions?after=x", nil, 400, `unknown parameter "after": must be node, namespace, taint, policy, state or limit`},
	} {
		if c.edit == nil {
			c.edit = func(*http.Request) {}
		}
		w := ask(s, c.path, c.edit)
		var got status.Error
		if err := json.Unmarshal(w.Body.Bytes(), &got); err != nil || w.Code != c.code || got.Message != c.want || got.Kind != "Error" {
			t.Errorf("%s: %d %s", c.path, w.Code, w.Body)
		}
	}
}

func TestASourceThatDoesNotAnswerIsSaidToBeAway(t *testing.T) {
	w := ask((&world{away: true}).server(), "/api/v1/evictions")
	if w.Code != http.StatusServiceUnavailable || !strings.Contains(w.Body.String(), "asking for the evictions: the shards do not answer; try again") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
}

func TestAListHasTheEarliestAndSaysHowManyMatch(t *testing.T) {
	s := (&world{views: loadOf(250)}).server()
	var l status.EvictionList
	get(t, s, "/api/v1/evictions?limit=2&node=n3", &l)
	if l.Total != 25 || len(l.Items) != 2 || l.Items[0].Pod != "p00003" || l.Items[1].Pod != "p00013" {
		t.Errorf("%d match, and the first are %+v", l.Total, l.Items)
	}
}

func TestFiltersAreOredWithinAndAndedBetween(t *testing.T) {
	due := view("c", "n2", 5)
	due.State = eviction.StateDue
	other := view("d", "n2", 6)
	other.Pod = &taint.Pod{UID: "uid-d", Namespace: "kube-system", Name: "d"}
	s := (&world{views: []eviction.View{view("a", "n0", 3), view("b", "n1", 4), due, other}}).server()
	for query, want := range map[string]string{
		"":                                      "a b c d",
		"?node=n1":                              "b",
		"?node=n1,n2":                           "b c d",
		"?node=n1&node=n0":                      "a b",
		"?node=n2&state=scheduled":              "d",
		"?state=due,in-flight":                  "c",
		"?namespace=kube-system":                "d",
		"?taint=gpu":                            "a b c d",
		"?taint=gpu%3Dbroken:NoExecute&limit=1": "a",
		"?taint=other":                          "",
	} {
		var l status.EvictionList
		get(t, s, "/api/v1/evictions"+query, &l)
		var got []string
		for _, e := range l.Items {
			got = append(got, e.Pod)
		}
		if strings.Join(got, " ") != want || l.Items == nil {
			t.Errorf("%s: got %v, want %q", query, got, want)
		}
	}
}

func TestThePageIsServedAndNothingAboveIt(t *testing.T) {
	s := (&world{}).server()
	if w := ask(s, "/"); w.Code != 200 || !strings.HasPrefix(w.Header().Get("Content-Type"), "text/html") {
		t.Errorf("/: %d, %s", w.Code, w.Header().Get("Content-Type"))
	}
	for _, path := range []string{"/nope", "/page/index.html", "/x/../server.go", "/..%2fserver.go"} {
		if w := ask(s, path); w.Code == 200 {
			t.Errorf("%s: %d", path, w.Code)
		}
	}
}
