package run

import (
	"context"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/apiserver/pkg/server/healthz"
	"k8s.io/client-go/kubernetes/fake"
	coordinationv1 "k8s.io/client-go/kubernetes/typed/coordination/v1"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/leader"
	"github.com/taint-manager/taint-manager/taint"
)

// sight is a fake manager of an empty cluster.
type sight struct {
	inForce taintmanager.Policies
	trips   []taintmanager.Trip
	synced  bool

	trouble, journal, clock, original error
}

func (sight) Earliest(context.Context, int) ([]eviction.View, int, error) { return nil, 0, nil }
func (sight) Tainted() []*taint.Node                                      { return nil }
func (s sight) InForce() taintmanager.Policies                            { return s.inForce }
func (s sight) Trips() []taintmanager.Trip                                { return s.trips }
func (s sight) HasSynced() bool                                           { return s.synced }
func (s sight) Trouble() error                                            { return s.trouble }
func (s sight) JournalTrouble() error                                     { return s.journal }
func (s sight) BuiltinTrouble() error                                     { return s.original }
func (s sight) clockTrouble(time.Time) error                              { return s.clock }

func (sight) IdleBreakers() []string { return []string{"breaker b can never trip"} }

func (sight) OutageWithoutNoExecute() map[string]time.Time {
	return map[string]time.Time{"n2": time.Unix(7, 0), "n1": {}}
}

func watchdog(err error) healthz.HealthChecker {
	return healthz.NamedCheck("leaderElection", func(*http.Request) error { return err })
}

func TestHealthAndReadinessTellWhatIsWrong(t *testing.T) {
	bad := errors.New("bad")
	for name, test := range map[string]struct {
		sight                   sight
		ending                  bool
		lease                   error
		healthz, livez, readyz  string
		readyzCode, healthzCode int
	}{
		"all is well":   {sight{synced: true}, false, nil, "[+]leaderElection ok", "[+]ping ok", "[+]informer-sync ok", 200, 200},
		"not synced":    {sight{}, false, nil, "[+]ping ok", "[+]ping ok", "[-]informer-sync failed", 500, 200},
		"can't watch":   {sight{synced: true, trouble: bad}, false, nil, "[+]ping ok", "[+]ping ok", "[-]watch failed", 500, 200},
		"ending":        {sight{synced: true}, true, nil, "[+]ping ok", "[+]ping ok", "[-]shutdown failed", 500, 200},
		"journal":       {sight{synced: true, journal: bad}, false, nil, "[+]ping ok", "[+]ping ok", "readyz check passed\n[!]journal: not kept as a whole\n", 200, 200},
		"both":          {sight{synced: true, trouble: bad, journal: bad}, false, nil, "[+]ping ok", "[+]ping ok", "readyz check failed\n[!]journal: not kept as a whole\n", 500, 200},
		"clock":         {sight{synced: true, clock: bad}, false, nil, "[+]ping ok", "[+]ping ok", "readyz check passed\n[!]clock: not in step with that of the API server\n", 200, 200},
		"the original":  {sight{synced: true, original: bad}, false, nil, "[+]ping ok", "[+]ping ok", "readyz check passed\n[!]builtin: evicts pods, too\n", 200, 200},
		"lease overdue": {sight{synced: true}, false, bad, "[-]leaderElection failed", "[-]leaderElection failed", "[+]watch ok", 200, 500},
	} {
		t.Run(name, func(t *testing.T) {
			ending := make(chan struct{})
			if test.ending {
				close(ending)
			}
			h := remarks{condition: test.sight, clock: test.sight.clockTrouble}.below(endpoints(test.sight, ending, watchdog(test.lease), false))
			expect(t, h, "/healthz?verbose", test.healthzCode, test.healthz)
			expect(t, h, "/livez?verbose", test.healthzCode, test.livez)
			expect(t, h, "/readyz?verbose", test.readyzCode, test.readyz)
		})
	}
}

// ready serves the endpoints of a process that is ready, with these remarks. What they lack is as it should be.
func ready(m remarks) http.Handler {
	if m.condition == nil {
		m.condition = sight{synced: true}
	}
	m.clock = sight{}.clockTrouble
	return m.below(endpoints(m.condition, nil, watchdog(nil), false))
}

// voting is a fake leader election.
type voting struct {
	election
	trouble error
}

func (v voting) Trouble() error { return v.trouble }

func TestALeaderWhoseElectorIsStuckIsNotAlive(t *testing.T) {
	for name, test := range map[string]struct {
		stuck, leads bool
		code         int
	}{
		"a leader whose elector is stuck":    {true, true, http.StatusInternalServerError},
		"a leader that renews its lease":     {false, true, http.StatusOK},
		"a replica whose elector is stuck":   {true, false, http.StatusOK},
		"a replica that looks for the lease": {false, false, http.StatusOK},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				client := fake.NewClientset()
				if !test.leads {
					other := leader.New(leader.Defaults(), client.CoordinationV1(), "other")
					defer campaign(t, other)()
					time.Sleep(time.Minute) // a first leader waits for the lease duration
				}
				var stuck atomic.Bool
				done := make(chan struct{})
				e := leader.New(leader.Defaults(), leases{client.CoordinationV1(), func() {
					if stuck.Load() {
						<-done // though the context of the call has ended
					}
				}}, "me")
				end := campaign(t, e)
				h := endpoints(sight{synced: true}, nil, e.Watchdog(), false)
				time.Sleep(time.Minute)
				expect(t, h, "/livez", http.StatusOK, "ok")
				stuck.Store(test.stuck)
				time.Sleep(time.Minute)
				expect(t, h, "/livez", test.code, "")
				close(done)
				end()
			})
		})
	}
}

