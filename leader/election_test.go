package leader

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/client-go/kubernetes/fake"
	coordinationclient "k8s.io/client-go/kubernetes/typed/coordination/v1"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/client-go/tools/leaderelection/resourcelock"
	"k8s.io/klog/v2"

	"github.com/taint-manager/taint-manager/test/faketime"
)

// cluster has the lease. It can be cut off, or not respond.
type cluster struct {
	*fake.Clientset
	away atomic.Bool
	hang atomic.Pointer[chan struct{}]
}

// newCluster returns a cluster whose lease has been released, so that a candidate takes it at once.
func newCluster() *cluster { return newClusterWith(released()) }

func released() *coordinationv1.Lease {
	record := resourcelock.LeaderElectionRecord{LeaseDurationSeconds: 1, RenewTime: metav1.Now(), AcquireTime: metav1.Now()}
	return &coordinationv1.Lease{
		ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: "taint-manager"},
		Spec:       resourcelock.LeaderElectionRecordToLeaseSpec(&record),
	}
}

func newClusterWith(objects ...runtime.Object) *cluster {
	c := &cluster{Clientset: fake.NewClientset(objects...)}
	c.PrependReactor("*", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		if hang := c.hang.Load(); hang != nil {
			<-*hang
			return true, nil, errors.New("timeout")
		}
		return c.away.Load(), nil, errors.New("connection refused")
	})
	return c
}

// PrependReactor replaces [k8stesting.Fake.PrependReactor], which does not lock what the requests of an Election read.
func (c *cluster) PrependReactor(verb, resource string, react k8stesting.ReactionFunc) {
	c.Lock()
	defer c.Unlock()
	c.Clientset.PrependReactor(verb, resource, react)
}

// storeAndLose stores an update, whose response is lost, and returns the error that its client gets.
func (c *cluster) storeAndLose(update k8stesting.Action) error {
	lease := update.(k8stesting.UpdateAction).GetObject().DeepCopyObject()
	return errors.Join(c.Tracker().Update(update.GetResource(), lease, update.GetNamespace()), errors.New("the answer is lost"))
}

// renewTimes returns the times of renewal of all updates.
func (c *cluster) renewTimes() (all []time.Time) {
	for _, a := range c.Actions() {
		if a.Matches("update", "leases") {
			all = append(all, a.(k8stesting.UpdateAction).GetObject().(*coordinationv1.Lease).Spec.RenewTime.Time)
		}
	}
	return all
}

func (c *cluster) holder(t *testing.T) string {
	t.Helper()
	lease, err := c.CoordinationV1().Leases("kube-system").Get(t.Context(), "taint-manager", metav1.GetOptions{})
	if err != nil {
		t.Fatal(err)
	}
	return *lease.Spec.HolderIdentity
}

// candidate is a candidate that records how often and whether it leads.
type candidate struct {
	*Election
	drain time.Duration // how long its lead function takes to return
	log   logr.Logger
	mu    sync.Mutex
	terms int
	now   bool
}

func newCandidate(c *cluster, identity string) *candidate {
	return newCandidateOf(c.CoordinationV1(), identity)
}

func newCandidateOf(leases coordinationclient.LeasesGetter, identity string) *candidate {
	return &candidate{Election: New(Defaults(), leases, identity)}
}

func (ca *candidate) lead(ctx context.Context) error {
	ca.note(true)
	defer ca.note(false)
	<-ctx.Done()
	time.Sleep(ca.drain)
	return nil
}

func (ca *candidate) note(now bool) {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	ca.now = now
	if now {
		ca.terms++
	}
}

func (ca *candidate) state() (terms int, now bool) {
	ca.mu.Lock()
	defer ca.mu.Unlock()
	return ca.terms, ca.now
}

func (ca *candidate) check(t *testing.T, when string, terms int, now bool) {
	t.Helper()
	synctest.Wait()
	if gotTerms, gotNow := ca.state(); gotTerms != terms || gotNow != now || ca.Leading() != now {
		t.Errorf("%s: %d terms, leads %t, by its clock %t; want %d, %t", when, gotTerms, gotNow, ca.Leading(), terms, now)
	}
}

// leadsFor fails the test unless the candidate, in its first term, leads for exactly the time d once the server no
// longer responds. end describes the end of that time.
func (ca *candidate) leadsFor(t *testing.T, c *cluster, d time.Duration, end string) {
	t.Helper()
	hang := make(chan struct{})
	defer close(hang)
	c.hang.Store(&hang)
	time.Sleep(d - time.Millisecond)
	ca.check(t, "just before "+end, 1, true)
	time.Sleep(2 * time.Millisecond)
	if synctest.Wait(); ca.Leading() {
		t.Errorf("it leads %s", end)
	}
}

// start campaigns until the returned function is called, which returns once the campaign is over.
func (ca *candidate) start(t *testing.T) (stop func()) {
	ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), ca.log))
	over := make(chan error, 1)
	go func() { over <- ca.Campaign(ctx, ca.lead) }()
	return func() {
		cancel()
		if err := <-over; err != nil {
			t.Errorf("campaign: %v", err)
		}
	}
}

