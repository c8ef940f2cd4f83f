package sim

import (
	"encoding/json"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
)

// governance is the part of a process that policies and guards need: the configuration in force, and the core of
// package breaker, as the root wires it.
type governance struct {
	p       *process
	core    *breaker.Core
	config  breaker.Config
	judge   policy.Judge
	file    int           // the number of the latest file
	listing int           // how many files wait for new lists
	timer   time.Duration // when the core has a step due

	changed time.Duration // when the last batch of changes of nodes was received
}

// govern sets up the policies and guards with which a process starts: those of the latest file.
func (p *process) govern() {
	g := &p.governance
	*g = governance{p: p, timer: never}
	for i := range p.w.plan.files {
		if p.w.plan.files[i].at <= p.w.now() {
			g.file = i
		}
	}
	g.config = p.w.plan.files[g.file].config
	g.core = breaker.NewCore(p.Now(), g.config)
	g.judge = g.core.Judge()
	g.need()
}

// reload makes every process take in a file, some time after it was mounted.
func (w *World) reload(n int) {
	w.say("world", "mounts file %d", n)
	for _, p := range w.up() {
		p.after(span(p.r, 0, 2*time.Second), func() { p.takeIn(n) })
	}
}

// takeIn takes in a file. If the cache lacks what the file needs, nodes and pods are listed again first.
func (p *process) takeIn(n int) {
	g := &p.governance
	if n <= g.file {
		return
	}
	g.file = n
	if g.need() {
		g.listing++
		p.listAgain(func() { g.listing--; p.force() })
		return
	}
	p.force()
}

// listAgain makes the process list nodes and then pods again, and calls the function once both lists are complete.
func (p *process) listAgain(do func()) { p.nodes.listAgain(func() { p.pods.listAgain(do) }) }

// force puts the latest file into force, once the cache has what it needs.
func (p *process) force() {
	if p.governance.listing > 0 {
		return
	}
	n := p.governance.file
	next := p.w.plan.files[n].config
	p.w.counts["Reloads"]++
	p.w.say(p.name, "takes in file %d", n)
	if next.Paused {
		p.dispatcher.step(dispatch.Paused{Paused: true})
	}
	p.dispatcher.step(dispatch.Configured{Rates: next.Guards.Rates, Workers: p.w.plan.workers})
	p.governance.config = next
	p.governance.step(breaker.Reconfigured{Config: next})
	p.dispatcher.step(dispatch.Paused{Paused: next.Paused})
}

// need tells the cache what the judge in force and the latest file need. It reports whether the cache lacks some of it.
func (g *governance) need() (lacks bool) {
	return g.p.feed.Need(g.judge.Needs().Or(g.p.w.plan.files[g.file].config.Set.Needs()))
}

// step passes one input to the core, and carries out its effects.
func (g *governance) step(in breaker.Input) {
	if g.p.dead {
		return
	}
	do := g.core.Step(g.p.Now(), in)
	for _, e := range do.Events {
		g.p.w.say(g.p.name, "breaker %s of %q: tripped %v, %d of %d", e.Trip.Breaker, e.Trip.Group, e.Tripped,
			e.Affected, e.Nodes)
		if e.Tripped {
			g.p.w.counts["Trips"]++
		} else {
			g.p.w.counts["Resets"]++
		}
	}
	if do.Record != nil {
		text, err := json.Marshal(do.Record.Converted(g.p.instant().Late))
		g.p.w.check(err)
		g.p.keeper.put(store.GuardsSet{Text: text})
	}
	if do.Judge != nil {
		g.replaceJudge(*do.Judge)
	}
	next, _ := g.core.Next()
	g.p.wakeBy(&g.timer, next, func() { g.step(breaker.TimePassed{}) })
}

// replaceJudge puts a new judge into force, and has the pods of all nodes judged again. If the cache lacks what the
// judge needs, such as the labels that tell which recorded holds count, nodes and pods are listed again.
func (g *governance) replaceJudge(j policy.Judge) {
	g.judge = j
	if g.need() {
		g.p.listAgain(func() {})
	}
	for i := range g.p.w.plan.nodes {
		g.p.shardOf(nodeName(i)).put(shard.NodeChanged{Name: nodeName(i)})
	}
}

// NodesChanged is called by the cache while breakers are needed. The core gets the changes after this event.
func (p *process) NodesChanged(changes []breaker.NodeChange, all bool) {
	p.governance.changed = p.w.now()
	p.after(0, func() { p.governance.step(breaker.NodesChanged{Changes: changes, All: all}) })
}

// NamespacesChanged is never called: a feed has no namespaces.
func (p *process) NamespacesChanged() {}
