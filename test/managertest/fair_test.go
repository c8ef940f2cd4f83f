package managertest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"

	taintmanager "github.com/taint-manager/taint-manager"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
)

// tenants is an evictor of tenants: each call for the pods of "slow" takes 30 s and fails, and each other call 20 ms.
type tenants struct {
	mu   sync.Mutex
	gone []time.Time // when the pods of the other tenant were
}

func (t *tenants) Evict(ctx context.Context, r taintmanager.Eviction) taintmanager.Outcome {
	takes, outcome := 20*time.Millisecond, taintmanager.Outcome{Kind: eviction.Accepted}
	if r.Pod.Namespace == "slow" {
		takes, outcome = 30*time.Second, taintmanager.Outcome{Kind: eviction.Failed, Cause: eviction.CauseServer, NothingDeleted: true}
	}
	select {
	case <-time.After(takes):
	case <-ctx.Done():
		return taintmanager.Outcome{Kind: eviction.Interrupted}
	}
	if r.Pod.Namespace == "others" {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.gone = append(t.gone, time.Now())
	}
	return outcome
}

// waitsOfOthers runs a manager with that number of pods of a tenant, and of others. All are on ten nodes, and due at the
// same moment. It returns the median and the longest wait of the others.
func waitsOfOthers(t *testing.T, tenant string, pods, others int, rates ...policy.Rate) (median, longest time.Duration) {
	synctest.Test(t, func(t *testing.T) {
		var objects []runtime.Object
		for i := range 10 {
			node := taintedNode()
			node.Name, node.UID = fmt.Sprint("node", i), types.UID(fmt.Sprint("node", i))
			objects = append(objects, node)
		}
		add := func(namespace string, n int) {
			for i := range n {
				pod := podOn(fmt.Sprint("node", i%10), fmt.Sprintf("%s-%d", namespace, i), bears(20))
				pod.Namespace, pod.Labels = namespace, map[string]string{"app": namespace}
				objects = append(objects, pod)
			}
		}
		add(tenant, pods)
		add("others", others)
		evictor := &tenants{}
		due := time.Now().Add(20 * time.Second)
		start(t, fake.NewClientset(objects...), taintmanager.Options{Evictor: evictor, Guards: policy.Guards{Rates: rates}, Logger: logr.FromSlogHandler(slog.DiscardHandler)})
		time.Sleep(5 * time.Minute)
		evictor.mu.Lock()
		defer evictor.mu.Unlock()
		if len(evictor.gone) != others {
			t.Fatalf("%d of %d others are gone", len(evictor.gone), others)
		}
		slices.SortFunc(evictor.gone, time.Time.Compare)
		median, longest = evictor.gone[others/2].Sub(due), evictor.gone[others-1].Sub(due)
	})
	return median, longest
}

func TestATenantsSlowCallsDelayOtherTenantsByMomentsOnly(t *testing.T) {
	median, longest := waitsOfOthers(t, "slow", 1000, 200)
	t.Logf("median %v, longest %v", median, longest)
	if median > 430*time.Millisecond || longest > time.Second {
		t.Errorf("the others wait for %v, at most %v", median, longest)
	}
}

func TestATenantsSlowCallsLeaveTheTokensOfARateToOtherTenants(t *testing.T) {
	rate := policy.Rate{Name: "all", EvictionsPerSecond: 1, Burst: 5}
	_, quick := waitsOfOthers(t, "quick", 30, 60, rate)
	_, slow := waitsOfOthers(t, "slow", 30, 60, rate)
	t.Logf("the last after %v, next to quick pods after %v", slow, quick)
	if slow > quick*12/10 {
		t.Errorf("the last of the others is gone after %v, and next to as many quick pods after %v", slow, quick)
	}
}
