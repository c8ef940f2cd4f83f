package leader

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/prometheus/client_golang/prometheus"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
	"k8s.io/klog/v2"
)

func TestAYieldReleasesTheLeaseOnlyOnceTheCallsHaveEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		l.drain = 13 * time.Second // the lease is renewed meanwhile
		defer l.start(t)()
		l.check(t, "at the start", 1, true)
		l.Yield()
		for range l.drain / time.Second {
			l.check(t, "while calls end", 1, true)
			if holder := c.holder(t); holder != "only" {
				t.Errorf("held by %q while calls end", holder)
			}
			time.Sleep(time.Second)
		}
		l.check(t, "when calls have ended", 1, false)
		if holder := c.holder(t); holder != "" {
			t.Errorf("held by %q when calls have ended", holder)
		}
	})
}

// TestALeaderThatYields has a candidate that yields after a minute, and another candidate that starts and ends at
// certain times. Both are checked at the time at. All times are since the yield.
func TestALeaderThatYields(t *testing.T) {
	const never = time.Hour
	for _, c := range []struct {
		name         string
		starts, ends time.Duration // of the other one
		at           time.Duration
		terms        int  // of the one that yields
		leads        bool // the one that yields
		otherLeads   bool
		failed       bool
	}{
		{"stands by while another one leads", -time.Second, never, 10 * time.Minute, 1, false, true, false},
		{"is no candidate for the lease duration", never, never, 15*time.Second - time.Millisecond, 1, false, false, false},
		{"leads on after the lease duration if no other one has led", never, never, 15*time.Second + time.Millisecond, 2, true, false, true},
		{"leads on for good if no other one ever leads", never, never, 30 * time.Minute, 2, true, false, true},
		{"is a candidate at once when another one has led", -time.Second, 5 * time.Second, 10 * time.Second, 2, true, false, false},
		{"stands by while another one leads that comes late", 14 * time.Second, never, 10 * time.Minute, 1, false, true, false},
		{"has a rival that comes too late", 16 * time.Second, never, 10 * time.Minute, 2, true, false, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				server := newCluster()
				l, other := newCandidate(server, "one"), newCandidate(server, "other")
				defer l.start(t)()
				time.Sleep(time.Minute)
				began := time.Now()
				go func() {
					time.Sleep(time.Second)
					l.Yield()
				}()
				yielded := began.Add(time.Second)
				sleepUntil(yielded.Add(min(c.starts, c.at)))
				if c.starts < c.at {
					stop := other.start(t)
					sleepUntil(yielded.Add(min(c.ends, c.at)))
					if stop = sync.OnceFunc(stop); c.ends < c.at {
						stop()
					}
					defer stop()
				}
				sleepUntil(yielded.Add(c.at))
				l.check(t, "the one that yields", c.terms, c.leads)
				if _, leads := other.state(); leads != c.otherLeads {
					t.Errorf("the other one leads: %t, want %t", leads, c.otherLeads)
				}
				got, count := l.failedYield(), l.yields.failures.Load()
				if got.IsZero() == c.failed || c.failed && !got.Equal(yielded) || (count == 1) != c.failed {
					t.Errorf("failed yield: %v, %d in all; want %t of %v", got, count, c.failed, yielded)
				}
			})
		})
	}
}

func sleepUntil(at time.Time) { time.Sleep(time.Until(at)) }

func TestAFailedYieldIsReportedUntilAnotherLeads(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		registry := prometheus.NewPedanticRegistry()
		l, other := newCandidate(c, "one"), newCandidate(c, "other")
		must(t, l.Register(registry))
		said := campaignLogged(t, l)
		time.Sleep(time.Minute)
		checkFailedYields(t, registry, 0)
		l.Yield()
		time.Sleep(20 * time.Second)
		l.check(t, "alone", 2, true)
		checkFailedYields(t, registry, 1)
		err := l.Trouble()
		if want := "gave the lease back at 2000-01-01T00:01:00Z"; err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "for 15s") {
			t.Errorf("got %v, want %q", err, want)
		}
		if !strings.Contains(said(), "No other process took the lease: leading on") {
			t.Errorf("the log:\n%s", said())
		}
		c.away.Store(true)
		time.Sleep(30 * time.Second)
		c.away.Store(false)
		time.Sleep(5 * time.Second)
		l.check(t, "after an outage", 3, true)
		checkFailedYields(t, registry, 1)
		defer other.start(t)()
		time.Sleep(5 * time.Minute)
		l.Yield()
		time.Sleep(10 * time.Second)
		l.check(t, "beside another", 3, false)
		if err := l.Trouble(); err != nil || !l.failedYield().IsZero() {
			t.Errorf("once another one leads: got %v, failed yield at %v", err, l.failedYield())
		}
		checkFailedYields(t, registry, 1)
	})
}

