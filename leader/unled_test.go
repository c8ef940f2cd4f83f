package leader

import (
	"errors"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime"
	k8stesting "k8s.io/client-go/testing"
)

// saysUnled fails the test unless the candidate says the text, or nothing if the text is empty.
func (ca *candidate) saysUnled(t *testing.T, when, text string) {
	t.Helper()
	synctest.Wait()
	err := ca.Unled()
	if text == "" && err != nil || text != "" && (err == nil || !strings.HasPrefix(err.Error(), text)) {
		t.Errorf("%s: got %v, want %q", when, err, text)
	}
}

// forbid makes the cluster refuse to do something with leases.
func (c *cluster) forbid(verb string) {
	c.PrependReactor(verb, "leases", func(k8stesting.Action) (bool, runtime.Object, error) {
		return true, nil, apierrors.NewForbidden(leases, "taint-manager", errors.New("no"))
	})
}

func TestAMinuteWithoutALeaderIsSaid(t *testing.T) {
	for name, test := range map[string]struct {
		breaks func(c *cluster, leader func())
		says   string
	}{
		"the leader is gone, and no replica may write the lease": {
			func(c *cluster, stop func()) { c.forbid("update"); stop() }, "no process was seen to lead for 1m",
		},
		"the leader lives, and may not write the lease any more": {
			func(c *cluster, _ func()) { c.forbid("update") }, "no process was seen to lead for 1m",
		},
		"the lease can't be read": {
			func(c *cluster, _ func()) { c.away.Store(true) }, "no process was seen to lead for 1m",
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				c := newCluster()
				leader, replica := newCandidate(c, "leader"), newCandidate(c, "replica")
				leader.saysUnled(t, "before it is a candidate", "")
				stop := leader.start(t)
				time.Sleep(time.Second)
				defer replica.start(t)()
				time.Sleep(5 * time.Minute)
				leader.saysUnled(t, "while it leads", "")
				replica.saysUnled(t, "while another leads", "")
				ended := false
				test.breaks(c, func() { stop(); ended = true })
				time.Sleep(unledAfter - 5*time.Second) // it has seen the last renewal some seconds ago
				replica.saysUnled(t, "within a minute", "")
				time.Sleep(8 * time.Second)
				replica.saysUnled(t, "after a minute", test.says)
				if !ended {
					leader.saysUnled(t, "after a minute, the former leader", test.says)
					stop()
				}
			})
		})
	}
}

func TestAMissingLeaseThatMayNotBeCreatedLeavesTheClusterWithoutALeader(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newClusterWith()
		c.forbid("create")
		l := newCandidate(c, "me")
		defer l.start(t)()
		time.Sleep(unledAfter - time.Second)
		l.saysUnled(t, "within a minute", "")
		time.Sleep(2 * time.Second)
		l.saysUnled(t, "after a minute", "no process was seen to lead for 1m")
		c.put(t, released())
		time.Sleep(10 * time.Second)
		l.saysUnled(t, "once it leads", "")
	})
}

func TestALeaseThatIsRenewedOnceInAWhileIsLed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := newCluster()
		leader, replica := newCandidate(c, "leader"), newCandidate(c, "replica")
		for _, l := range []*candidate{leader, replica} {
			l.settings.LeaseDuration.Duration, l.settings.RenewDeadline.Duration, l.settings.RetryPeriod.Duration = time.Hour, 50*time.Minute, 20*time.Minute
		}
		defer leader.start(t)()
		time.Sleep(time.Second)
		defer replica.start(t)()
		for range 10 {
			time.Sleep(19 * time.Minute)
			replica.saysUnled(t, "while another leads", "")
		}
	})
}
