package managertest

import (
	"errors"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/policy"
)

// gapped is a manager with a breaker of a zone, whose watch of nodes has a gap of two minutes.
type gapped struct {
	*running
	t       *testing.T
	client  *fake.Clientset
	nodes   *silentWatch
	evicted *recorder
}

// afterGap starts a manager of a zone with a pod on each of these nodes. In the middle of the gap the first of the nodes get a
// taint, and the last are removed; the list at its end shows both.
func afterGap(t *testing.T, nodes, tainted, removed int) *gapped {
	t.Helper()
	g := &gapped{t: t, client: zone(t, nodes, 0), nodes: &silentWatch{stream: watch.NewFake()}, evicted: &recorder{}}
	g.client.PrependWatchReactor("nodes", g.nodes.react)
	down := listsFail(g.client, "nodes")
	b := zoneOutage()
	b.Settle = lasting(10 * time.Second)
	g.running = start(t, g.client, taintmanager.Options{
		Evictor: g.evicted, Journal: newNotebook(), Guards: policy.Guards{Breakers: []policy.Breaker{b}},
	})
	time.Sleep(time.Minute)
	down.Store(true)
	g.nodes.breakOff(errors.New("connection refused"))
	time.Sleep(time.Minute)
	for i := range tainted {
		g.taint(i)
	}
	for i := nodes - removed; i < nodes; i++ {
		must(t, g.client.Tracker().Delete(v1.SchemeGroupVersion.WithResource("nodes"), "", nodeOf(i)))
	}
	time.Sleep(time.Minute)
	down.Store(false)
	g.nodes.breakOff(apierrors.NewResourceExpired("the version is too old, so nodes are listed"))
	for len(g.Tainted()) == 0 {
		time.Sleep(10 * time.Millisecond) // until the list is in
	}
	g.nodes.breakOff(nil)
	return g
}

// taint adds a taint to a node, as of now.
func (g *gapped) taint(i int) {
	now := metav1.Now()
	paint(g.t, g.client, nodeOf(i), []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute, TimeAdded: &now}})
}

// trips fails the test unless the breaker trips, and no pod is evicted within three minutes.
func (g *gapped) trips(because string) {
	g.t.Helper()
	time.Sleep(3 * time.Minute)
	if n := len(g.evicted.names()); n > 0 || len(g.Trips()) != 1 {
		g.t.Errorf("%d pods were evicted, though %s; trips %+v", n, because, g.Trips())
	}
}

// The list shows taints that are older than settle, so nothing but the breaker holds the pods.
func TestABreakerTripsBeforePodsGoThatAListAfterAGapShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		afterGap(t, 2000, 1500, 0).trips("three of four nodes of the zone are out")
	})
}

func TestABreakerDoesNotCountNodesThatWereRemovedInAGap(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		afterGap(t, 100, 30, 60).trips("30 of the 40 nodes that are left are out")
	})
}
