package leader

import (
	"bytes"
	"context"
	"errors"
	"maps"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
	"sigs.k8s.io/yaml"
)

// manifest is the Lease as the manifests create it.
func manifest() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "taint-manager",
		Labels: map[string]string{"app.kubernetes.io/name": "taint-manager"}, Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
	}}
}

// forbidCreate makes the cluster refuse to create leases.
func (c *cluster) forbidCreate() {
	c.PrependReactor("create", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(leases, "taint-manager", errors.New("no"))
	})
}

// put stores the lease as an administrator does.
func (c *cluster) put(t *testing.T, lease *coordinationv1.Lease) {
	t.Helper()
	gvr := coordinationv1.SchemeGroupVersion.WithResource("leases")
	_ = c.Tracker().Delete(gvr, lease.Namespace, lease.Name) // it may be absent
	must(t, c.Tracker().Create(gvr, lease, lease.Namespace))
}

func TestALeaseWithoutASpecIsTakenAtOnceAndKeepsItsMetadata(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.forbidCreate()
		c.put(t, manifest())
		l := newCandidate(c, "me")
		stop := l.start(t)
		l.check(t, "at the start", 1, true)
		time.Sleep(time.Minute)
		lease, err := c.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
		must(t, err)
		if want := manifest(); len(lease.Labels) != len(want.Labels) || len(lease.Annotations) != len(want.Annotations) || *lease.Spec.HolderIdentity != "me" {
			t.Errorf("got %+v", lease)
		}
		stop()
	})
}

func TestALeaseThatIsMissingAndMayNotBeCreatedIsSaidAndTakenOnceItIsThere(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.forbidCreate()
		l := newCandidate(c, "me")
		registry := prometheus.NewPedanticRegistry()
		must(t, l.Register(registry))
		said := campaignLogged(t, l)
		l.check(t, "without a lease", 0, false)
		command := "(echo 'apiVersion: coordination.k8s.io/v1'; echo 'kind: Lease'; echo 'metadata: {namespace: kube-system, name: taint-manager}') | kubectl apply -f -"
		if err := l.Trouble(); err == nil || !strings.HasSuffix(err.Error(), "create it with "+command) {
			t.Errorf("got %v", err)
		}
		if !strings.Contains(said(), command) {
			t.Errorf("the log lacks the command:\n%s", said())
		}
		checkMetrics(t, registry, 1, 0)
		c.put(t, manifest())
		time.Sleep(4400 * time.Millisecond) // one attempt with the maximum delay
		l.check(t, "with the lease", 1, true)
		checkMetrics(t, registry, 0, 0)
		if err := l.Trouble(); err != nil {
			t.Errorf("with the lease: %v", err)
		}
	})
}

// campaignLogged campaigns until the test ends. The function returns what was logged.
func campaignLogged(t *testing.T, l *candidate) func() string {
	var mu sync.Mutex
	var log bytes.Buffer
	logger := funcr.New(func(_, line string) {
		mu.Lock()
		defer mu.Unlock()
		log.WriteString(line + "\n")
	}, funcr.Options{})
	ctx, cancel := context.WithCancel(klog.NewContext(context.Background(), logger))
	over := make(chan error, 1)
	go func() { over <- l.Campaign(ctx, l.lead) }()
	t.Cleanup(func() {
		cancel()
		must(t, <-over)
	})
	return func() string {
		synctest.Wait()
		mu.Lock()
		defer mu.Unlock()
		return log.String()
	}
}

// checkMetrics fails the test unless the registry has exactly these metrics of the lease.
func checkMetrics(t *testing.T, registry *prometheus.Registry, missing, failedYields float64) {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	got := map[string]float64{}
	for _, f := range families {
		m := f.GetMetric()[0]
		got[f.GetName()] = m.GetGauge().GetValue() + m.GetCounter().GetValue() // one of the two
	}
	want := map[string]float64{"taint_manager_lease_missing": missing, "taint_manager_failed_yields_total": failedYields}
	if !maps.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("got %v, %v", problems, err)
	}
}

func TestTheCommandIsOneThatAShellTakes(t *testing.T) {
	for _, name := range []string{"mine", "mine-2.example", "123", "1e3", "null", "on"} {
		command, _, _ := strings.Cut((&absentError{lease: "ours/" + name}).command(), " | kubectl")
		text, err := exec.CommandContext(t.Context(), "sh", "-c", command).Output()
		must(t, err)
		var lease coordinationv1.Lease
		must(t, yaml.UnmarshalStrict(text, &lease))
		if lease.Kind != "Lease" || lease.Namespace != "ours" || lease.Name != name {
			t.Errorf("got %+v", lease)
		}
	}
}

