package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

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

	trace func(line string)
	err   error
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

// Run runs the world of a seed.
func Run(seed uint64, o Options) Result {
	p := draw(seed)
	if o.Policies {
		p.govern()
	}
	w := newWorld(p, o)
	w.live()
	w.counts["Worlds"] = 1
	w.counts.Add(w.oracle.Seen)
	return Result{Seed: seed, Err: w.err, Counts: w.counts}
}

func newWorld(p *plan, o Options) *World {
	w := &World{
		plan: p, trace: o.Trace, counts: Counts{},
		processes: make([]*process, p.replicas), runs: make([]int, p.replicas),
		clocks: slices.Clone(p.clocks.replicas),
	}
	w.oracle = oracle.New(epoch())
	w.oracle.Governed = o.Policies
	w.oracle.ServerAhead = p.clocks.server
	w.server = newServer(w, w.oracle, w.wrote)
	w.server.stored = w.stored
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
		a := &p.actions[i]
		w.at(a.at, func() {
			w.say("world", "%s: %s", a.kind, a.object)
			w.counts[a.kind]++
			a.do(w)
		})
	}
	for i := range p.replicas {
		w.at(preface+time.Duration(i)*time.Second/2, func() { w.start(i) })
	}
	return w
}

// live runs the world up to the quiet end, and judges the end.
func (w *World) live() {
	calm := preface + w.plan.turmoil
	w.until(calm)
	w.calmDown()
	end := calm + quiet
	w.until(end)
	if w.err == nil {
		w.check(w.end(calm))
	}
	for _, p := range w.up() {
		p.die()
	}
}

// maxEvents is more events than any world has, unless something repeats itself without end.
const maxEvents = 1_000_000

// until runs the world up to a moment.
func (w *World) until(moment time.Duration) {
	for w.err == nil && w.step(moment) {
		if w.ran > maxEvents {
			w.check(oracle.Broken(oracle.Behind, "the world does not come to rest"))
		}
	}
	w.time = max(w.time, moment)
}

// end judges the end of the world. What is held by the leader may stay.
func (w *World) end(calm time.Duration) error {
	for _, p := range w.up() {
		if p.leading() {
			return w.oracle.Ends(w.now(), calm+20*time.Second, quiet-50*time.Second, p.governance.holds)
		}
	}
	return oracle.Broken(oracle.Behind, "nobody leads")
}

// calmDown ends all faults.
func (w *World) calmDown() {
	w.say("world", "all faults end")
	w.server.faults = map[fault]time.Duration{}
	for i, p := range w.processes {
		if p == nil {
			w.start(i)
			continue
		}
		p.nodes.quietTil, p.pods.quietTil = 0, 0
		p.frozen, p.keeper.deaf = 0, 0
		p.thaw()
	}
}

func (w *World) api() *server { return w.server }

// strikes starts a fault.
func (w *World) strikes(f fault, lasts time.Duration) {
	w.server.begin(f, lasts)
	for _, p := range w.up() {
		for _, s := range []*stream{p.nodes, p.pods} {
			switch f {
			case hang:
				s.stall(lasts)
			case away:
				s.breaks(0, false)
			}
		}
	}
}

// befalls has something happen to a process, or to its watches.
func (w *World) befalls(replica int, m mishap, pods bool, lasts time.Duration) {
	p := w.processes[replica]
	if p == nil {
		return
	}
	watch := p.nodes
	if pods {
		watch = p.pods
	}
	switch m {
	case breakWatch, forgetWatch:
		watch.breaks(lasts, m == forgetWatch)
	case stallWatch:
		watch.stall(lasts)
	case kill, stop:
		if m == stop {
			p.release()
		}
		p.die()
		w.after(lasts, func() { w.start(replica) })
	case pause:
		p.freeze(lasts)
	case setClock:
		w.clocks[replica] += lasts
		p.clock.ahead = w.clocks[replica]
		p.observer.ClockSet(p.clock.ahead)
	case deafen:
		p.keeper.deaf = max(p.keeper.deaf, w.now()+lasts)
	case handOver:
		if p.term != nil {
			p.release()
		}
	}
}

// up returns the processes that run.
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

// say writes a line of the trace.
func (w *World) say(who, format string, args ...any) {
	if w.trace != nil {
		w.trace(fmt.Sprintf("%12.6f %-7s %s", (w.now() - preface).Seconds(), who, fmt.Sprintf(format, args...)))
	}
}

// check records the first broken promise.
func (w *World) check(err error) {
	if err != nil && w.err == nil {
		w.err = fmt.Errorf("at %.6f s: %w", (w.now() - preface).Seconds(), err)
		w.say("oracle", "%v", err)
	}
}

func nodeName(i int) string { return fmt.Sprintf("n%d", i) }

func podName(i int) string { return fmt.Sprintf("p%d", i) }
