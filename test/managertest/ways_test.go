package managertest

import (
	"testing"
	"testing/synctest"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// A rate that is exhausted for its taint delays neither a deletion nor an eviction because of another taint.
func TestAPodThatWaitsForARateGoesBecauseOfAnotherTaintByAnyMethod(t *testing.T) {
	for _, method := range []policy.Method{policy.Delete, policy.Evict} {
		t.Run(string(method), func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				node := taintedNode()
				node.Spec.Taints = []v1.Taint{
					{Key: "dead", Effect: v1.TaintEffectNoExecute}, {Key: "maintenance", Effect: v1.TaintEffectNoExecute},
				}
				evictor, unconfirmed := &recorder{}, 0
				start(t, fake.NewClientset(node, podOn("node", "pod")), taintmanager.Options{
					Evictor: evictor, Method: taintmanager.Delete,
					Policies: []policy.Policy{{
						Name: "maintenance", Method: method,
						Match: policy.Match{Taints: []policy.Taint{{Key: "maintenance"}}},
					}},
					Guards: policy.Guards{Rates: []policy.Rate{{
						Name: "dead", Taints: []policy.TaintKey{{Key: "dead"}}, EvictionsPerSecond: 0.001, Burst: 1,
					}}},
					Ended: func(_ taintmanager.Eviction, o taintmanager.Outcome, _ time.Time) {
						if o.Kind == eviction.Unconfirmed {
							unconfirmed++
						}
					},
				})
				time.Sleep(time.Minute)
				synctest.Wait()
				wantEvicted(t, "by the taint that no rate counts", evictor, "pod")
				if unconfirmed > 0 {
					t.Errorf("%d calls were not confirmed", unconfirmed)
				}
			})
		})
	}
}
