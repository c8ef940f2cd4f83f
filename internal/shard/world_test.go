package shard_test

import (
	"math"
	"sync"
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/taint"
)

// zero is the moment from which the tests count seconds. Virtual time begins at it.
var zero = time.Date(2000, 1, 1, 0, 0, 0, 0, time.UTC)

// at returns that second, to the microsecond.
func at(seconds float64) time.Time {
	return zero.Add(time.Duration(math.Round(seconds*1e6)) * time.Microsecond)
}

// world is a cache that tests write: what a shard sees of a cluster.
type world struct {
	mu    sync.Mutex
	pods  map[types.UID]taint.Pod
	nodes map[string]taint.Node
	bound map[string]map[types.UID]bool // the pods that are or were on a node
}

func newWorld() *world {
	return &world{
		pods: map[types.UID]taint.Pod{}, nodes: map[string]taint.Node{"n": {Name: "n", UID: "n"}}, bound: map[string]map[types.UID]bool{},
	}
}

func (w *world) Pod(uid types.UID) (*taint.Pod, *taint.Node) {
	w.mu.Lock()
	defer w.mu.Unlock()
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
	for uid := range w.bound[name] {
		if pod, there := w.pods[uid]; there && pod.Node == name {
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
	w.store(taint.Pod{
		UID: uid, Namespace: "ns", Name: string(uid), Node: "n",
		Phase: v1.PodRunning, Bound: at(0), Tolerations: tolerations,
	})
}

func (w *world) store(pod taint.Pod) {
	w.pods[pod.UID] = pod
	if w.bound[pod.Node] == nil {
		w.bound[pod.Node] = map[types.UID]bool{}
	}
	w.bound[pod.Node][pod.UID] = true
}

func (w *world) change(uid types.UID, change func(*taint.Pod)) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if pod, there := w.pods[uid]; there {
		change(&pod)
		w.store(pod)
	}
}

// tolerate replaces a pod's tolerations.
func (w *world) tolerate(uid types.UID, tolerations ...v1.Toleration) {
	w.change(uid, func(pod *taint.Pod) { pod.Tolerations = tolerations })
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
