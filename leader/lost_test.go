package leader

import (
	"errors"
	"maps"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr/funcr"
	coordinationv1 "k8s.io/api/coordination/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
)

// oneAttempt is the longest time between two attempts of a candidate: twice the retry period, and the maximum jitter.
const oneAttempt = 4400 * time.Millisecond

// manifest is a Lease that an administrator has created.
func manifest() *coordinationv1.Lease {
	return &coordinationv1.Lease{ObjectMeta: metav1.ObjectMeta{
		Namespace: "ours", Name: "mine",
		Labels: map[string]string{"app.kubernetes.io/name": "taint-manager"}, Annotations: map[string]string{"argocd.argoproj.io/sync-options": "Prune=false"},
	}}
}

func TestTheFirstLeaderOfAnInstallationTakesTheLeaseOfTheSettingsAtOnce(t *testing.T) {
	settings := Defaults()
	settings.ResourceNamespace, settings.ResourceName = "ours", "mine"
	want := manifest()
	for name, c := range map[string]*cluster{"no lease": newClusterWith(), "an empty lease": newClusterWith(want)} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				l := &candidate{Election: New(settings, c.CoordinationV1(), "me")}
				defer l.start(t)()
				time.Sleep(time.Second)
				l.check(t, "after a second", 1, true)
				got, err := c.CoordinationV1().Leases("ours").Get(t.Context(), "mine", metav1.GetOptions{})
				must(t, err)
				if *got.Spec.HolderIdentity != "me" || *got.Spec.LeaseDurationSeconds != 15 {
					t.Errorf("got %+v", got.Spec)
				}
				kept := maps.Equal(got.Labels, want.Labels) && maps.Equal(got.Annotations, want.Annotations)
				if name == "an empty lease" && !kept {
					t.Errorf("its metadata have become %+v", got.ObjectMeta)
				}
			})
		})
	}
}

// forbid makes the cluster refuse to do something with leases.
func (c *cluster) forbid(verb string) {
	c.PrependReactor(verb, "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(leases, "taint-manager", errors.New("no"))
	})
}

func TestALeaseThatMayNotBeCreatedIsReportedAndTakenOnceItExists(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWith()
		c.forbid("create")
		l := newCandidate(c, "me")
		var said sync.Map // of lines
		l.log = funcr.New(func(_, line string) { said.Store(line, nil) }, funcr.Options{})
		defer l.start(t)()
		time.Sleep(time.Minute)
		l.check(t, "without a lease", 0, false)
		const want = `the Lease kube-system/taint-manager: leases.coordination.k8s.io "taint-manager" is forbidden: no`
		if err := l.Trouble(); err == nil || err.Error() != want {
			t.Errorf("got %v", err)
		}
		forbidden := false
		for line := range said.Range {
			forbidden = forbidden || strings.Contains(line.(string), "forbidden")
		}
		if !forbidden {
			t.Error("the log does not say so")
		}
		must(t, c.Tracker().Add(released()))
		time.Sleep(oneAttempt)
		l.check(t, "with the lease", 1, true)
		if err := l.Trouble(); err != nil {
			t.Errorf("with the lease: %v", err)
		}
	})
}

// losses are what an administrator can do to a lease.
var losses = map[string]func(*leaseStore){
	"emptied": (*leaseStore).empty, "deleted": (*leaseStore).remove, "without its holder": (*leaseStore).clearHolder,
}

// onEachLoss runs a test once for each of the losses, in virtual time.
func onEachLoss(t *testing.T, test func(t *testing.T, s *leaseStore, lose func())) {
	t.Helper()
	for name, lose := range losses {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				s := newLeaseStore()
				test(t, s, func() { lose(s) })
			})
		})
	}
}

func TestALostLeaseComesBackAndTwoThatSawEachOtherNeverLeadAtOnce(t *testing.T) {
	onEachLoss(t, func(t *testing.T, s *leaseStore, lose func()) {
		one, other := newCandidateOf(&link{leaseStore: s}, "one"), newCandidateOf(&link{leaseStore: s}, "other")
		defer one.start(t)()
		one.check(t, "alone", 1, true)
		defer other.start(t)()
		time.Sleep(time.Minute)
		for i := range 20 {
			time.Sleep(time.Duration(i) * 130 * time.Millisecond)
			lose()
			for range 300 {
				time.Sleep(100 * time.Millisecond)
				if one.Leading() && other.Leading() {
					t.Fatal("both lead")
				}
			}
			if !one.Leading() && !other.Leading() {
				t.Fatal("nobody leads 30 s after the lease was lost")
			}
		}
	})
}

