package managertest

import (
	"errors"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
)

// A node is tainted during a pause, and while nodes are not watched. Its exposure is known only once the pause is over,
// and counts from the timeAdded of the taint; deleteAfter counts from the end of the pause nevertheless.
func TestAHoldCountsForAnExposureThatIsSeenOnlyAfterItsEnd(t *testing.T) {
	for name, c := range map[string]struct {
		noticed           bool
		tainted, unpaused time.Duration // since the start; ends of holds are dropped every ten minutes
		seen              time.Duration
	}{
		"nodes can't be watched for long":     {true, 5 * time.Minute, 6 * time.Minute, 25 * time.Minute},
		"the watch has broken off, unnoticed": {false, 8 * time.Minute, 9 * time.Minute, 11 * time.Minute},
		"nodes can't be watched for a minute": {true, 8 * time.Minute, 9 * time.Minute, 11 * time.Minute},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				born := time.Now()
				node := taintedNode()
				node.Spec.Taints = nil
				client := fake.NewClientset(node, podOn("node", "pod"))
				nodes := &silentWatch{stream: watch.NewFake()}
				client.PrependWatchReactor("nodes", nodes.react)
				down := listsFail(client, "nodes")
				lingering := []policy.Policy{{Name: "lingering", Method: policy.Evict, DeleteAfter: lasting(time.Hour)}}
				r := start(t, client, taintmanager.Options{Evictor: budgeted{newClock()}, Policies: lingering, Paused: true})
				time.Sleep(c.tainted)
				added := metav1.Now()
				paint(t, client, "node", []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute, TimeAdded: &added}})
				if c.noticed {
					down.Store(true)
					nodes.breakOff(errors.New("connection refused"))
				}
				time.Sleep(c.unpaused - time.Since(born))
				resumed := time.Now()
				r.set(t, taintmanager.Policies{Policies: lingering})
				time.Sleep(c.seen - time.Since(born))
				down.Store(false)
				nodes.breakOff(apierrors.NewResourceExpired("the version is too old, so nodes are listed"))
				time.Sleep(time.Minute)
				views, err := r.Views(t.Context())
				if err != nil || len(views) != 1 || !views[0].DeleteAt.Equal(resumed.Add(time.Hour)) {
					t.Errorf("got %+v, %v; it is to be deleted an hour after %v", views, err, resumed)
				}
			})
		})
	}
}

// silentWatch is a watch that shows nothing.
type silentWatch struct {
	mu     sync.Mutex
	stream *watch.FakeWatcher
	err    error // of the next requests
}

func (s *silentWatch) react(clienttesting.Action) (bool, watch.Interface, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	err := s.err
	if apierrors.IsResourceExpired(err) {
		s.err = nil
	}
	return true, s.stream, err
}

// breakOff ends the present watch. Requests for further ones fail with the error, and one alone if a version has expired.
func (s *silentWatch) breakOff(err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stream.Stop()
	s.stream, s.err = watch.NewFake(), err
}
