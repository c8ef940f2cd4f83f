package run

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"
	"k8s.io/klog/v2"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/leader"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
)

func TestAPageWhosePortIsInUseIsServedOnceItIsFree(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		taken, err := new(net.ListenConfig).Listen(t.Context(), "tcp", "127.0.0.1:0")
		must(t, err)
		said := make(chan string, 100)
		log := funcr.New(func(_, line string) { said <- line }, funcr.Options{})
		p, address := process{settings: newSettings(), identity: "me"}, taken.Addr().String()
		hide := servePage(klog.NewContext(t.Context(), log), p.page(sight{synced: true}, nil), address)
		time.Sleep(5 * listenRetry)
		synctest.Wait()
		if line := <-said; len(said) != 0 || !strings.Contains(line, "The status page cannot be served; evictions are not affected") || !strings.Contains(line, "in use") {
			t.Errorf("said %q, and %d lines more", line, len(said))
		}
		must(t, taken.Close())
		if line := <-said; !strings.Contains(line, `"url"="http://`+address+`/"`) {
			t.Errorf("said %q", line)
		}
		body := fetch(t, "http://"+address+"/api/v1/snapshot")
		if !strings.Contains(body, `"identity":"me","role":"leading","leader":"me"`) {
			t.Errorf("got %s", body)
		}
		hide()
	})
}

func TestThePageNamesTheClusterAndNoSecret(t *testing.T) {
	for _, c := range []struct{ name, server, want string }{
		{"prod-eu-1", "https://10.0.0.1:6443", "prod-eu-1"},
		{"", "https://10.0.0.1:6443", "10.0.0.1:6443"},
		{"", "https://api.example.com", "api.example.com"},
		{"", "https://[2001:db8::1]:6443", "[2001:db8::1]:6443"},
		{"", "api.example.com:6443", "api.example.com:6443"},
		{"", "https://user:secret@api.example.com/clusters/secret?token=secret#secret", "api.example.com"},
		{"", "user:secret@api.example.com", "api.example.com"},
		{"", "https://user:sec%ret@api.example.com", ""},
		{"", "", ""},
	} {
		if got := clusterName(c.name, c.server); got != c.want {
			t.Errorf("%q at %q: got %q, want %q", c.name, c.server, got, c.want)
		}
	}
}

func TestThePageTellsClusterMethodRateAndWarning(t *testing.T) {
	s := newSettings()
	s.Eviction.MaxEvictionsPerSecond, s.ClusterName = 2.5, "prod-eu-1"
	p := process{settings: s, identity: "me"}
	of := sight{inForce: taintmanager.Policies{Method: policy.Evict}, original: errors.New("the original runs, too")}
	page := status.New(p.page(of, nil))
	for _, want := range []string{
		`"cluster":"prod-eu-1","evictionMethod":"evict","maxEvictionsPerSecond":2.5`, `"warning":"the original runs, too"`,
		`"idle":["breaker b can never trip"],"spared":[{"name":"n1"},{"name":"n2","notReadySince":"1970-01-01T00:00:07Z"}]`,
	} {
		expect(t, page, "http://localhost:8080/api/v1/snapshot", http.StatusOK, want)
	}
}

func TestWithoutAnAddressThereIsNoPage(t *testing.T) {
	servePage(t.Context(), status.Options{}, "")()
}

func fetch(t *testing.T, url string) string {
	t.Helper()
	client := &http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, url, nil)
	must(t, err)
	response, err := client.Do(request)
	must(t, err)
	defer func() { _ = response.Body.Close() }()
	body, err := io.ReadAll(response.Body)
	must(t, err)
	return fmt.Sprintf("%d %s", response.StatusCode, body)
}

func TestAReplicaKnowsWhoLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leases := fake.NewClientset().CoordinationV1()
		first := leader.New(leader.Defaults(), leases, "first")
		second := leader.New(leader.Defaults(), leases, "second")
		names := map[*leader.Election]string{first: "first", second: "second"}
		roleIn := func(e *leader.Election) status.Manager {
			p := process{identity: names[e], election: e}
			return p.role(sight{synced: true})
		}
		if got := roleIn(second); !reflect.DeepEqual(got, status.Manager{Identity: "second", Role: status.Standby}) {
			t.Errorf("before it has looked: %+v", got)
		}
		stopFirst := campaign(t, first)
		time.Sleep(10 * time.Second)
		stopSecond := campaign(t, second)
		synctest.Wait()
		if got := roleIn(first); !reflect.DeepEqual(got, status.Manager{Identity: "first", Role: status.Leading, Leader: "first"}) {
			t.Errorf("the first: %+v", got)
		}
		if got := roleIn(second); !reflect.DeepEqual(got, status.Manager{Identity: "second", Role: status.Standby, Leader: "first"}) {
			t.Errorf("the second: %+v", got)
		}
		stopFirst()
		time.Sleep(10 * time.Second)
		if got := roleIn(second); got.Role != status.Leading || got.Leader != "second" {
			t.Errorf("the second, alone: %+v", got)
		}
		stopSecond()
	})
}

