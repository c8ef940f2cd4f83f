package sim

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"k8s.io/apimachinery/pkg/watch"
	"k8s.io/client-go/tools/cache"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/internal/journal"
	"github.com/taint-manager/taint-manager/internal/journal/store"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/internal/skew"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// process is one run of the manager, from its start to its end.
type process struct {
	w        *World
	replica  int
	name     string
	r        *rand.Rand
	clock    *clock
	skew     skew.Interval // between the clock and the API server's, as far as the process knows it
	observer *oracle.Process
	dead     bool
	ending   bool          // it takes no new work
	frozen   time.Duration // the process does nothing before this moment
	putOff   []func()      // what the process does at that moment

	feed        *cluster.Feed
	nodes, pods *stream
	shards      []*shardRun
	started     bool // it judges

	evictor *evict.Confirmed
	flights []*flight
	turn    *flight        // the call whose requests the client sends now
	gets    map[string]get // of each node: the last one that was answered

	dispatcher dispatcher
	timer      time.Duration // when the dispatcher has a step due

	term    context.Context // of the period of leadership; nil while it does not lead
	cutTerm context.CancelFunc
	renewed time.Time // when the lease was last renewed
	keeper  keeper

	governance governance
}

func (w *World) start(replica int) {
	w.runs[replica]++
	name := fmt.Sprintf("r%d#%d", replica, w.runs[replica])
	p := &process{
		w: w, replica: replica, name: name, clock: newClock(w.now(), w.clocks[replica]),
		gets: map[string]get{}, timer: never,
	}
	p.r = p.rand(0)
	p.observer = w.oracle.Started(name, p.clock.ahead)
	p.asksTheTime()
	w.processes[replica] = p
	p.feed = cluster.NewFeed(taint.Rules{}, p, p.Now)
	p.feed.SetAhead(p.skew.Ahead)
	p.govern()
	p.dispatcher = p.newDispatcher()
	for range w.plan.shards {
		p.shards = append(p.shards, p.newShard())
	}
	p.connectEvictor()
	p.nodes = &stream{w: w, p: p, r: p.rand(1), what: "nodes"}
	p.pods = &stream{w: w, p: p, r: p.rand(2), what: "pods", pods: true}
	p.nodes.later(span(p.r, 0, 20*time.Millisecond), p.nodes.connect)
	p.pods.later(span(p.r, 0, 20*time.Millisecond), p.pods.connect)
	p.keeper = newKeeper(p)
	p.after(span(p.r, 0, time.Second), p.elect)
}

// rand returns a random source for one part of the process.
func (p *process) rand(part int) *rand.Rand {
	return p.w.rand(uint64(100 + 1000*p.replica + 10*p.w.runs[p.replica] + part))
}

// asksTheTime gives the process the API server's time by some answers that it received just before its start.
func (p *process) asksTheTime() {
	r := p.rand(3)
	for n := 1 + r.IntN(4); n > 0; n-- {
		sent := p.w.now() - time.Duration(n)*time.Second + span(r, 0, 500*time.Millisecond)
		received := sent + span(r, 0, pick(r, 5*time.Millisecond, 400*time.Millisecond))
		date := p.w.server.at(span(r, sent, received)).Truncate(time.Second)
		if n%2 == 0 {
			date = date.Add(p.w.plan.apart) // another API server answers
		}
		p.skew = p.skew.Answered(date, p.clock.at(sent), p.clock.at(received))
	}
	least, most := p.skew.Ahead(p.Now())
	p.w.say(p.name, "starts; its clock is ahead of the API server's by %v, as far as it knows by %v to %v",
		p.clock.ahead-p.w.oracle.ServerAhead, least, most)
	if least > 0 {
		p.w.counts["Ahead"]++
	}
}

// instant returns the present moment, with what the process knows of the API server's clock.
func (p *process) instant() skew.Instant { return skew.Ahead(p.skew.Ahead).At(p.Now()) }

// after schedules a function that the process runs later, if it still runs then, and not while it is frozen.
func (p *process) after(d time.Duration, do func()) {
	p.w.after(d, func() { p.run(do) })
}

func (p *process) run(do func()) {
	switch {
	case p.dead:
	case p.frozen > p.w.now():
		p.putOff = append(p.putOff, do)
	default:
		do()
	}
}

