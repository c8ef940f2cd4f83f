package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/policy"
)

type kind string

// The kinds of actions.
const (
	setTaint  kind = "taint"
	liftTaint kind = "lift"
	flap      kind = "flap" // removed, and set again after a while
	// not-ready replaced by unreachable, or the reverse, as the node lifecycle controller does it
	swap           kind = "swap"
	ready          kind = "ready"
	rewrite        kind = "rewrite" // a new timeAdded, as that controller writes it after a restart
	heartbeat      kind = "heartbeat"
	deleteNode     kind = "delete node"
	createPod      kind = "create pod"
	deletePod      kind = "delete pod"
	forceDelete    kind = "delete pod by force"
	replacePod     kind = "replace pod"
	tolerate       kind = "edit tolerations"
	finishPod      kind = "finish pod"
	touchPod       kind = "touch pod"
	away           kind = "API server away"
	hang           kind = "API server hangs"
	failing        kind = "requests fail"
	throttling     kind = "API server is loaded"
	losing         kind = "answers are lost"
	slow           kind = "requests are slow"
	refusing       kind = "admission refuses"
	budget         kind = "budget blocks"
	breakWatch     kind = "watch breaks"
	forgetWatch    kind = "watch breaks and is forgotten"
	stallWatch     kind = "watch stalls"
	kill           kind = "kill"
	stop           kind = "stop"
	pause          kind = "pause"
	setClock       kind = "set clock"
	handOver       kind = "hand over"
	losePartition  kind = "journal partition lost"
	touchPartition kind = "journal partition written by others"
	journalBroken  kind = "journal can't be read or written"
	forge          kind = "journal partition forged"
)

// isFault reports whether an action of this kind is a fault of the API server, which lasts for a while.
func (k kind) isFault() bool {
	return slices.Contains([]kind{
		away, hang, failing, throttling, losing, slow, refusing, budget, journalBroken,
	}, k)
}

// action is one thing that happens to a world. It names its object by number, so it still works if others are left out.
type action struct {
	at          time.Duration
	kind        kind
	node        int
	pod         int
	replica     int
	pods        bool // the watch of pods, not of nodes
	taint       v1.Taint
	timed       *time.Duration // how far the taint's timeAdded is in the future; nil: it has none
	tolerations []v1.Toleration
	lasts       time.Duration
	shape       podShape
}

// podShape is the rest of what describes a pod.
type podShape struct {
	mirror, unscheduled, finalizer bool
	bindsAfter, grace              time.Duration
}

// String returns the action in one line, with all objects that it may be about.
func (a *action) String() string {
	return fmt.Sprintf("%s: n%d, p%d, r%d, pods %v, taint %q, %v, for %v", a.kind, a.node, a.pod, a.replica, a.pods,
		a.taint.ToString(), shown{a.tolerations}, a.lasts)
}

// plan is a world before it begins.
type plan struct {
	seed     uint64
	nodes    int
	replicas int
	shards   int
	workers  int
	method   policy.Method // of pairs that no policy decides
	lag      time.Duration // usual lag of a watch
	stale    bool          // the first lists may be stale
	turmoil  time.Duration // how long actions happen
	actions  []action
	files    []file // configuration files, in the order of their times; if empty: one file without policies

	// How far the wall clocks of the API server and of the replicas are ahead of the true time.
	serverAhead time.Duration
	ahead       []time.Duration

	// How far the clock of a second API server is ahead of that of the first one. Every other answer to a process that
	// asks for the time is from the second one.
	apart time.Duration
}

// The time that a world has before the first action, and after the last fault.
const (
	preface = time.Hour
	quiet   = 200 * time.Second
)

func draw(seed uint64) *plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &plan{
		seed: seed, nodes: 1 + r.IntN(4), replicas: 1 + r.IntN(3), shards: 1 + r.IntN(3), workers: 1 + r.IntN(4),
		method: pick(r, policy.Evict, policy.Delete, policy.Delete, policy.Delete,
			policy.Delete),
		lag:   pick(r, time.Millisecond, 20*time.Millisecond, 300*time.Millisecond, 2*time.Second),
		stale: r.IntN(4) == 0, turmoil: time.Duration(15+r.IntN(60)) * time.Second,
	}
	p.drawClocks(rand.New(rand.NewPCG(seed, 3)))
	d := drawer{r: r, plan: p, at: preface}
	d.stock()
	for range 8 + r.IntN(30) {
		d.next()
	}
	d.r = rand.New(rand.NewPCG(seed, 5))
	if d.r.IntN(3) == 0 {
		d.storm()
	}
	d.r = rand.New(rand.NewPCG(seed, 11))
	for range d.r.IntN(4) {
		d.succession()
	}
	for range d.r.IntN(3) {
		d.add(d.action(forge, preface+span(d.r, 0, p.turmoil)))
	}
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
	return p
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// span draws a duration from least to most.
func span(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}
