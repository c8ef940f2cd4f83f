package leader

import (
	"bytes"
	"context"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	coordinationv1 "k8s.io/api/coordination/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/klog/v2"
)

// oneAttempt is the longest time between two attempts of a candidate: twice the retry period, and the maximum jitter.
const oneAttempt = 4400 * time.Millisecond

// manifest is the Lease as the manifests of version 0.1 create it.
func manifest() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "kube-system", Name: "taint-manager",
		Labels: map[string]string{"app.kubernetes.io/name": "taint-manager"}, Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
	}}
}

// put stores the lease as an administrator does.
func (c *cluster) put(t *testing.T, lease *coordinationv1.Lease) {
	t.Helper()
	gvr := coordinationv1.SchemeGroupVersion.WithResource("leases")
	_ = c.Tracker().Delete(gvr, lease.Namespace, lease.Name) // it may be absent
	must(t, c.Tracker().Create(gvr, lease, lease.Namespace))
}

func (c *cluster) lease(t *testing.T) *coordinationv1.Lease {
	t.Helper()
	lease, err := c.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	must(t, err)
	return lease
}

func TestTheFirstLeaderOfAnInstallationBeginsAfterTheLeaseDuration(t *testing.T) {
	for name, c := range map[string]func() *cluster{
		"no lease":                         func() *cluster { return newClusterWith() },
		"an empty lease, from version 0.1": func() *cluster { return newClusterWith(manifest()) },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := c()
				l := newCandidate(c, "me")
				defer l.start(t)()
				time.Sleep(15*time.Second - time.Millisecond)
				l.check(t, "just before the lease duration has passed", 0, false)
				if got := l.Leader(); got != "" {
					t.Errorf("the leader is said to be %q", got)
				}
				time.Sleep(oneAttempt)
				l.check(t, "once it has passed", 1, true)
				if got := c.lease(t); *got.Spec.HolderIdentity != "me" || *got.Spec.LeaseDurationSeconds != 15 {
					t.Errorf("got %+v", got.Spec)
				}
			})
		})
	}
}

func TestTheMetadataOfALeaseAreKept(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWith(manifest())
		defer newCandidate(c, "me").start(t)()
		time.Sleep(time.Minute)
		got, want := c.lease(t), manifest()
		if !maps.Equal(got.Labels, want.Labels) || !maps.Equal(got.Annotations, want.Annotations) || *got.Spec.HolderIdentity != "me" {
			t.Errorf("got %+v", got)
		}
	})
}

func TestALeaseThatMayNotBeCreatedIsReportedAndTakenOnceItExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWith()
		c.forbid("create")
		l := newCandidate(c, "me")
		said := campaignLogged(t, l)
		time.Sleep(time.Minute)
		l.check(t, "without a lease", 0, false)
		const want = "the Lease kube-system/taint-manager does not exist, and this process can't lead without the permission to create leases.coordination.k8s.io in namespace kube-system"
		if err := l.Trouble(); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		if got := said(); !strings.Contains(got, "forbidden") || strings.Count(got, "The lease has no record") != 1 {
			t.Errorf("the log:\n%s", got)
		}
		c.put(t, released())
		time.Sleep(oneAttempt)
		l.check(t, "with the lease", 1, true)
		if err := l.Trouble(); err != nil {
			t.Errorf("with the lease: %v", err)
		}
	})
}

// campaignLogged campaigns until the test ends. The function that it returns returns the log.
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

// checkFailedYields fails the test unless the registry has exactly this metric.
func checkFailedYields(t *testing.T, registry *prometheus.Registry, want float64) {
	t.Helper()
	families, err := registry.Gather()
	must(t, err)
	if len(families) != 1 || families[0].GetName() != "taint_manager_failed_yields_total" || families[0].GetMetric()[0].GetCounter().GetValue() != want {
		t.Errorf("got %v, want %v failed yields", families, want)
	}
	if problems, err := testutil.GatherAndLint(registry); err != nil || len(problems) > 0 {
		t.Errorf("got %v, %v", problems, err)
	}
}