// wakeBy makes the process run the function at that time of its clock; the zero time means never.
func (p *process) wakeBy(timer *time.Duration, next time.Time, do func()) {
	at := never
	if !next.IsZero() {
		at = max(p.clock.moment(next), p.w.now())
	}
	p.wake(timer, at, do)
}

// wake makes the process run the function at a moment, and not at the moment that the timer had before.
func (p *process) wake(timer *time.Duration, at time.Duration, do func()) {
	if at == *timer {
		return
	}
	*timer = at
	if at < oracle.Far {
		p.after(at-p.w.now(), func() {
			if *timer == at {
				*timer = never
				do()
			}
		})
	}
}

func (p *process) freeze(lasts time.Duration) {
	p.frozen = max(p.frozen, p.w.now()+lasts)
	p.w.at(p.frozen, p.thaw)
}

// thaw runs what the process has put off, unless it is still frozen.
func (p *process) thaw() {
	if p.frozen > p.w.now() {
		return
	}
	all := p.putOff
	p.putOff = nil
	for _, do := range all {
		p.run(do)
	}
}

func (p *process) die() {
	p.dead = true
	p.endTerm()
	for _, f := range p.flights {
		f.drop()
	}
	p.flights = nil
	p.w.processes[p.replica] = nil
}

// stop ends the process as SIGTERM does: it takes no new work, lets calls end, writes the journal, and gives the
// lease back.
func (p *process) stop() {
	p.ending = true
	p.stopped(p.w.now() + 30*time.Second)
}

// stopped waits for the calls under way, up to a moment.
func (p *process) stopped(bound time.Duration) {
	if len(p.flights) > 0 && p.w.now() < bound {
		p.after(100*time.Millisecond, func() { p.stopped(bound) })
		return
	}
	p.keeper.put(store.Flush{})
	p.after(50*time.Millisecond, func() {
		p.release()
		p.w.say(p.name, "ends")
		p.die()
	})
}

// NodeChanged is called by the cache.
func (p *process) NodeChanged(name string) { p.shardOf(name).put(shard.NodeChanged{Name: name}) }

// RecordChanged is called by the cache.
func (p *process) RecordChanged(name string) {
	p.keeper.put(store.NodesChanged{Partition: journal.PartitionOf(name)})
}

// PodChanged is called by the cache.
func (p *process) PodChanged(uid types.UID, node string) {
	p.shardOf(node).put(shard.PodChanged{UID: uid})
}

func (p *process) shardOf(node string) *shardRun { return p.shards[shard.Index(node, len(p.shards))] }

// shown passes an event of a watch to the oracle and to the cache.
func (p *process) shown(w *written, event watch.EventType) {
	p.w.say(p.name, "sees %s %v", event, w)
	now, gone := p.w.now(), event == watch.Deleted
	store, object := p.feed.Nodes(), any(w.node)
	switch {
	case w.pod != nil:
		store, object = p.feed.Pods(), w.pod
		p.observer.WatchedPod(now, w.pod, gone)
	default:
		p.observer.WatchedNode(now, w.node, gone)
	}
	if gone {
		must(store.Delete(object))
		return
	}
	must(store.Update(object))
}

// listed passes a list to the cache, whole or trimmed as a streamed list is.
func listed[T any](s *stream, to cache.TransformingStore, list []T, version string) {
	p := s.p
	p.w.say(p.name, "lists %d %s:", len(list), s.what)
	trimmed, items := s.r.IntN(2) == 0, make([]any, len(list))
	for i := range list {
		p.w.say(p.name, "  %v", shown{list[i]})
		if items[i] = list[i]; trimmed {
			items[i], _ = to.Transformer()(list[i]) // never fails
		}
	}
	must(to.Replace(items, version))
	p.mayBegin()
}

// mayBegin starts judging once the first lists have arrived.
func (p *process) mayBegin() {
	if p.started || !p.feed.HasSynced() {
		return
	}
	p.started = true
	p.keeper.synced()
	p.governance.step(breaker.Ready{Journaled: p.keeper.journaled})
	for _, s := range p.shards {
		s.soon()
	}
}

// must panics if the cache fails, which it never does.
func must(err error) {
	if err != nil {
		panic(err)
	}
}