// The leader's last request, which its deadline ends, starts the waiting anew.
func TestALeaderThatHasLostADeletedLeaseTakesTheNewOneAfterItsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		c.forbidCreate()
		c.put(t, manifest())
		l := newCandidate(c, "me")
		defer l.start(t)()
		time.Sleep(time.Minute)
		must(t, c.Tracker().Delete(coordinationv1.SchemeGroupVersion.WithResource("leases"), "kube-system", "taint-manager"))
		time.Sleep(9 * time.Second)
		c.away.Store(true)
		time.Sleep(2 * time.Second)
		c.away.Store(false)
		time.Sleep(5 * time.Second)
		c.put(t, manifest())
		time.Sleep(5 * time.Second)
		l.check(t, "21 s after the deletion", 1, false)
		time.Sleep(10 * time.Second)
		l.check(t, "its duration and a retry after the last request that failed", 2, true)
	})
}

// TestALeaderWritesAnEmptiedLeaseBack has an API server that refuses writes to an old version.
func TestALeaderWritesAnEmptiedLeaseBackBeforeAnotherTakesIt(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &leaseStore{}
		s.empty()
		one, other := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "other")
		stopOne := one.start(t)
		one.check(t, "alone", 1, true)
		stopOther := other.start(t)
		time.Sleep(time.Minute)
		before, err := s.get()
		must(t, err)
		for range 20 {
			s.empty()
			for range 60 {
				time.Sleep(100 * time.Millisecond)
				one.check(t, "emptied", 1, true)
				other.check(t, "emptied", 0, false)
			}
		}
		after, err := s.get()
		must(t, err)
		if *after.Spec.HolderIdentity != "one" || *after.Spec.LeaseTransitions != *before.Spec.LeaseTransitions || !after.Spec.AcquireTime.Time.Equal(before.Spec.AcquireTime.Time) {
			t.Errorf("before %+v, after %+v", before.Spec, after.Spec)
		}
		stopOther()
		stopOne()
	})
}

func TestAnEmptiedLeaseWithoutALeaderIsTakenAfterItsDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &leaseStore{}
		one, other := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "other")
		stopOne := one.start(t)
		one.check(t, "alone", 1, true)
		stopOther := other.start(t)
		time.Sleep(10 * time.Second)
		stopOne()
		s.empty()
		time.Sleep(15 * time.Second)
		other.check(t, "its duration has not passed since it was seen", 0, false)
		time.Sleep(3 * 4400 * time.Millisecond)
		other.check(t, "its duration has passed", 1, true)
		stopOther()
	})
}

// TestAProcessThatStartsOnceALeaseIsEmptied has leaders that renew every two seconds, and processes that start in between.
func TestAProcessThatStartsOnceALeaseIsEmptiedDoesNotTakeItFromItsLeader(t *testing.T) {
	for after := 100 * time.Millisecond; after < 2500*time.Millisecond; after += 200 * time.Millisecond {
		synctest.Test(t, func(t *testing.T) {
			s := &leaseStore{}
			s.empty()
			one, newcomer := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "newcomer")
			defer one.start(t)()
			time.Sleep(time.Minute + after)
			s.empty()
			defer newcomer.start(t)()
			for range 300 {
				time.Sleep(100 * time.Millisecond)
				one.check(t, "emptied", 1, true)
				newcomer.check(t, "it has seen an empty lease alone", 0, false)
			}
		})
	}
}

// The two clocks may differ. A process waits for one duration at most.
func TestANewProcessTakesAnEmptyLeaseByItsAge(t *testing.T) {
	for name, c := range map[string]struct {
		age, ahead time.Duration // of the lease, and how far the API server's clock is ahead
		waits      bool
	}{
		"installed for the first time":           {5 * time.Second, 0, false},
		"there for longer than its duration":     {20 * time.Second, 0, true},
		"there for a year":                       {365 * 24 * time.Hour, 0, true},
		"young, and this clock is ahead":         {5 * time.Second, -time.Hour, true},
		"young, and this clock is behind":        {5 * time.Second, time.Hour, false},
		"old, and this clock is far behind, too": {20 * time.Second, time.Hour, false},
	} {
		synctest.Test(t, func(t *testing.T) {
			s := &leaseStore{ahead: c.ahead}
			s.empty()
			time.Sleep(c.age)
			l := newCandidateOf(direct{leaseStore: s}, "me")
			defer l.start(t)()
			l.check(t, name, terms(!c.waits), !c.waits)
			time.Sleep(15*time.Second - time.Millisecond)
			l.check(t, name+", just before its duration has passed", terms(!c.waits), !c.waits)
			time.Sleep(4400 * time.Millisecond)
			l.check(t, name+", once its duration has passed", 1, true)
		})
	}
}

func terms(leads bool) int {
	if leads {
		return 1
	}
	return 0
}