// While the server does not respond, it is not known whether another process has taken the lease, and this one leads on
// only once it has taken the lease again.
func TestAYieldHasNotFailedBeforeTheProcessLeadsAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "one")
		defer l.start(t)()
		time.Sleep(time.Minute)
		l.Yield()
		time.Sleep(time.Second)
		c.away.Store(true)
		time.Sleep(time.Minute)
		l.check(t, "in an outage", 1, false)
		if err := l.Trouble(); err != nil || l.yields.failures.Load() != 0 {
			t.Errorf("in an outage: got %v, %d failed yields", err, l.yields.failures.Load())
		}
		c.away.Store(false)
		time.Sleep(5 * time.Second)
		l.check(t, "after it", 2, true)
		if err := l.Trouble(); err == nil || l.yields.failures.Load() != 1 {
			t.Errorf("after it: got %v, %d failed yields", err, l.yields.failures.Load())
		}
	})
}

// Two leaders whose pods can't be evicted would otherwise hand the lease to each other without end.
func TestAProcessYieldsAgainOnlyAfterTwentyLeaseDurations(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newCandidate(newCluster(), "only")
		defer l.start(t)()
		l.check(t, "at the start", 1, true)
		l.Yield()
		time.Sleep(16 * time.Second)
		l.check(t, "after the first yield", 2, true)
		l.Yield()
		l.check(t, "after a second yield at once", 2, true)
		time.Sleep(5*time.Minute - 17*time.Second)
		l.Yield()
		l.check(t, "after another one just before the time", 2, true)
		time.Sleep(time.Second)
		l.Yield()
		l.check(t, "after another one at the time", 2, false)
	})
}

func TestAProcessThatDoesNotLeadDoesNotYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, standby := newCandidate(c, "leader"), newCandidate(c, "standby")
		standby.Yield()
		stop := leader.start(t)
		leader.check(t, "at the start", 1, true)
		stopStandby := standby.start(t)
		time.Sleep(time.Minute)
		standby.Yield()
		leader.check(t, "when the standby yields", 1, true)
		stop()
		leader.Yield()
		time.Sleep(10 * time.Second)
		standby.check(t, "when the leader has ended", 1, true)
		stopStandby()
		standby.Yield()
	})
}

// The server does not respond, so that the elector has not noticed yet that the lease may be lost.
func TestALeaderThatDoesNotLeadByItsOwnClockDoesNotYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		defer l.start(t)()
		l.check(t, "at the start", 1, true)
		hang := make(chan struct{})
		defer close(hang)
		c.hang.Store(&hang)
		time.Sleep(10*time.Second + time.Millisecond)
		l.Yield()
		synctest.Wait()
		if _, now := l.state(); !now || l.Leading() {
			t.Errorf("the lead function runs: %t, it leads: %t; want true, false", now, l.Leading())
		}
	})
}

// The other process leads between two reads of the lease.
func TestAProcessThatHasLedForAMomentEndsAYield(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l, other := newCandidate(c, "one"), newCandidate(c, "other").lock
		defer l.start(t)()
		time.Sleep(time.Minute)
		l.Yield()
		time.Sleep(time.Second)
		record, _, err := other.Get(t.Context())
		must(t, err)
		record.HolderIdentity, record.RenewTime = "other", metav1.Now()
		record.LeaderTransitions++
		must(t, other.Update(t.Context(), *record))
		must(t, other.release(t.Context()))
		time.Sleep(2 * time.Second)
		l.check(t, "3 s after the yield", 2, true)
		if at := l.failedYield(); !at.IsZero() {
			t.Errorf("the yield has failed at %v", at)
		}
	})
}