// leases calls a function before each request.
type leases struct {
	coordinationv1.LeasesGetter
	before func()
}

func (l leases) Leases(namespace string) coordinationv1.LeaseInterface {
	l.before()
	return l.LeasesGetter.Leases(namespace)
}

// TestAStrangerLearnsNoNames asks the secure port and the page about a process with which everything is wrong.
func TestAStrangerLearnsNoNames(t *testing.T) {
	began := time.Date(2026, 11, 1, 12, 0, 0, 0, time.UTC)
	finding := builtin.Finding{Pod: "payments/ledger-0", Node: "node-17.internal", Writer: "kube-controller-manager", At: began}
	m := remarks{
		condition: sight{
			synced: true, journal: errors.New("the record of node-17.internal is cut"),
			original: errors.New(finding.Warning([]string{"policy secret-project"})),
			inForce:  taintmanager.Policies{Paused: true},
			trips: []taintmanager.Trip{
				{Breaker: "zones", TopologyKey: "zone", Group: "eu-1a", Began: began}, {Breaker: "racks", Began: began},
			},
		},
		election: voting{trouble: errors.New("the Lease kube-system/taint-manager: forbidden")},
	}
	expect(t, ready(m), "/readyz?verbose", http.StatusOK, `readyz check passed
[!]journal: not kept as a whole
[!]builtin: evicts pods, too
[!]paused: no eviction starts
[!]breakers: 2 tripped
[!]lease: can't be read or written
`)
	expect(t, ready(m), "/readyz", http.StatusOK, "ok")
	w := httptest.NewRecorder()
	ready(m).ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/readyz?verbose", nil))
	m.clock = sight{}.clockTrouble
	page := status.New(status.Options{Remarks: m})
	for _, name := range []string{
		"payments/ledger-0", "node-17.internal", "policy secret-project", "eu-1a", "kube-system/taint-manager",
		"[!]breakers: zones is tripped for eu-1a since 2026-11-01T12:00:00Z; racks is tripped for the whole cluster since",
	} {
		if strings.Contains(w.Body.String(), name) {
			t.Errorf("a stranger reads %q:\n%s", name, w.Body)
		}
		expect(t, page, "http://localhost:8080/remarks", http.StatusOK, name)
	}
}

func expect(t *testing.T, h http.Handler, path string, code int, text string) {
	t.Helper()
	w := httptest.NewRecorder()
	h.ServeHTTP(w, httptest.NewRequest(http.MethodGet, path, nil))
	if w.Code != code || !strings.Contains(w.Body.String(), text) {
		t.Errorf("%s: got %d, want %d with %q:\n%s", path, w.Code, code, text, w.Body)
	}
}

func TestMetricsAreThoseOfAComponentOfKubernetes(t *testing.T) {
	h := endpoints(sight{synced: true}, nil, watchdog(nil), false)
	for _, name := range []string{"go_goroutines", "process_cpu_seconds_total", "kubernetes_build_info", "registered_metrics_total"} {
		expect(t, h, "/metrics", http.StatusOK, "\n"+name)
	}
}

// TestOnlyHealthIsServedToStrangers serves over TLS, like a process without a cluster.
func TestOnlyHealthIsServedToStrangers(t *testing.T) {
	address := serveTLS(t)
	for path, want := range map[string]int{"/healthz": 200, "/livez": 200, "/readyz": 200, "/metrics": 403, "/readyz/ping": 403, "/remarks": 403, "/": 403} {
		if got := getTLS(t, address, path); got != want {
			t.Errorf("%s: got %d, want %d", path, got, want)
		}
	}
}

// serveTLS serves like a process without a cluster, and returns the address.
func serveTLS(t *testing.T, changes ...func(*settings)) (address string) {
	t.Helper()
	s := newSettings()
	for _, change := range changes {
		change(s)
	}
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	must(t, err)
	s.serving.Listener = listener
	made, err := s.listen(t.Context())
	must(t, err)
	shutdown, err := made.serve(endpoints(sight{synced: true}, nil, watchdog(nil), false))
	must(t, err)
	t.Cleanup(shutdown)
	return listener.Addr().String()
}

// getTLS gets a path by a connection of its own, as a kubelet does. It returns the status code, or 0 if a refusal is
// not a Kubernetes Status.
func getTLS(t *testing.T, address, path string) int {
	t.Helper()
	transport := &http.Transport{TLSClientConfig: &tls.Config{InsecureSkipVerify: true}, DisableKeepAlives: true}
	answer, err := (&http.Client{Transport: transport}).Get("https://" + address + path)
	must(t, err)
	defer func() { _ = answer.Body.Close() }()
	body, err := io.ReadAll(answer.Body)
	must(t, err)
	if answer.StatusCode != http.StatusOK && !strings.Contains(string(body), `"kind":"Status"`) {
		return 0
	}
	return answer.StatusCode
}

func TestPortZeroServesNothing(t *testing.T) {
	s := newSettings()
	s.serving.BindPort = 0
	made, err := s.listen(t.Context())
	must(t, err)
	shutdown, err := made.serve(http.NotFoundHandler())
	must(t, err)
	shutdown()
}

func TestProfilesAreServedOnlyIfTheyAreSwitchedOn(t *testing.T) {
	for on, code := range map[bool]int{false: http.StatusNotFound, true: http.StatusOK} {
		h := endpoints(sight{synced: true}, nil, watchdog(nil), on)
		for _, path := range []string{"/debug/pprof/", "/debug/pprof/goroutine?debug=1", "/debug/pprof/symbol"} {
			expect(t, h, path, code, "")
		}
	}
}