// The wait counts from the moment at which the lease is found lost.
func TestALostLeaseIsLedUnderOnlyOnceItsLastHolderCanNotLead(t *testing.T) {
	onEachLoss(t, func(t *testing.T, s *leaseStore, lose func()) {
		near := &link{leaseStore: s}
		one, other := newCandidateOf(near, "one"), newCandidateOf(&link{leaseStore: s}, "other")
		defer one.start(t)()
		one.check(t, "alone", 1, true)
		defer other.start(t)()
		time.Sleep(10 * time.Second)
		near.off.Store(true)
		time.Sleep(8 * time.Second)
		lose()
		time.Sleep(14 * time.Second)
		other.check(t, "within the lease duration of the holder that it saw", 0, false)
		if got := other.Leader(); got != "other" {
			t.Errorf("the lease is of %q, want that it was taken at once", got)
		}
		time.Sleep(8 * time.Second)
		other.check(t, "after it", 1, true)
	})
}

func TestALeaderWhoseLeaseIsLostLeadsOn(t *testing.T) {
	onEachLoss(t, func(t *testing.T, s *leaseStore, lose func()) {
		alone := newCandidateOf(&link{leaseStore: s}, "alone")
		defer alone.start(t)()
		time.Sleep(10*time.Second + 100*time.Millisecond)
		lose()
		for range 200 {
			time.Sleep(100 * time.Millisecond)
			alone.check(t, "after the loss", 1, true)
		}
	})
}

func TestAProcessThatSawAHolderOnceWaitsForItsLeaseDuration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseStore()
		near := &link{leaseStore: s}
		one, other := newCandidateOf(near, "one"), newCandidateOf(&link{leaseStore: s}, "other")
		defer one.start(t)()
		one.check(t, "alone", 1, true)
		defer other.start(t)()
		other.check(t, "at its first look", 0, false)
		near.off.Store(true)
		s.remove()
		time.Sleep(14 * time.Second)
		other.check(t, "within the lease duration", 0, false)
		time.Sleep(6 * time.Second)
		other.check(t, "after it", 1, true)
	})
}

// A process that is started after somebody took the lease away saw no other holder: it begins at once, and the leader ends
// with its next attempt to renew the lease.
func TestALeaderThatSeesAnotherHolderEndsAtOnce(t *testing.T) {
	onEachLoss(t, func(t *testing.T, s *leaseStore, lose func()) {
		one, newcomer := newCandidateOf(&link{leaseStore: s}, "one"), newCandidateOf(&link{leaseStore: s}, "newcomer")
		defer one.start(t)()
		time.Sleep(10*time.Second + 100*time.Millisecond)
		lose()
		defer newcomer.start(t)()
		newcomer.check(t, "once the lease was lost", 1, true)
		time.Sleep(oneAttempt)
		if one.Leading() {
			t.Error("the former leader leads on")
		}
		time.Sleep(time.Minute)
		newcomer.check(t, "a minute later", 1, true)
		one.check(t, "a minute later", 1, false)
	})
}

func TestALeaderThatWasCutOffDoesNotTakeTheLeaseBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := newLeaseStore()
		near := &link{leaseStore: s}
		one, other := newCandidateOf(near, "one"), newCandidateOf(&link{leaseStore: s}, "other")
		defer one.start(t)()
		one.check(t, "alone", 1, true)
		defer other.start(t)()
		time.Sleep(10 * time.Second)
		near.off.Store(true)
		time.Sleep(30 * time.Second)
		other.check(t, "while the first one is cut off", 1, true)
		near.off.Store(false)
		for range 300 {
			time.Sleep(100 * time.Millisecond)
			one.check(t, "back", 1, false)
			other.check(t, "back", 1, true)
		}
	})
}