func TestALeaseIsGivenBackAtTheEndAndTakenOverAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		first, second := newCandidate(c, "first"), newCandidate(c, "second")
		stopFirst := first.start(t)
		first.check(t, "alone", 1, true)
		stopSecond := second.start(t)
		second.check(t, "next to a leader", 0, false)
		stopFirst()
		if holder := c.holder(t); holder != "" {
			t.Errorf("held by %q after its leader ended", holder)
		}
		first.check(t, "ended", 1, false)
		time.Sleep(2 * 2200 * time.Millisecond) // two attempts, each with the maximum delay
		second.check(t, "after the leader ended", 1, true)
		stopSecond()
	})
}

func TestATermBeginsOnceTheCallsOfTheLastOneHaveEnded(t *testing.T) {
	for name, terms := range map[string]int{"it leads on": 2, "it ends meanwhile": 1} {
		synctest.Test(t, func(t *testing.T) {
			c := newCluster()
			l := newCandidate(c, "only")
			l.drain = time.Minute
			stop := l.start(t)
			l.check(t, "at the start", 1, true)
			c.away.Store(true)
			time.Sleep(30 * time.Second)
			c.away.Store(false)
			time.Sleep(30 * time.Second)
			l.check(t, "leading again while calls of the first term end", 1, true)
			if terms == 1 {
				stop()
			}
			time.Sleep(30 * time.Second)
			l.check(t, name+", when they have ended", terms, terms == 2)
			if terms == 2 {
				stop()
			}
			time.Sleep(l.drain)
		})
	}
}

// The server of TestTheLeadersClockCountsFromBeforeItsWriteWasSent stores a renewal at once and responds late, and then
// not at all.
func TestTheLeadersClockCountsFromBeforeItsWriteWasSent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		c.PrependReactor("update", "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
			time.Sleep(4 * time.Second)
			return false, nil, nil
		})
		defer l.start(t)()
		time.Sleep(5 * time.Second) // a renewal was sent at once, and got its response after 4 s
		l.leadsFor(t, c, 5*time.Second, "10 s after its last renewal was sent")
	})
}

// The server of TestSeeingItsOwnLeaseIsNoRenewal stores renewals whose responses are lost, so that the leader sees its
// own new record when it reads the lease.
func TestSeeingItsOwnLeaseIsNoRenewal(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		var lossy atomic.Bool
		c.PrependReactor("update", "leases", func(written k8stesting.Action) (bool, runtime.Object, error) {
			if !lossy.Load() {
				return false, nil, nil
			}
			return true, nil, c.storeAndLose(written)
		})
		stop := l.start(t)
		l.check(t, "at the start", 1, true)
		lossy.Store(true)
		time.Sleep(10*time.Second + time.Millisecond)
		if l.Leading() {
			t.Error("it leads 10s after its last renewal that was answered")
		}
		stop()
	})
}

// The server of TestARenewalThatIsRepeatedCountsFromItsFirstTry stores a renewal, whose response is lost after 4 s. The
// elector writes the same record again, so that others see no change. Then the server does not respond.
func TestARenewalThatIsRepeatedCountsFromItsFirstTry(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		var writes atomic.Int32
		c.PrependReactor("update", "leases", func(written k8stesting.Action) (bool, runtime.Object, error) {
			if writes.Add(1) != 2 { // the first takes the lease
				return false, nil, nil
			}
			err := c.storeAndLose(written)
			time.Sleep(4 * time.Second)
			return true, nil, err
		})
		defer l.start(t)()
		time.Sleep(5 * time.Second)
		if times := c.renewTimes(); len(times) != 3 || !times[1].Equal(times[2]) {
			t.Errorf("renewals of %v were written, want two of the same time", times)
		}
		l.leadsFor(t, c, 5*time.Second, "10 s after its last renewal was first sent")
	})
}

// Other candidates compare records with times in whole seconds, so they see only the first of them. The renewals are
// sent at 1.2 s and at 1.6 s, and the next one has no response.
func TestRenewalsWithinOneSecondCountFromTheFirst(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		l.settings.LeaseDuration.Duration = 3 * time.Second
		l.settings.RenewDeadline.Duration, l.settings.RetryPeriod.Duration = 2900*time.Millisecond, 400*time.Millisecond
		defer l.start(t)()
		time.Sleep(1900 * time.Millisecond)
		l.leadsFor(t, c, 2200*time.Millisecond, "2.9 s after the first renewal that others see")
	})
}

