package managertest

import (
	"errors"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
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
	options taintmanager.Options
}

// afterGap starts a manager of a zone with a pod on each of these nodes. In the middle of the gap the first of the nodes get a
// taint; the list at its end shows them.
func afterGap(t *testing.T, nodes, tainted int) *gapped {
	t.Helper()
	g := &gapped{t: t, client: fake.NewClientset(), nodes: &silentWatch{stream: watch.NewFake()}, evicted: &recorder{}}
	for i := range nodes {
		node := taintedNode()
		node.Name, node.UID, node.Labels = nodeOf(i), types.UID(fmt.Sprint(i)), map[string]string{"zone": "a"}
		node.Spec.Taints = nil
		if err := errors.Join(g.client.Tracker().Add(node), g.client.Tracker().Add(podOn(node.Name, fmt.Sprintf("pod-%d", i)))); err != nil {
			t.Fatal(err)
		}
	}
	g.client.PrependWatchReactor("nodes", g.nodes.react)
	down := listsFail(g.client, "nodes")
	b := zoneOutage()
	b.Settle = lasting(10 * time.Second)
	g.options = taintmanager.Options{
		Evictor: g.evicted, Journal: newNotebook(), Guards: policy.Guards{Breakers: []policy.Breaker{b}},
	}
	g.running = start(t, g.client, g.options)
	time.Sleep(time.Minute)
	down.Store(true)
	g.nodes.breakOff(errors.New("connection refused"))
	time.Sleep(time.Minute)
	for i := range tainted {
		g.taint(i)
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

func nodeOf(i int) string { return fmt.Sprintf("node-%04d", i) }

// taint adds a taint to a node, as of now.
func (g *gapped) taint(i int) {
	now := metav1.Now()
	paint(g.t, g.client, nodeOf(i), []v1.Taint{{Key: "key", Effect: v1.TaintEffectNoExecute, TimeAdded: &now}})
}

// The list shows taints that are older than settle, so nothing but the breaker holds the pods.
func TestABreakerTripsBeforePodsGoThatAListAfterAGapShows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := afterGap(t, 2000, 1500)
		time.Sleep(3 * time.Minute)
		if n := len(g.evicted.names()); n > 0 || len(g.Trips()) != 1 {
			t.Errorf("%d pods were evicted, though three of four nodes of the zone are out; trips %+v", n, g.Trips())
		}
	})
}

// The list shows the beginning of a wave. It settles as if its first taints had been seen when they came.
func TestAfterAGapSettleCountsFromTheListThatShowsATaint(t *testing.T) {
	for name, c := range map[string]struct {
		after time.Duration // after the list another node gets the taint, so that too many have it
		gone  int
	}{
		"within settle": {time.Second, 0},
		"later":         {11 * time.Second, 2},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				g := afterGap(t, 4, 2)
				listed := time.Now()
				time.Sleep(c.after)
				g.taint(2)
				node, err := g.client.CoreV1().Nodes().Get(t.Context(), nodeOf(2), metav1.GetOptions{})
				if err != nil {
					t.Fatal(err)
				}
				g.nodes.stream.Modify(node) // blocks until it is watched again
				if seen := time.Since(listed); c.gone == 0 && seen > 9*time.Second {
					t.Fatalf("the node was seen %v after the list", seen)
				}
				time.Sleep(time.Minute)
				if n := len(g.evicted.names()); n != c.gone || len(g.Trips()) != 1 {
					t.Errorf("%d pods were evicted, want %d; trips %+v", n, c.gone, g.Trips())
				}
			})
		})
	}
}

// The next leader finds the taints, which are older than settle, in its first list.
func TestAfterAChangeOfLeaderSettleCountsFromTheListThatShowedATaint(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g := afterGap(t, 4, 2)
		listed := time.Now()
		time.Sleep(5 * time.Second)
		g.stop(t)
		start(t, g.client, g.options)
		for _, c := range []struct {
			second time.Duration
			gone   int
		}{{9, 0}, {11, 2}} {
			time.Sleep(time.Until(listed.Add(c.second * time.Second)))
			synctest.Wait()
			if n := len(g.evicted.names()); n != c.gone {
				t.Errorf("%d s after the list, %d pods were evicted, want %d", c.second, n, c.gone)
			}
		}
	})
}
