package status_test

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"reflect"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"
	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/status"
	"github.com/taint-manager/taint-manager/taint"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// epoch is when every test begins; synctest's bubbles begin then, too.
var epoch = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

func at(seconds float64) time.Time { return epoch.Add(time.Duration(seconds * float64(time.Second))) }

var gpu = &v1.Taint{Key: "gpu", Value: "broken", Effect: v1.TaintEffectNoExecute}

// view returns an eviction of pod ns/NAME from a node at so many seconds, scheduled 5 minutes before.
func view(name, node string, deadline float64) eviction.View {
	grace := int64(300)
	return eviction.View{
		Pod: &taint.Pod{UID: types.UID("uid-" + name), Namespace: "ns", Name: name, Node: node},
		Verdict: taint.Verdict{
			Evict: true, At: at(deadline), Start: at(deadline - 300), Node: node, Taint: gpu,
			Toleration: &v1.Toleration{Key: "gpu", Operator: v1.TolerationOpExists, TolerationSeconds: &grace},
		},
		State: eviction.StateScheduled,
		Next:  at(deadline),
	}
}

// delayed returns the view after two calls, of which the last has failed with the cause "pdb".
func delayed(v eviction.View, kind eviction.Kind, message string) eviction.View {
	v.Last = eviction.Outcome{Kind: kind, Cause: "pdb", Message: message}
	v.State, v.Attempts = v.Last.Stuck(), 2
	v.Next = v.Next.Add(time.Minute)
	return v
}

func node(name string, since float64) *taint.Node {
	return &taint.Node{Name: name, UID: types.UID("uid-" + name), Taints: []taint.History{{{Taint: *gpu, Since: at(since)}}}}
}

func nodesOf(names ...string) (list []*taint.Node) {
	for _, name := range names {
		list = append(list, node(name, 0))
	}
	return list
}

// snapshotOf returns the snapshot of a world.
func snapshotOf(t *testing.T, w *world) (s status.Snapshot) {
	t.Helper()
	get(t, w.server(), "/api/v1/snapshot", &s)
	return s
}

// shownAs returns how an eviction is shown.
func shownAs(t *testing.T, v eviction.View) status.Eviction {
	t.Helper()
	return snapshotOf(t, &world{views: []eviction.View{v}}).Evictions[0]
}

// evicted returns an eviction call for pod ns/NAME that was due at so many seconds.
func evicted(name string, deadline float64) eviction.Request {
	v := view(name, "n", deadline)
	return eviction.Request{Pod: v.Pod, Verdict: v.Verdict, Attempt: 1}
}

// world is a source that tests set, and counts how often it is asked.
type world struct {
	history status.History

	mu      sync.Mutex
	views   []eviction.View
	nodes   []*taint.Node
	manager status.Manager
	away    bool
	trouble error
	warning string
	asked   int
}

func (w *world) set(do func(w *world)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	do(w)
}

func (w *world) Earliest(_ context.Context, most int) (views []eviction.View, left int, err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked++
	if w.away {
		return nil, 0, errors.New("the shards do not answer")
	}
	shown := min(most, len(w.views))
	return append([]eviction.View(nil), w.views[:shown]...), len(w.views) - shown, nil
}

func (w *world) Tainted() []*taint.Node { w.mu.Lock(); defer w.mu.Unlock(); return w.nodes }
func (w *world) looks() int             { w.mu.Lock(); defer w.mu.Unlock(); return w.asked }

func (w *world) server() *status.Server {
	return status.New(status.Options{Source: w, History: &w.history, Manager: w.about})
}

func (w *world) about() status.Manager {
	w.mu.Lock()
	defer w.mu.Unlock()
	m := w.manager
	if reflect.DeepEqual(m, status.Manager{}) {
		m = status.Manager{Identity: "me", Role: status.Leading, Leader: "me"}
	}
	m.Version, m.Cluster, m.MaxEvictionsPerSecond, m.Synced = "v1", "prod-eu-1", 20, true
	m.EvictionMethod, m.Warning = cmp.Or(m.EvictionMethod, "evict"), w.warning
	if w.trouble != nil {
		m.Trouble = w.trouble.Error()
	}
	return m
}

// loadOf returns so many evictions of pods spread over ten nodes, due one after the other.
func loadOf(n int) []eviction.View {
	var views []eviction.View
	for i := range n {
		views = append(views, view(fmt.Sprintf("p%05d", i), fmt.Sprintf("n%d", i%10), 60+float64(i)))
	}
	return views
}
