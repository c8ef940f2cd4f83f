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

// slots stands in for the pool of package evict, with the same limiter: slots, slow places, and pauses.
type slots struct {
	*evict.Limiter
	p       *process
	looked  time.Duration // when keptWaiting was last called
	excused time.Duration // before that moment, any pod had a reason to wait

	waits map[types.UID]time.Duration // since when keptWaiting has seen these pods wait
}

func newSlots(p *process) slots {
	plan := p.w.plan
	return slots{Limiter: evict.NewLimiter(plan.workers, plan.places, 0, p.r.Float64), p: p}
}

// may reports whether a call may start now, in a slot or in a slow place.
func (s *slots) may(place bool) bool {
	t, _ := s.Enter(s.p.now())
	s.give(t)
	return t.Slot && !place || t.Place && place
}

// wait returns the time until more calls may start; 0 means that only a change permits more.
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

// nudge makes a probe start soon, because the server has answered.
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

// waitsForSlowPlace reports whether an eviction of the shard waits for a slow place, by the workloads that are slow
// now.
func (s *shardRun) waitsForSlowPlace() bool {
	if s.core.WaitingForSlowPlace() == 0 {
		return false
	}
	s.step(shard.SlowChanged{Slow: s.p.slots.Slow()})
	return s.core.WaitingForSlowPlace() > 0
}

// watchSlots checks twice a second whether any pod waits without a reason.
func (p *process) watchSlots() {
	if p.w.now()-p.slots.looked > time.Second {
		p.slots.excuse() // the process was frozen
	}
	p.slots.looked = p.w.now()
	for _, s := range p.shards {
		s.plan() // a workload may no longer be slow
	}
	p.w.check(p.keptWaiting())
	p.after(500*time.Millisecond, p.watchSlots)
}

// excuse notes that any pod may have a reason to wait now.
func (s *slots) excuse() { s.excused = s.p.w.now() }

// keptWaiting requires that no pod whose workload is not slow waits for longer than quick calls for all other pods
// take, unless calls pause or slow calls hold slots because all slow places are taken.
func (p *process) keptWaiting() error {
	now := p.w.now()
	paused := !p.slots.PausedSince().IsZero() || p.slots.wait() > 10*time.Millisecond
	if p.w.oracle.Governed || !p.started || p.ending || !p.leading() || paused || p.slots.Kept() > 0 {
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
				since = now // a deadline that becomes known late may have passed long ago
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
