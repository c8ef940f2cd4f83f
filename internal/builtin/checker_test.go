package builtin_test

import (
	"context"
	"errors"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-logr/logr"
	"github.com/go-logr/logr/funcr"
	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/testutil"
	v1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/kubernetes/fake"
	clienttesting "k8s.io/client-go/testing"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/builtin"
	"github.com/taint-manager/taint-manager/taint"
)

const metric = "taint_manager_builtin_seen_timestamp_seconds"

// world is an API server with pods that a client has marked, a checker that leads, and its log.
type world struct {
	t        *testing.T
	api      *fake.Clientset
	checker  *builtin.Checker
	registry *prometheus.Registry
	standby  bool

	mu   sync.Mutex
	logs []string
	asks []string // field selectors
	err  error    // of each list
}

func newWorld(t *testing.T, broken ...string) *world {
	w := &world{t: t, api: fake.NewClientset(), registry: prometheus.NewRegistry()}
	w.api.PrependReactor("list", "pods", func(a clienttesting.Action) (bool, runtime.Object, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.asks = append(w.asks, a.(clienttesting.ListAction).GetListRestrictions().Fields.String())
		return w.err != nil, nil, w.err
	})
	w.checker = builtin.New(builtin.Options{
		Client: w.api, Own: "taint-manager", Broken: func() []string { return broken }, Leading: func() bool { return !w.standby },
		Logger: w.logger(),
	})
	w.registry.MustRegister(w.checker.Collectors()...)
	ctx, cancel := context.WithCancel(t.Context())
	var running sync.WaitGroup
	running.Go(func() { w.checker.Run(ctx) })
	t.Cleanup(func() { cancel(); running.Wait() })
	return w
}

func (w *world) logger() logr.Logger {
	return funcr.New(func(_, args string) {
		w.mu.Lock()
		defer w.mu.Unlock()
		w.logs = append(w.logs, args)
	}, funcr.Options{})
}

// overtake has a client mark a pod, and reports to the checker that the pod's eviction was overtaken.
func (w *world) overtake(name, manager string) {
	w.t.Helper()
	pod := &v1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: "shop", Name: name, UID: types.UID(name),
		ManagedFields: []metav1.ManagedFieldsEntry{{
			Manager: manager, FieldsV1: metav1.NewFieldsV1(`{"f:status":{"f:conditions":{"k:{\"type\":\"DisruptionTarget\"}":{"f:reason":{}}}}}`),
		}},
	}}
	pod.Status.Conditions = []v1.PodCondition{{Type: v1.DisruptionTarget, Status: v1.ConditionTrue, Reason: "DeletionByTaintManager"}}
	if err := w.api.Tracker().Add(pod); err != nil {
		w.t.Fatal(err)
	}
	w.report(name, types.UID(name), true)
}

func (w *world) report(name string, uid types.UID, marked bool) {
	w.checker.Overtaken(eviction.Overtaken{
		Pod:      &taint.Pod{Namespace: "shop", Name: name, UID: uid, Node: "n1", Disrupted: marked},
		Deadline: time.Now().Add(time.Hour),
	})
	synctest.Wait()
}

// pass lets virtual time pass.
func pass(d time.Duration) { <-time.NewTimer(d).C }

// want compares the numbers of requests and of lines in the log.
func (w *world) want(asks, lines int) {
	w.t.Helper()
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.asks) != asks || len(w.logs) != lines {
		w.t.Errorf("%d requests and %d lines in the log, want %d and %d: %v", len(w.asks), len(w.logs), asks, lines, w.logs)
	}
}

func TestTheOriginalIsReportedInLogMetricAndTrouble(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t, "policy quarantine (method: Hold)")
		w.overtake("web-0", "kube-controller-manager")
		w.want(1, 1)
		if w.asks[0] != "metadata.name=web-0" {
			t.Errorf("asked for %s", w.asks[0])
		}
		for _, word := range []string{"web-0", "kube-controller-manager", "policy quarantine (method: Hold)", "docs/switching-over.md"} {
			if !strings.Contains(w.logs[0], word) || !strings.Contains(w.checker.Trouble().Error(), word) {
				t.Errorf("%s is missing in %s, or in %v", word, w.logs[0], w.checker.Trouble())
			}
		}
		want := "# HELP " + metric + " When kube-controller-manager was last seen to evict a pod whose eviction waited here; 0: never.\n# TYPE " + metric + " gauge\n" + metric + " 9.466848e+08\n"
		if err := testutil.GatherAndCompare(w.registry, strings.NewReader(want), metric); err != nil {
			t.Error(err)
		}
	})
}

func TestTheOriginalIsReportedOnceAnHour(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		w := newWorld(t)
		for i := range 3 * 60 {
			w.overtake(strings.Repeat("x", i+1), "kube-controller-manager")
			pass(time.Minute)
		}
		w.want(3, 3)
		pass(24 * time.Hour)
		if err := w.checker.Trouble(); err != nil {
			t.Errorf("a day later there is trouble: %v", err)
		}
	})
}

func TestNothingIsReportedOfOtherDeletions(t *testing.T) {
	for name, c := range map[string]struct {
		happens func(w *world)
		asks    int
	}{
		"another replica of this program":   {func(w *world) { w.overtake("a", "taint-manager") }, 1},
		"a pod that is gone":                {func(w *world) { w.report("a", "a", true) }, 1},
		"another pod of that name":          {func(w *world) { w.overtake("a", ""); pass(time.Minute); w.report("a", "b", true) }, 2},
		"kubectl, long before the deadline": {func(w *world) { w.report("a", "a", false) }, 0},
		"a standby": {func(w *world) {
			w.standby = true
			w.overtake("a", "kube-controller-manager")
		}, 0},
		"a list that fails": {func(w *world) {
			w.mu.Lock()
			w.err = errors.New("no")
			w.mu.Unlock()
			w.overtake("a", "kube-controller-manager")
		}, 1},
		"many pods within a minute are one request": {func(w *world) {
			for _, pod := range []string{"a", "b", "c"} {
				w.overtake(pod, "taint-manager")
			}
		}, 1},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(t)
				c.happens(w)
				w.want(c.asks, 0)
				if err := w.checker.Trouble(); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
