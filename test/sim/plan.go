package sim

import (
	"math/rand/v2"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/config"
	"github.com/taint-manager/taint-manager/policy"
)

// plan is a world before it begins.
type plan struct {
	seed     uint64
	nodes    int
	replicas int
	shards   int
	workers  int
	places   int           // number of slow places
	method   config.Method // of pairs that no policy decides
	clocks   clocks
	lag      time.Duration // usual lag of a watch
	stale    bool          // the first lists may be stale
	turmoil  time.Duration // how long actions happen
	actions  []action
	files    []file // configuration files, in the order of their times; the first is there at the start
}

// action is something that happens to a cluster at a moment.
type action struct {
	at time.Duration
	act
}

// act is something that can happen to a cluster. Its object and its values are drawn already.
type act struct {
	kind, object string
	do           func(s stage)
}

// stage is what acts happen to: a world.
type stage interface {
	api() *server
	strikes(f fault, lasts time.Duration)
	befalls(replica int, m mishap, pods bool, lasts time.Duration)
}

// mishap is something that happens to a replica for a while, if it is up, or to its watch of nodes or of pods.
type mishap string

// The mishaps.
const (
	breakWatch  mishap = "watch breaks"
	forgetWatch mishap = "watch breaks and is forgotten"
	stallWatch  mishap = "watch stalls"
	deafen      mishap = "watch of the journal breaks"
	kill        mishap = "kill"
	stop        mishap = "stop"
	pause       mishap = "pause"
	setClock    mishap = "set clock"
	handOver    mishap = "hand over"
)

// fault is something that the API server suffers for a while.
type fault string

// The faults.
const (
	away          fault = "API server away"
	hang          fault = "API server hangs"
	failing       fault = "requests fail"
	throttling    fault = "API server is loaded"
	losing        fault = "answers are lost"
	slow          fault = "requests are slow"
	refusing      fault = "admission refuses"
	budget        fault = "budget blocks"
	journalBroken fault = "journal can't be written"
)

// The time that a world has before the first action, and after the last fault.
const (
	preface = time.Hour
	quiet   = 200 * time.Second
)

// draw returns the plan of a seed.
func draw(seed uint64) *plan {
	r := rand.New(rand.NewPCG(seed, 1))
	p := &plan{
		seed: seed, nodes: 1 + r.IntN(4), replicas: 1 + r.IntN(3), shards: 1 + r.IntN(3), workers: 1 + r.IntN(4),
		places: 1 + r.IntN(4), method: config.MethodDelete, clocks: clocks{replicas: make([]time.Duration, 3)},
		lag:   pick(r, time.Millisecond, 20*time.Millisecond, 300*time.Millisecond, 2*time.Second),
		stale: r.IntN(4) == 0, turmoil: time.Duration(15+r.IntN(60)) * time.Second,
	}
	if r.IntN(5) == 0 {
		p.method = config.MethodEvict
	}
	if r.IntN(2) == 0 {
		p.clocks.draw(r)
	}
	p.files = []file{{0, compiled(policy.Config{Method: p.method.Policy()}, false)}}
	d := drawer{Rand: r, plan: p}
	d.stock()
	for range 8 + r.IntN(30) {
		d.next()
	}
	if r.IntN(3) == 0 {
		d.storm()
	}
	for range r.IntN(4) {
		d.succession()
	}
	p.sort()
	return p
}

func (p *plan) sort() {
	slices.SortStableFunc(p.actions, func(a, b action) int { return int(a.at - b.at) })
}

// add adds what happens at a moment, or at the end of the turmoil.
func (p *plan) add(at time.Duration, a act) {
	p.actions = append(p.actions, action{min(at, preface+p.turmoil), a})
}

func pick[T any](r *rand.Rand, list ...T) T { return list[r.IntN(len(list))] }

// span draws a duration between two.
func span(r *rand.Rand, least, most time.Duration) time.Duration {
	return least + time.Duration(r.Int64N(int64(most-least)+1))
}
