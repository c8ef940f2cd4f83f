package sim

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/evict"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
	"github.com/taint-manager/taint-manager/shard"
)

// slots stand in for the pool of package evict, round the same limiter: slots, slow places, and pauses.
type slots struct {
	*evict.Limiter
	p       *process
	looked  time.Duration // when keptWaiting was last asked
	excused time.Duration // until then, there was a reason to keep any pod waiting

	waits map[types.UID]time.Duration // since when keptWaiting has seen these pods wait
}

func newSlots(p *process) slots {
	plan := p.w.plan
	return slots{Limiter: evict.NewLimiter(plan.workers, plan.places, 0, p.r.Float64), p: p}
}

// may says whether a call may start now, in a slot or in a slow place.
func (s *slots) may(place bool) bool {
	t, _ := s.Enter(s.p.now())
	s.give(t)
	return t.Slot && !place || t.Place && place
}

// wait is how long until more calls may start; 0: when something has changed.
func (s *slots) wait() time.Duration {
	t, wait := s.Enter(s.p.now())
	s.give(t)
	return wait
}

func (s *slots) give(t evict.Ticket) {
	if t.Slot || t.Place {
		s.Leave(t)
	}
}

// nudge lets a probe start soon, as the server was heard of.
func (s *slots) nudge() { s.Nudge(s.p.now()) }

// late moves a call that has lasted for a second to a slow place.
func (f *flight) late() {
	if f.over {
		return
	}
	p := f.p
	p.w.counts.Slow++
	p.w.say(p.name, "call for pod %s is slow", f.e.Pod.UID)
	if p.slots.Late(&f.ticket, f.e.Pod) {
		p.w.counts.KeptSlots++
	}
	p.kick()
}

// waitsForSlowPlace reports whether the shard has something that waits for a slow place, by the workloads
// that are slow now.
func (s *shardRun) waitsForSlowPlace() bool {
	if s.core.WaitingForSlowPlace() == 0 {
		return false
	}
	s.step(shard.SlowChanged{Slow: s.p.slots.Slow()})
	return s.core.WaitingForSlowPlace() > 0
}

// watchSlots looks twice a second whether any pod is kept waiting without a reason.
func (p *process) watchSlots() {
	if p.w.now()-p.slots.looked > time.Second {
		p.slots.excuse() // it was frozen
	}
	p.slots.looked = p.w.now()
	for _, s := range p.shards {
		s.plan() // a workload may have been forgotten
	}
	p.w.check(p.keptWaiting())
	p.after(500*time.Millisecond, p.watchSlots)
}

// excuse notes a reason to keep any pod waiting.
func (s *slots) excuse() { s.excused = s.p.w.now() }

// keptWaiting wants that no pod whose workload is not slow waits for longer than quick calls of all other pods
// take, while no calls pause, and no slow calls hold slots because all slow places are taken.
func (p *process) keptWaiting() error {
	now := p.w.now()
	paused := !p.slots.PausedSince().IsZero() || p.slots.wait() > 10*time.Millisecond
	if !p.started || p.ending || !p.leading() || paused || p.slots.Kept() > 0 {
		p.slots.excuse()
		return nil
	}
	longest := evict.SlowAfter * time.Duration(2+p.w.plan.pods()/p.w.plan.workers)
	before, seen := p.slots.waits, map[types.UID]time.Duration{}
	p.slots.waits = seen
	for _, s := range p.shards {
		for _, v := range s.core.Views(p.now()) {
			waits := v.State == eviction.Due || v.State == eviction.Delayed
			if !waits || v.SlowPlace || v.Next.After(p.now()) {
				continue
			}
			since, ok := before[v.Pod.UID]
			if !ok {
				since = now // a deadline that is learned late may have passed long ago
			}
			seen[v.Pod.UID] = since
			if since = max(p.clock.moment(v.Next), since, p.slots.excused); now-since > longest {
				return &oracle.Violation{Rule: oracle.KeptWaiting, Text: fmt.Sprintf(
					"%s keeps pod %s waiting for %v, with %d calls under way", p.name, v.Pod.UID, now-since, p.slots.InFlight())}
			}
		}
	}
	return nil
}