// losses are what an administrator can do to a lease.
var losses = map[string]func(*leaseStore){
	"emptied": (*leaseStore).empty, "deleted": (*leaseStore).remove, "without its holder": (*leaseStore).clearHolder,
}

func TestALeaderWritesALostLeaseBackBeforeAnotherTakesIt(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseStore()
				one, other := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "other")
				defer one.start(t)()
				one.check(t, "alone", 1, true)
				defer other.start(t)()
				time.Sleep(time.Minute)
				before, err := s.get()
				must(t, err)
				for range 20 {
					lose(s)
					for range 60 {
						time.Sleep(100 * time.Millisecond)
						one.check(t, name, 1, true)
						other.check(t, name, 0, false)
					}
				}
				after, err := s.get()
				must(t, err)
				if *after.Spec.HolderIdentity != "one" || *after.Spec.LeaseTransitions != *before.Spec.LeaseTransitions || !after.Spec.AcquireTime.Time.Equal(before.Spec.AcquireTime.Time) {
					t.Errorf("before %+v, after %+v", before.Spec, after.Spec)
				}
			})
		})
	}
}

func TestALostLeaseWithoutALeaderIsTakenAfterItsDuration(t *testing.T) {
	for name, lose := range losses {
		if name == "without its holder" {
			continue // as a released lease is, which is free
		}
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseStore()
				one, other := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "other")
				stopOne := one.start(t)
				one.check(t, "alone", 1, true)
				defer other.start(t)()
				time.Sleep(10 * time.Second)
				stopOne()
				lose(s)
				time.Sleep(15 * time.Second)
				other.check(t, "its duration has not passed since it was seen", 0, false)
				time.Sleep(2 * oneAttempt)
				other.check(t, "its duration has passed", 1, true)
			})
		})
	}
}

// The leaders renew every two seconds, and the processes start in between.
func TestAProcessThatStartsOnceALeaseIsLostDoesNotTakeItFromItsLeader(t *testing.T) {
	for name, lose := range losses {
		for after := 100 * time.Millisecond; after < 2500*time.Millisecond; after += 200 * time.Millisecond {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseStore()
				one, newcomer := newCandidateOf(direct{leaseStore: s}, "one"), newCandidateOf(direct{leaseStore: s}, "newcomer")
				defer one.start(t)()
				time.Sleep(time.Minute + after)
				lose(s)
				defer newcomer.start(t)()
				for range 300 {
					time.Sleep(100 * time.Millisecond)
					one.check(t, name, 1, true)
					newcomer.check(t, name+": it has seen no record before", 0, false)
				}
			})
		}
	}
}

// While a process can't read the lease, its leader may write it back, and it may be lost again.
func TestTheWaitingForALostLeaseBeginsAnewAfterAnAttemptThatFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWith()
		l := newCandidate(c, "me")
		defer l.start(t)()
		time.Sleep(5 * time.Second)
		c.away.Store(true)
		time.Sleep(5 * time.Second)
		c.away.Store(false)
		time.Sleep(15 * time.Second)
		l.check(t, "15 s after the last attempt that failed", 0, false)
		time.Sleep(2 * oneAttempt)
		l.check(t, "its duration after the first attempt that succeeded", 1, true)
	})
}

// A process that was cut off can't know who has led meanwhile.
func TestALeaderThatWasCutOffFromALostLeaseWaitsAsAnyOther(t *testing.T) {
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseStore()
				near := &cut{direct: direct{leaseStore: s}}
				one, other := newCandidateOf(near, "one"), newCandidateOf(direct{leaseStore: s}, "other")
				defer one.start(t)()
				one.check(t, "alone", 1, true)
				defer other.start(t)()
				time.Sleep(10 * time.Second)
				near.off.Store(true)
				time.Sleep(30 * time.Second)
				other.check(t, "while the first one is cut off", 1, true)
				lose(s)
				near.off.Store(false)
				for range 300 {
					time.Sleep(100 * time.Millisecond)
					one.check(t, name, 1, false)
					other.check(t, name, 1, true)
				}
			})
		})
	}
}
