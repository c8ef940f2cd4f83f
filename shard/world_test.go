package shard_test

import (
	"math"
	"sync"
	"testing"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// zero is the moment from which the tests count seconds.
var zero = time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns that second, to the microsecond.
func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
}

// world is a cache that tests write: what a shard sees of a cluster.
type world struct {
	mu    sync.Mutex
	pods  map[types.UID]taint.Pod
	nodes map[string]taint.Node
	reads int // of single pods
}

func newWorld() *world {
	return &world{pods: map[types.UID]taint.Pod{}, nodes: map[string]taint.Node{"n": {Name: "n", UID: "n"}}}
}

func (w *world) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.reads++
	pod, ok := w.pods[uid]
	if !ok {
		return nil, nil
	}
	return &pod, w.node(pod.Node)
}

func (w *world) PodsOn(name string) (*taint.Node, []*taint.Pod) {
	w.mu.Lock()
	defer w.mu.Unlock()
	var pods []*taint.Pod
	for _, pod := range w.pods {
		if pod.Node == name {
			pods = append(pods, &pod)
		}
	}
	return w.node(name), pods
}

func (w *world) node(name string) *taint.Node {
	node, ok := w.nodes[name]
	if !ok {
		return nil
	}
	return &node
}

// add binds a pod to node n at second 0.
func (w *world) add(uid types.UID, tolerations ...v1.Toleration) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.pods[uid] = taint.Pod{
		UID: uid, Namespace: "ns", Name: string(uid), Node: "n",
		Phase: v1.PodRunning, Bound: at(0), Tolerations: tolerations,
	}
}

func (w *world) change(uid types.UID, change func(*taint.Pod)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	pod := w.pods[uid]
	change(&pod)
	w.pods[uid] = pod
}

func (w *world) remove(uid types.UID) {
	w.mu.Lock()
	defer w.mu.Unlock()
	delete(w.pods, uid)
}

// taint puts a taint on node n since that second; lift takes it off.
func (w *world) taint(key string, since float64) { w.taintNode("n", key, at(since)) }

func (w *world) taintNode(name, key string, since time.Time) {
	w.mu.Lock()
	defer w.mu.Unlock()
	node := w.nodes[name]
	node.Name = name
	node.Taints = append(without(node.Taints, key), taint.History{{
		Taint: v1.Taint{Key: key, Effect: v1.TaintEffectNoExecute}, Since: since,
	}})
	w.nodes[name] = node
}

func (w *world) lift(key string) {
	w.mu.Lock()
	defer w.mu.Unlock()
	node := w.nodes["n"]
	node.Taints = without(node.Taints, key)
	w.nodes["n"] = node
}

func without(histories []taint.History, key string) (rest []taint.History) {
	for _, h := range histories {
		if h[0].Taint.Key != key {
			rest = append(rest, h)
		}
	}
	return rest
}

// bears tolerates a taint for some seconds.
func bears(key string, seconds int64) v1.Toleration {
	return v1.Toleration{Key: key, Operator: v1.TolerationOpExists, TolerationSeconds: &seconds}
}

// play drives a core by hand: one step after the other, at the times that the test says.
type play struct {
	*world
	t     *testing.T
	core  *shard.Core
	notes []eviction.Note

	overtaken []eviction.Overtaken
}

func newPlay(t *testing.T) *play {
	w := newWorld()
	half := func() float64 { return 0.5 }
	return &play{world: w, t: t, core: shard.NewCore(w, policy.Judge{}, half)}
}

func (p *play) step(second float64, in shard.Input) *eviction.Request {
	do := p.core.Step(at(second), in)
	p.notes = append(p.notes, do.Notes...)
	p.overtaken = append(p.overtaken, do.Overtaken...)
	return do.Start
}

func (p *play) nodeChanged(second float64) { p.step(second, shard.NodeChanged{Name: "n"}) }

func (p *play) podChanged(second float64, uid types.UID) { p.step(second, shard.PodChanged{UID: uid}) }

// wantStart permits a slot and wants this pod's call to start.
func (p *play) wantStart(second float64, uid types.UID) *eviction.Request {
	p.t.Helper()
	start := p.step(second, shard.Permitted{})
	if start == nil || start.Pod.UID != uid {
		p.t.Fatalf("second %v: started %v, want %s", second, start, uid)
	}
	return start
}

// wantNone permits a slot and wants it back.
func (p *play) wantNone(second float64) {
	p.t.Helper()
	if start := p.step(second, shard.Permitted{}); start != nil {
		p.t.Fatalf("second %v: started %s, want nothing", second, start.Pod.UID)
	}
}

func (p *play) ended(second float64, uid types.UID, o eviction.Outcome) {
	p.step(second, shard.Ended{UID: uid, Outcome: o})
}

// wantNotes wants exactly these kinds of notes since it was last asked.
func (p *play) wantNotes(kinds ...eviction.NoteKind) {
	p.t.Helper()
	if len(p.notes) != len(kinds) {
		p.t.Fatalf("got %d notes (%v), want %d", len(p.notes), p.notes, len(kinds))
	}
	for i, kind := range kinds {
		if p.notes[i].Kind != kind {
			p.t.Errorf("note %d: got kind %d, want %d", i, p.notes[i].Kind, kind)
		}
	}
	p.notes = nil
}
