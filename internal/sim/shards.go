package sim

import (
	"cmp"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// shardRun stands in for the goroutine of a shard: it passes events from an inbox, the timer and outcomes to the core,
// node updates first. The order of the others is drawn.
type shardRun struct {
	p     *process
	core  *shard.Core
	nodes []string
	pods  []types.UID
	ended []dispatch.Ended
	next  time.Duration // when it looks again; never if nothing is scheduled
}

// never is the moment of what is not scheduled, or has not happened.
const never = time.Duration(1<<63 - 1)

func (p *process) newShard() *shardRun {
	s := &shardRun{p: p, next: never}
	s.core = shard.NewCore(shard.CoreOptions{
		Reader: reader{p}, Judge: p.governance.judge, Dispatcher: p.dispatcher, Done: s.callEnded,
		Jitter: p.r.Float64,
	})
	return s
}

// method returns the method of pairs that no policy decides.
func (p *plan) method() policy.Method {
	if p.evict {
		return policy.Evict
	}
	return policy.Delete
}

// reader reads the cache in an order that depends only on the seed.
type reader struct{ p *process }

func (r reader) Pod(uid types.UID) (*taint.Pod, *taint.Node) { return r.p.feed.Pod(uid) }

func (r reader) PodsOn(name string) (*taint.Node, []*taint.Pod) {
	node, pods := r.p.feed.PodsOn(name)
	slices.SortFunc(pods, func(a, b *taint.Pod) int { return cmp.Compare(a.UID, b.UID) })
	return node, pods
}

func (s *shardRun) nodeChanged(name string) {
	if !slices.Contains(s.nodes, name) {
		s.nodes = append(s.nodes, name)
	}
	s.soon()
}

func (s *shardRun) podChanged(uid types.UID) {
	if !slices.Contains(s.pods, uid) {
		s.pods = append(s.pods, uid)
	}
	s.soon()
}

func (s *shardRun) callEnded(e dispatch.Ended) {
	s.ended = append(s.ended, e)
	s.soon()
}

// behind reports whether the shard has not processed all events of the pod and of its node.
func (s *shardRun) behind(pod *taint.Pod) bool {
	return slices.Contains(s.pods, pod.UID) || slices.Contains(s.nodes, pod.Node)
}

// busy reports whether the shard has any event to process.
func (s *shardRun) busy() bool { return len(s.nodes)+len(s.pods)+len(s.ended) > 0 }

// soon makes the shard look within some milliseconds.
func (s *shardRun) soon() {
	most := time.Millisecond
	if s.p.r.IntN(20) == 0 {
		most = 50 * time.Millisecond
	}
	s.wake(s.p.w.now() + span(s.p.r, 0, most))
}

// wake makes the shard look at a moment, unless it looks before that.
func (s *shardRun) wake(at time.Duration) {
	if at >= min(s.next, oracle.Far) || !s.p.started {
		return
	}
	s.next = at
	s.p.after(at-s.p.w.now(), func() {
		if s.next == at {
			s.look()
		}
	})
}

// look processes all node updates and one other event, and schedules the next look.
func (s *shardRun) look() {
	s.next = never
	s.drainNodes()
	s.one()
	if s.busy() {
		s.soon()
		return
	}
	s.p.settle()
	s.plan()
}

// one processes one event, drawn from those that are ready.
func (s *shardRun) one() {
	ready := make([]func(), 0, 3)
	if len(s.pods) > 0 {
		ready = append(ready, s.pod)
	}
	if len(s.ended) > 0 {
		ready = append(ready, s.end)
	}
	if at, ok := s.core.Next(); ok && !at.After(s.p.now()) {
		ready = append(ready, func() { s.step(shard.TimePassed{}) })
	}
	if len(ready) > 0 {
		ready[s.p.r.IntN(len(ready))]()
	}
}

// plan makes the shard look at the next deadline.
func (s *shardRun) plan() {
	if at, ok := s.core.Next(); ok {
		s.wake(max(s.p.clock.moment(at), s.p.w.now()))
	}
}

func (s *shardRun) drainNodes() {
	for len(s.nodes) > 0 {
		s.step(shard.NodeChanged{Name: s.nodes[0]})
		s.nodes = s.nodes[1:]
	}
}

func (s *shardRun) pod() {
	s.step(shard.PodChanged{UID: s.pods[0]})
	s.pods = s.pods[1:]
}

func (s *shardRun) end() {
	ended := s.ended[0]
	s.ended = s.ended[1:]
	s.p.w.say(s.p.name, "call for pod %s ended: %s %s", ended.Request.Pod.UID, ended.Outcome.Kind.String(),
		ended.Outcome.Cause)
	s.step(shard.CallEnded{Ended: ended})
}

func (s *shardRun) step(in shard.Input) {
	s.p.w.counts.Steps++
	do := s.core.Step(s.p.now(), in)
	for _, note := range do.Notes {
		s.p.w.say(s.p.name, "reports pod %s: %s, %v", note.Pod.UID, note.Kind.String(), note.Verdict)
		switch note.Kind {
		case eviction.EvictionCancelled:
			s.p.w.counts.Cancelled++
		case eviction.EvictionDelayed:
			s.p.w.counts.Delayed++
		case eviction.EvictionHeld:
			s.p.w.counts.Holds++
		}
	}
}

// settle has the oracle judge the state of the process once all shards have processed their events.
func (p *process) settle() {
	if p.w.oracle.Governed {
		return
	}
	for _, s := range p.shards {
		if s.busy() {
			return
		}
	}
	known := 0
	err := p.observer.Settled(p.w.now(), func(uid types.UID) oracle.Held {
		h := p.holds(uid)
		if h.Queued {
			known++
		}
		return h
	})
	p.w.check(err)
	queued := p.dispatcher.Waiting()
	for _, s := range p.shards {
		queued += s.core.Scheduled()
	}
	p.w.counts.Scheduled = max(p.w.counts.Scheduled, queued)
	if err == nil && queued != known {
		p.w.check(broken(oracle.Empty, "%s holds pods that are gone", p.name))
	}
}

// holds returns the state that the process has of a pod.
func (p *process) holds(uid types.UID) (held oracle.Held) {
	for _, s := range p.shards {
		h := s.core.Tracked(uid)
		held.Calling = held.Calling || h.Calling
		held.Accepted = held.Accepted || h.Accepted
		if h.Queued {
			held.Queued, held.Deadline, held.At = true, p.clock.moment(h.Deadline), p.clock.moment(h.At)
		}
	}
	return held
}