// TestALeadershipEndsByTheClockThatHasRunFurther has machines that were suspended, and others whose clock was changed.
func TestALeadershipEndsByTheClockThatHasRunFurther(t *testing.T) {
	for _, c := range []struct {
		name            string
		monotonic, wall time.Duration
		want            bool
	}{
		{"both have run for a while", 9 * time.Second, 9 * time.Second, true},
		{"both have run for too long", 10 * time.Second, 10 * time.Second, false},
		{"suspended: the monotonic clock stood still", time.Second, time.Minute, false},
		{"the wall clock was set back", 10 * time.Second, -time.Hour, false},
		{"the wall clock was set back, and little time has passed", 9 * time.Second, -time.Hour, true},
	} {
		synctest.Test(t, func(t *testing.T) {
			renewed := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			now := faketime.Of(renewed, time.Minute)
			l := newCandidate(newCluster(), "me")
			l.lock.now = func() time.Time { return now }
			stop := l.start(t)
			l.check(t, c.name+": at first", 1, true)
			now = faketime.Of(renewed.Add(c.wall), time.Minute+c.monotonic)
			if got := l.Leading(); got != c.want {
				t.Errorf("%s: it leads: %t, want %t", c.name, got, c.want)
			}
			stop()
		})
	}
}

func TestALeaseThatIsBeingGivenBackIsNotLedBy(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		c.PrependReactor("update", "leases", func(written k8stesting.Action) (bool, runtime.Object, error) {
			if *written.(k8stesting.UpdateAction).GetObject().(*coordinationv1.Lease).Spec.HolderIdentity == "" && l.Leading() {
				t.Error("it leads while it gives the lease back")
			}
			return false, nil, nil
		})
		stop := l.start(t)
		l.check(t, "at the start", 1, true)
		stop()
	})
}

func TestAnErrorOfLeadingEndsTheCampaignAndGivesTheLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		failed := errors.New("can't lead")
		ctx := klog.NewContext(t.Context(), logr.Discard())
		if err := l.Campaign(ctx, func(context.Context) error { return failed }); !errors.Is(err, failed) {
			t.Errorf("got %v, want %v", err, failed)
		}
		if holder := c.holder(t); holder != "" {
			t.Errorf("held by %q", holder)
		}
	})
}

func TestALeaderNeverGivesBackALeaseThatAnotherHolds(t *testing.T) {
	c := newClusterWith()
	mine := New(Defaults(), c.CoordinationV1(), "me").lock
	other := New(Defaults(), c.CoordinationV1(), "other").lock
	free := resourcelock.LeaderElectionRecord{}
	must(t, mine.Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}))
	_, _, err := other.Get(t.Context())
	must(t, err)
	must(t, other.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "other"}))

	_, _, err = mine.Get(t.Context())
	must(t, err)
	if err := mine.Update(t.Context(), free); err == nil || c.holder(t) != "other" {
		t.Errorf("err %v, holder %q", err, c.holder(t))
	}
	must(t, other.Update(t.Context(), free))
	if holder := c.holder(t); holder != "" {
		t.Errorf("the holder could not give it back: %q", holder)
	}
}

// A renewal at the same time may cause the conflict.
func TestALeaseIsGivenBackDespiteAConflict(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c, conflicts := newCluster(), 0
		c.PrependReactor("update", "leases", func(given k8stesting.Action) (bool, runtime.Object, error) {
			holder := given.(k8stesting.UpdateAction).GetObject().(*coordinationv1.Lease).Spec.HolderIdentity
			if *holder != "" || conflicts > 0 {
				return false, nil, nil
			}
			conflicts++
			return true, nil, apierrors.NewConflict(leases, "taint-manager", errors.New("modified"))
		})
		l := newCandidate(c, "only")
		stop := l.start(t)
		l.check(t, "at the start", 1, true)
		stop()
		if holder := c.holder(t); holder != "" || conflicts != 1 {
			t.Errorf("held by %q after %d conflicts", holder, conflicts)
		}
	})
}

func TestALeaseOfAnotherOrNoneIsNotGivenBack(t *testing.T) {
	for name, c := range map[string]*cluster{"of another": newCluster(), "none": newClusterWith()} {
		lock := New(Defaults(), c.CoordinationV1(), "me").lock
		if name == "of another" {
			other := New(Defaults(), c.CoordinationV1(), "other").lock
			_, _, err := other.Get(t.Context())
			must(t, err)
			must(t, other.Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "other"}))
		}
		if err := lock.release(t.Context()); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestALeaseTakenWhileBeingToldToEndIsGivenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		c.PrependReactor("update", "leases", func(taken k8stesting.Action) (bool, runtime.Object, error) {
			if holder := taken.(k8stesting.UpdateAction).GetObject().(*coordinationv1.Lease).Spec.HolderIdentity; *holder == "" {
				return false, nil, nil
			}
			cancel() // the lease is taken, and the response lost
			return true, nil, c.storeAndLose(taken)
		})
		l := newCandidate(c, "me")
		must(t, l.Campaign(ctx, l.lead))
		l.check(t, "ended", 0, false)
		if holder := c.holder(t); holder != "" {
			t.Errorf("held by %q", holder)
		}
	})
}

func must(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
