package sim

import (
	"time"

	v1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/guard"
	"github.com/taint-manager/taint-manager/journal/store"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
)

// governance is the part of a process that policies and guards need: the configuration that it has taken in, and the
// core of package guard. It stands in for what the root wires.
type governance struct {
	p      *process
	core   *guard.Core
	config guard.Config
	judge  policy.Judge
	took   int          // number of the file that it has taken in
	also   policy.Needs // of a file that is being taken in

	tokens []*tokens // of the rates in force

	timer time.Duration // when the core has a step due

	shown   map[string]map[v1.Taint]shownTaint // by node, and by key and effect
	nodes   map[string]*guard.Node             // as breakers were shown them
	synced  bool
	refused map[types.UID]time.Duration // when an eviction was first refused

	holding []policy.HoldRecord // while the process leads
	ended   []endedHold         // since the process has begun to lead
}

// govern sets up the policies and guards with which a process starts: those of the file of now.
func (p *process) govern() {
	g := &p.governance
	p.w.everGoverned = append(p.w.everGoverned, g)
	g.shown = map[string]map[v1.Taint]shownTaint{}
	g.p, g.timer, g.nodes, g.refused = p, never, map[string]*guard.Node{}, map[types.UID]time.Duration{}
	g.took = p.w.fileNow()
	g.config = p.w.plan.files[g.took].config
	g.core = guard.NewCore(g.config)
	g.judge = g.core.Judge()
	p.feed.Need(g.judge.Needs())
}

// fileNow returns the number of the file that is mounted now.
func (w *World) fileNow() (n int) {
	for i := range w.plan.files {
		if w.plan.files[i].at <= w.now() {
			n = i
		}
	}
	return n
}

// reload makes every process take in a file, some time after it was mounted.
func (w *World) reload(n int) {
	w.say("world", "mounts file %d", n)
	for _, p := range w.processes {
		if p != nil {
			p.after(span(p.r, 0, 2*time.Second), func() { p.takeIn(n) })
		}
	}
}

// takeIn takes in a file. Where the cache lacks what it needs, nodes and pods are listed anew first.
func (p *process) takeIn(n int) {
	g := &p.governance
	if n <= g.took {
		return
	}
	g.took = n
	next := p.w.plan.files[n].config
	g.also = next.Set.Needs()
	if p.feed.Need(g.judge.Needs().Or(g.also)) {
		p.listsAgain(p.nodes, func() { p.listsAgain(p.pods, func() { p.force(n, next) }) })
		return
	}
	p.force(n, next)
}

// listsAgain makes the process list, and calls the function once the list is complete.
func (p *process) listsAgain(s *stream, do func()) {
	s.forgets = true // also if it is broken now
	s.breaks(0, true)
	p.whenListed(s, s.lists, do)
}

// whenListed calls the function once there are more lists than before.
func (p *process) whenListed(s *stream, before int, do func()) {
	if s.lists > before {
		do()
		return
	}
	p.after(100*time.Millisecond, func() { p.whenListed(s, before, do) })
}

// force puts a file into force, unless a later one is.
func (p *process) force(n int, next guard.Config) {
	if n < p.governance.took {
		return
	}
	p.w.counts.Reloads++
	p.w.say(p.name, "takes in file %d", n)
	if next.Paused {
		p.dispatcher.step(dispatch.Paused{Paused: true})
	}
	p.governance.setRates(next.Guards.Rates)
	p.dispatcher.step(dispatch.Configured{Rates: next.Guards.Rates, Slots: p.w.plan.workers})
	p.governance.config = next
	p.governance.step(guard.Reconfigured{Config: next})
	p.dispatcher.step(dispatch.Paused{Paused: next.Paused})
	p.governance.also = policy.Needs{}
	p.feed.Need(p.governance.judge.Needs())
}

// step passes one input to the core, and its effects on.
func (g *governance) step(in guard.Input) {
	if g.p.dead {
		return
	}
	do := g.core.Step(g.p.now(), in)
	for _, e := range do.Events {
		g.p.w.say(g.p.name, "breaker %s of %q: tripped %v, %d of %d", e.Trip.Breaker, e.Trip.Group, e.Tripped,
			e.Affected, e.Nodes)
		if e.Tripped {
			g.p.w.counts.Trips++
		} else {
			g.p.w.counts.Resets++
		}
	}
	if do.Record != nil {
		g.p.keeper.step(store.GuardsSet{Record: *do.Record})
	}
	if do.Judge != nil {
		g.judged(*do.Judge)
	}
	g.noteEnds()
	next, _ := g.core.Next()
	g.p.wake(&g.timer, next, func() { g.step(guard.TimePassed{}) })
}

// judged passes a new judge to all shards, and has the pods of all nodes in question judged again.
func (g *governance) judged(j policy.Judge) {
	g.judge = j
	g.p.feed.Need(j.Needs().Or(g.also))
	for _, s := range g.p.shards {
		s.step(shard.Reconfigured{Judge: j})
	}
	if len(g.config.Policies)+len(g.config.Guards.Breakers) == 0 && len(g.p.w.plan.files) == 1 {
		return // nothing can have changed
	}
	for i := range g.p.w.plan.nodes {
		g.p.shardOf(nodeName(i)).nodeChanged(nodeName(i))
	}
}

// NodesChanged is called by the cache while breakers are needed.
func (p *process) NodesChanged(changes []guard.NodeChange) {
	for _, c := range changes {
		if p.governance.nodes[c.Name] = c.Node; c.Node == nil {
			delete(p.governance.nodes, c.Name)
		}
	}
	p.governance.step(guard.NodesChanged{Changes: changes})
}

// NodesSynced is called by the cache once breakers know all nodes.
func (p *process) NodesSynced() { p.governance.synced = true }

// refuses notes the outcome of an eviction.
func (g *governance) refuses(e *eviction.Request, o *eviction.Outcome) {
	if _, before := g.refused[e.Pod.UID]; e.Method == policy.Evict && o.RefusesEviction() && !before {
		g.refused[e.Pod.UID] = g.p.w.now()
	}
}