// campaign campaigns until the returned function is called, which returns once the campaign is over.
func campaign(t *testing.T, e *leader.Election) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
	over := make(chan error, 1)
	go func() {
		over <- e.Campaign(ctx, func(ctx context.Context) error { <-ctx.Done(); return nil })
	}()
	return func() {
		cancel()
		must(t, <-over)
	}
}

func TestThePageShowsThePoliciesOfNow(t *testing.T) {
	m := sight{
		inForce: taintmanager.Policies{Method: taintmanager.Ignore, Paused: true, Policies: []policy.Policy{{Name: "a"}, {Name: "b"}}, Guards: policy.Guards{
			Breakers: []policy.Breaker{{Name: "zones", TopologyKey: "zone", Reset: policy.Manual}, {Name: "all"}, {Name: "gone", TopologyKey: "zone"}},
		}},
		trips: []taintmanager.Trip{{Breaker: "zones", TopologyKey: "zone", Group: "eu-1a", Began: time.Unix(1, 0)}, {Breaker: "all", Began: time.Unix(2, 0)}, {Breaker: "gone", Began: time.Unix(3, 0)}},
	}
	want := status.Manager{
		Identity: "me", Role: status.Leading, Leader: "me", EvictionMethod: "ignore", Paused: true, Policies: []string{"a", "b"},
		Trips: []status.Trip{
			{Breaker: "zones", Group: "eu-1a", Since: time.Unix(1, 0), Reset: "Manual"}, {Breaker: "all", Since: time.Unix(2, 0), Reset: "Automatic"}, {Breaker: "gone", Since: time.Unix(3, 0)},
		},
	}
	if got := (&process{identity: "me"}).role(m); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, want %+v", got, want)
	}
}

func TestThePageTellsThePace(t *testing.T) {
	now := time.Unix(1000, 0)
	view := func(node string, change func(*eviction.View)) eviction.View {
		v := eviction.View{Pod: &taint.Pod{}, Method: policy.Delete, Verdict: taint.Verdict{At: now.Add(-time.Hour), Node: node, Taint: &v1.Taint{Key: "m"}}}
		change(&v)
		return v
	}
	due := func(*eviction.View) {}
	views := []eviction.View{
		view("n1", due), view("n1", due), view("n2", due), view("n1", func(v *eviction.View) { v.State = eviction.StateTerminating }),
		view("n1", func(v *eviction.View) { v.State = eviction.StateHeld }),
	}
	nodes := []*taint.Node{{Name: "n1", Labels: map[string]string{"zone": "a"}}, {Name: "n2", Labels: map[string]string{"zone": "b"}}}
	slow := policy.Rate{Name: "slow", TopologyKey: "zone", Taints: []policy.TaintKey{{Key: "m"}}, EvictionsPerSecond: 0.01, Burst: 1}
	for name, test := range map[string]struct {
		most   float64
		rates  []policy.Rate
		paused bool
		want   *status.Pace
	}{
		"no limit":             {},
		"a rate of each zone":  {0, []policy.Rate{slow}, false, &status.Pace{Rate: "slow", EvictionsPerSecond: 0.01, Delayed: 1, Last: now.Add(100 * time.Second).UTC(), Evictions: 2}},
		"a limit of all calls": {0.01, nil, false, &status.Pace{EvictionsPerSecond: 0.01, Delayed: 2, Last: now.Add(200 * time.Second).UTC(), Evictions: 3}},
		"a pause":              {0.01, nil, true, nil},
	} {
		s := newSettings()
		s.Eviction.MaxEvictionsPerSecond = test.most
		of := sight{inForce: taintmanager.Policies{Paused: test.paused, Guards: policy.Guards{Rates: test.rates}}}
		got := (&process{settings: s}).page(of, nil).Pace(now, views, nodes)
		if !reflect.DeepEqual(got, test.want) {
			t.Errorf("%s: got %+v, want %+v", name, got, test.want)
		}
	}
}
