package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// World is one simulated cluster.
type World struct {
	loop
	plan   *plan
	server *server
	oracle *oracle.Oracle
	counts Counts

	processes []*process      // by replica; nil while it is down
	runs      []int           // how often each replica was started
	clocks    []time.Duration // how far those of the replicas are ahead

	deleted map[types.UID]time.Duration // when the request was sent that has deleted the pod

	trace   func(line string)
	err     error
	excused bool // a process has read a forged record, which the oracle can't judge: the world ends
}

// Result is the result of a world.
type Result struct {
	Seed   uint64
	Err    error // the first broken promise
	Counts Counts
}

// Options are the settings of a run. The zero value is the default.
type Options struct {
	// Trace, if not nil, receives a line for each event.
	Trace func(line string)

	// Policies draws worlds with policies, guards and reloads.
	Policies bool
}

func (o *Options) plan(seed uint64) *plan {
	p := draw(seed)
	if o.Policies {
		p.govern()
	}
	return p
}

// Run runs the world of a seed.
func Run(seed uint64, o Options) Result { return run(o.plan(seed), o) }

func run(p *plan, o Options) Result {
	w := newWorld(p, o)
	w.live()
	w.counts["Worlds"] = 1
	w.counts.Add(w.oracle.Seen)
	return Result{Seed: p.seed, Err: w.err, Counts: w.counts}
}

func newWorld(p *plan, o Options) *World {
	if len(p.files) == 0 {
		p.files = []file{{0, compiled(policy.Config{Method: p.method}, false)}}
	}
	w := &World{
		plan: p, trace: o.Trace, counts: Counts{},
		processes: make([]*process, p.replicas), runs: make([]int, p.replicas),
		clocks: make([]time.Duration, p.replicas), deleted: map[types.UID]time.Duration{},
	}
	copy(w.clocks, p.ahead)
	w.oracle = oracle.New(epoch())
	w.oracle.Rated = o.Policies
	w.oracle.Governed = slices.ContainsFunc(p.files, func(f file) bool {
		return len(f.config.Policies)+len(f.config.Guards.Breakers) > 0
	})
	w.oracle.ServerAhead = p.serverAhead
	w.server = newServer(w, w.oracle, w.wrote)
	w.server.managed = w.rand(13)
	w.time = time.Minute
	for i := range p.nodes {
		w.server.createNode(nodeName(i))
	}
	for i := range p.files {
		if at := p.files[i].at; at > 0 {
			w.at(at, func() { w.reload(i) })
		}
	}
	for i := range p.actions {
		d := &p.actions[i]
		w.at(d.at, func() { w.do(d) })
	}
	for i := range p.replicas {
		w.at(preface+time.Duration(i)*time.Second/2, func() { w.start(i) })
	}
	return w
}

// live runs the world, whose last part has no faults, and judges the end.
func (w *World) live() {
	calm := preface + w.plan.turmoil
	w.until(calm)
	w.calmDown()
	w.until(calm + span(w.rand(23), 6*time.Second, 14*time.Second))
	told := w.foretell()
	w.until(calm + quiet)
	if w.err == nil && !w.excused {
		w.check(w.end(calm))
	}
	if told != nil {
		w.check(told.judge(w)) // unless the world has failed already
	}
	for _, p := range w.up() {
		p.die()
	}
}

// maxEvents is more events than any world has, unless something repeats itself without end.
const maxEvents = 1_000_000

func (w *World) until(moment time.Duration) {
	for w.err == nil && !w.excused && w.step(moment) {
		if w.ran > maxEvents {
			w.check(oracle.Broken(oracle.Behind, "the world does not come to rest"))
		}
	}
	w.time = max(w.time, moment)
}

// end judges the world by the view of the leader. What is held may stay.
func (w *World) end(calm time.Duration) error {
	for _, p := range w.up() {
		if p.leading() {
			return p.observer.Ends(w.now(), calm+20*time.Second, quiet-50*time.Second, p.governance.holds)
		}
	}
	return oracle.Broken(oracle.Behind, "nobody leads")
}

func (w *World) calmDown() {
	w.say("world", "all faults end")
	w.server.faults = map[kind]time.Duration{}
	for i, p := range w.processes {
		if p == nil {
			w.start(i)
			continue
		}
		p.nodes.quietTil, p.pods.quietTil = 0, 0
		p.frozen = 0
		p.thaw()
	}
}

func (w *World) up() []*process {
	return slices.DeleteFunc(slices.Clone(w.processes), func(p *process) bool { return p == nil })
}

// wrote tells the watches of a write.
func (w *World) wrote() {
	last := &w.server.log[len(w.server.log)-1]
	w.say("server", "has %v", last)
	for _, p := range w.up() {
		if last.pod != nil {
			p.pods.plan()
		} else {
			p.nodes.plan()
		}
	}
}

// rand returns a random source for one part of the world, so that parts do not influence each other.
func (w *World) rand(part uint64) *rand.Rand { return rand.New(rand.NewPCG(w.plan.seed, part)) }

func (w *World) say(who, format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%12.6f %-7s %s", (w.now() - preface).Seconds(), who, fmt.Sprintf(format, args...)))
	}
}

// check records the first broken promise.
func (w *World) check(err error) {
	if err != nil && w.err == nil && !w.excused {
		w.err = fmt.Errorf("at %.6f s: %w", (w.now() - preface).Seconds(), err)
		w.say("oracle", "%v", err)
	}
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

func podName(i int) string { return fmt.Sprintf("p%d", i) }
