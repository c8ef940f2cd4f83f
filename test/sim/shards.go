package sim

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/cluster"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/taint"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// shardRun stands in for the goroutine of a shard: it passes inputs from an inbox, and the timer, to the core. Changes
// of nodes come first; the order of the other inputs is drawn.
type shardRun struct {
	p     *process
	core  *shard.Core
	inbox []shard.Input
	next  time.Duration // when it works again; never if nothing is scheduled
}

// never is the moment of what is not scheduled, or has not happened.
const never = time.Duration(1<<63 - 1)

func (p *process) newShard() *shardRun {
	s := &shardRun{p: p, next: never}
	s.core = shard.NewCore(shard.CoreOptions{
		Reader: reader{p.feed}, Judge: func() policy.Judge { return p.governance.judge }, Dispatcher: p.dispatcher,
		Jitter: p.r.Float64,
	})
	return s
}

// reader reads the cache in an order that depends only on the seed.
type reader struct{ *cluster.Feed }

func (r reader) PodsOn(name string) (*taint.Node, []*taint.Pod) {
	node, pods := r.Feed.PodsOn(name)
	slices.SortFunc(pods, func(a, b *taint.Pod) int { return cmp.Compare(a.UID, b.UID) })
	return node, pods
}

// put puts an input into the inbox. Changes of one node, or of one pod, collapse.
func (s *shardRun) put(in shard.Input) {
	if !slices.Contains(s.inbox, in) {
		s.inbox = append(s.inbox, in)
	}
	s.soon()
}

// behind reports whether the shard has not processed all events of the pod and of its node.
func (s *shardRun) behind(pod *taint.Pod) bool {
	return slices.Contains(s.inbox, shard.Input(shard.PodChanged{UID: pod.UID})) ||
		slices.Contains(s.inbox, shard.Input(shard.NodeChanged{Name: pod.Node}))
}

// soon makes the shard work within some milliseconds.
func (s *shardRun) soon() {
	most := time.Millisecond
	if s.p.r.IntN(20) == 0 {
		most = 50 * time.Millisecond
	}
	s.wake(s.p.w.now() + span(s.p.r, 0, most))
}

// wake makes the shard work at a moment, unless it works before that.
func (s *shardRun) wake(at time.Duration) {
	if at < s.next && s.p.started {
		s.p.wake(&s.next, at, s.work)
	}
}

// work processes all changes of nodes and one other input, and schedules what follows.
func (s *shardRun) work() {
	slices.SortStableFunc(s.inbox, func(a, b shard.Input) int { return cmp.Compare(turnOf(a), turnOf(b)) })
	for len(s.inbox) > 0 && turnOf(s.inbox[0]) < otherTurn {
		s.take(0)
	}
	if at, ok := s.core.Next(); ok && !at.After(s.p.Now()) && s.p.r.IntN(len(s.inbox)+1) == 0 {
		s.step(shard.TimePassed{})
	} else if len(s.inbox) > 0 {
		s.take(s.p.r.IntN(len(s.inbox)))
	}
	if len(s.inbox) > 0 {
		s.soon()
		return
	}
	s.p.settle()
	if at, ok := s.core.Next(); ok {
		s.wake(max(s.p.clock.moment(at), s.p.w.now()))
	}
}

// otherTurn comes after the turns of all nodes.
const otherTurn = "1"

// turnOf returns the key that sorts an input: nodes first, and all in an order that depends only on the seed.
func turnOf(in shard.Input) string {
	switch in := in.(type) {
	case shard.NodeChanged:
		return "0" + in.Name
	case shard.PodChanged:
		return otherTurn + string(in.UID)
	}
	return otherTurn
}

// take processes an input. It stays in the inbox meanwhile.
func (s *shardRun) take(i int) {
	s.step(s.inbox[i])
	s.inbox = slices.Delete(s.inbox, i, i+1)
}

func (s *shardRun) step(in shard.Input) {
	do := s.core.Step(s.p.Now(), in)
	for _, h := range do.Holds {
		s.p.governance.step(breaker.PodsHeld{Policy: h.Policy, Pods: h.Pods})
	}
	for _, note := range do.Notes {
		s.p.w.say(s.p.name, "reports pod %s: %s, %v", note.Pod.UID, note.Kind.String(), note.Verdict)
		switch note.Kind {
		case eviction.EvictionCancelled:
			s.p.w.counts["Cancelled"]++
		case eviction.EvictionStuck:
			s.p.w.counts["Delayed"]++
		case eviction.EvictionHeld:
			s.p.w.counts["Holds"]++
		}
	}
}

// settle has the oracle judge the state of the process once all shards have processed their events.
func (p *process) settle() {
	if slices.ContainsFunc(p.shards, func(s *shardRun) bool { return len(s.inbox) > 0 }) {
		return
	}
	queued, held := p.dispatcher.Waiting(), map[types.UID]oracle.Held{}
	for _, s := range p.shards {
		queued += s.core.Scheduled()
		maps.Copy(held, heldBy(s.core, p.clock, p.Now()))
	}
	p.w.check(p.observer.Settled(p.w.now(), queued, held))
}

// heldBy returns the state that a shard has of each pod, as the shard's views show it.
func heldBy(core *shard.Core, c *clock, now time.Time) map[types.UID]oracle.Held {
	held := map[types.UID]oracle.Held{}
	for _, v := range core.Views(now) {
		h := oracle.Held{Calling: v.State == eviction.StateInFlight, Accepted: v.State == eviction.StateTerminating}
		if h.Queued = !h.Calling && !h.Accepted && v.State != eviction.StateHeld; h.Queued {
			h.Deadline, h.At = c.moment(v.Verdict.At), c.moment(v.Next)
			if v.Waits.Cause == eviction.WaitsForRate {
				h.At = h.Deadline // the rate may be slow
			}
		}
		held[v.Pod.UID] = h
	}
	return held
}
