package managertest

import (
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
)

func TestWhoWatchesIsToldOfEachCallThatHasEnded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		took := map[string]time.Duration{}
		start(t, fake.NewClientset(taintedNode(), podOn("node", "a"), podOn("node", "b")), taintmanager.Options{
			Evictor: &recorder{lasts: time.Second},
			Ended: func(e taintmanager.Eviction, o taintmanager.Outcome, at time.Time) {
				mu.Lock()
				defer mu.Unlock()
				if o.Kind == eviction.Accepted {
					took[e.Pod.Name] = at.Sub(e.Verdict.At)
				}
			},
		})
		time.Sleep(3 * time.Second)
		mu.Lock()
		defer mu.Unlock()
		if len(took) != 2 || took["a"] < time.Second || took["a"] > 2*time.Second {
			t.Errorf("told of %v", took)
		}
	})
}

func TestAManagerKnowsItsTaintedNodes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		other := taintedNode()
		other.Name, other.Spec.Taints = "other", nil
		r := start(t, fake.NewClientset(taintedNode(), other), taintmanager.Options{})
		time.Sleep(time.Second)
		if nodes := r.Tainted(); len(nodes) != 1 || nodes[0].Name != "node" || nodes[0].Taints[0][0].Taint.Key != "key" {
			t.Errorf("got %+v", nodes)
		}
	})
}
