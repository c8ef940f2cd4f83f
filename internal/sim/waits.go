package sim

import (
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// waits judges for how long the evictions of a process wait for their turn.
type waits struct {
	p       *process
	looked  time.Duration               // when watch was last called
	excused time.Duration               // before that moment, any pod had a reason to wait
	since   map[types.UID]time.Duration // since when watch has seen these pods wait
	slow    map[string]time.Duration    // when the last slow call of a namespace ended
}

// ended notes a call that has ended.
func (w *waits) ended(f *flight) {
	if f.slow() {
		w.p.w.counts.Slow++
		w.slow[f.e.Pod.Namespace] = w.p.w.now()
	}
}

// remembered is for how long a slow call predicts the calls of its namespace.
const remembered = 2 * time.Minute

// isSlow reports whether a call of the namespace is slow, or was lately.
func (w *waits) isSlow(namespace string) bool {
	for _, f := range w.p.flights {
		if f.slow() && f.e.Pod.Namespace == namespace {
			return true
		}
	}
	ended, was := w.slow[namespace]
	return was && w.p.w.now() <= ended+remembered+slip
}

// watch checks twice a second whether any pod waits without a reason.
func (w *waits) watch() {
	if now := w.p.w.now(); now-w.looked > time.Second {
		w.excuse() // the process was frozen
	}
	w.looked = w.p.w.now()
	w.p.w.check(w.judge())
	w.p.after(500*time.Millisecond, w.watch)
}

// excuse notes that any pod may have a reason to wait now.
func (w *waits) excuse() { w.excused = w.p.w.now() }

// judge requires that no pod waits for its turn for longer than quick calls for all other pods take.
func (w *waits) judge() error {
	p, before := w.p, w.since
	w.since = map[types.UID]time.Duration{}
	if !p.started || p.ending || !p.leading() {
		w.excuse()
		return nil
	}
	for _, s := range p.shards {
		for _, v := range s.core.Views(p.now()) {
			if err := w.judgeOne(&v, before); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *waits) judgeOne(v *eviction.View, before map[types.UID]time.Duration) error {
	p, now := w.p, w.p.w.now()
	slots := p.w.plan.workers - max(0, p.dispatcher.Slow()-p.w.plan.places)
	slow := w.isSlow(v.Pod.Namespace)
	if slow {
		slots -= p.w.plan.workers / 2
	}
	switch v.Waits.Cause {
	case eviction.WaitsForRate:
		p.w.counts.RateWaits++
		return nil
	case eviction.WaitsForSlowPlace:
		if !slow {
			return broken(oracle.KeptWaiting, "%s keeps pod %s waiting for a slow place, and no call of its namespace was slow", p.name, v.Pod.UID)
		}
		return nil
	case eviction.WaitsForServer, eviction.WaitsPaused:
		return nil
	}
	waits := v.State == eviction.Due || v.State == eviction.Delayed
	if !waits || v.Next.After(p.now()) || slots <= 0 {
		return nil
	}
	since, ok := before[v.Pod.UID]
	if !ok {
		since = now // a deadline that becomes known late may have passed long ago
	}
	w.since[v.Pod.UID] = since
	since = max(p.clock.moment(v.Next), since, w.excused)
	longest := dispatch.SlowAfter * time.Duration(2+p.w.plan.pods()/slots)
	if now-since > longest {
		return &oracle.Violation{Rule: oracle.KeptWaiting, Text: fmt.Sprintf(
			"%s keeps pod %s waiting for %v, with %d calls under way, slow %v, slots %d of %d", p.name, v.Pod.UID, now-since, p.dispatcher.InFlight(), slow, slots, p.w.plan.workers)}
	}
	return nil
}