func TestALeaderWhoseLeaseIsDeletedWhileItYieldsDoesNotLead(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		l.drain = 100 * time.Millisecond
		stop := l.start(t)
		time.Sleep(time.Minute)
		l.Yield()
		must(t, c.CoordinationV1().Leases("kube-system").Delete(t.Context(), "taint-manager", metav1.DeleteOptions{}))
		time.Sleep(time.Second)
		l.check(t, "1 s after the yield", 1, false)
		time.Sleep(time.Minute)
		l.check(t, "a minute after it", 2, true)
		stop()
		time.Sleep(l.drain)
	})
}

func TestAProcessThatEndsWhileItYieldsLeavesTheLeaseFree(t *testing.T) {
	for name, after := range map[string]time.Duration{"while calls end": time.Second, "while it stands aside": 5 * time.Second} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				l := newCandidate(c, "only")
				l.drain = 3 * time.Second
				stop := l.start(t)
				l.check(t, "at the start", 1, true)
				l.Yield()
				time.Sleep(after)
				began := time.Now()
				stop()
				if took := time.Since(began); took > 0 {
					t.Errorf("it took %v to end", took)
				}
				if holder := c.holder(t); holder != "" {
					t.Errorf("held by %q", holder)
				}
				time.Sleep(l.drain)
			})
		})
	}
}

func TestALeaderThatCanNotReleaseTheLeaseLeadsOn(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		defer l.start(t)()
		time.Sleep(time.Minute)
		c.away.Store(true)
		l.Yield()
		time.Sleep(3 * time.Second)
		if l.Leading() {
			t.Error("it leads although it has tried to give the lease back")
		}
		c.away.Store(false)
		time.Sleep(5 * time.Second)
		l.check(t, "when the server answers again", 2, true)
		if at := l.failedYield(); !at.IsZero() {
			t.Errorf("a yield that did not release the lease counts as failed at %v", at)
		}
	})
}

// The response to the release is lost, but the lease is free.
func TestALeaseThatWasReleasedWithoutAResponseIsNotTakenAgainAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		defer l.start(t)()
		time.Sleep(time.Minute)
		lost := false
		c.PrependReactor("update", "leases", func(written k8stesting.Action) (bool, runtime.Object, error) {
			if lost {
				return false, nil, nil
			}
			lost = true
			return true, nil, c.storeAndLose(written)
		})
		l.Yield()
		time.Sleep(14 * time.Second)
		l.check(t, "after 14 s", 1, false)
		time.Sleep(2 * time.Second)
		l.check(t, "after 16 s", 2, true)
		if !lost || l.failedYield().IsZero() {
			t.Errorf("a response was lost: %t; failed yield at %v", lost, l.failedYield())
		}
	})
}

func TestAnErrorOfALeaderThatYieldsDoesNotEndTheCampaign(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		l := newCandidate(c, "only")
		ctx, cancel := context.WithCancel(klog.NewContext(t.Context(), logr.Discard()))
		over, terms := make(chan error, 1), 0
		go func() {
			over <- l.Campaign(ctx, func(ctx context.Context) error {
				terms++
				<-ctx.Done()
				return errors.New("cut")
			})
		}()
		time.Sleep(time.Minute)
		l.Yield()
		time.Sleep(time.Minute)
		cancel()
		if err := <-over; err != nil || terms != 2 {
			t.Errorf("got %v after %d terms", err, terms)
		}
	})
}

func TestYieldsFromManyGoroutinesAreOne(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newCandidate(newCluster(), "only")
		defer l.start(t)()
		l.check(t, "at the start", 1, true)
		for range 20 {
			go func() {
				for range 100 {
					l.Yield()
					time.Sleep(time.Second)
				}
			}()
		}
		time.Sleep(2 * time.Minute)
		l.check(t, "after 2000 requests", 2, true)
	})
}
