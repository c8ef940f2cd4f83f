package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// waits judge for how long the evictions of a process wait for their turn, by what its calls have shown. Whose turn it
// is, is tested in package dispatch.
type waits struct {
	p       *process
	checked time.Duration               // when check was last called
	since   map[types.UID]time.Duration // since when check has found that these pods wait
	slow    map[string]time.Duration    // by namespace: when its last slow call ended
}

// remembered is for how long a slow call predicts the calls of its namespace. A call that has lasted for maybeSlow may
// be slow.
const (
	remembered = 2 * time.Minute
	maybeSlow  = dispatch.SlowAfter - time.Millisecond
)

// ended notes that a call has ended.
func (w *waits) ended(f *flight) {
	if now := w.p.w.now(); now-f.began >= maybeSlow {
		w.p.w.counts["Slow"]++
		w.slow[f.e.Pod.Namespace] = now
	}
}

// isSlow reports whether a call of the namespace is slow, or was within what is remembered.
func (w *waits) isSlow(namespace string) bool {
	ended, was := w.slow[namespace]
	return w.slowCalls(namespace) > 0 || was && w.p.w.now() <= ended+remembered+slip
}

// slowCalls returns how many calls under way may be slow; of one namespace, or of all if that is empty.
func (w *waits) slowCalls(namespace string) (n int) {
	for _, f := range w.p.flights {
		if (namespace == "" || f.e.Pod.Namespace == namespace) && w.p.w.now()-f.began >= maybeSlow {
			n++
		}
	}
	return n
}

// check evaluates twice a second all pods that wait.
func (w *waits) check() {
	const every = 500 * time.Millisecond
	p, before := w.p, w.since
	w.since = map[types.UID]time.Duration{}
	if p.w.now()-w.checked <= every && p.started && !p.ending && p.leading() { // it is late if it was frozen
		for _, s := range p.shards {
			for _, v := range s.core.Views(p.Now()) {
				p.w.check(w.evaluate(&v, before))
			}
		}
	}
	w.checked = p.w.now()
	p.after(every, w.check)
}

// evaluate requires that a pod that is due is not kept waiting by slow calls of other namespaces. Slow calls hold slots
// while all slow places are taken, and those of slow namespaces hold half of the slots at most.
func (w *waits) evaluate(v *eviction.View, before map[types.UID]time.Duration) error {
	p, uid, slow := w.p, v.Pod.UID, w.isSlow(v.Pod.Namespace)
	slots := p.w.plan.workers - max(0, w.slowCalls("")-p.w.plan.places)
	if slow {
		slots -= p.w.plan.workers / 2
	}
	switch cause := v.Waits.Cause; {
	case cause == eviction.WaitsForRate:
		p.w.counts["RateWaits"]++
		return nil
	case v.State != eviction.Due && v.State != eviction.Delayed || v.Next.After(p.Now()) || slots <= 0:
		return nil
	case cause == eviction.WaitsForSlowPlace && !slow:
		return oracle.Broken(oracle.KeptWaiting,
			"%s keeps pod %s waiting for a slow place, and no call of its namespace was slow", p.name, uid)
	case cause != "" && cause != eviction.WaitsForTurn:
		return nil
	}
	since, found := before[uid]
	if !found {
		since = p.w.now() // a deadline that becomes known late may have passed long ago
	}
	w.since[uid] = since
	waits := p.w.now() - max(p.clock.moment(v.Next), since)
	if waits > dispatch.SlowAfter*time.Duration(1+podNames/slots) {
		return oracle.Broken(oracle.KeptWaiting, "%s keeps pod %s waiting for %v, with %d calls under way, %d of them slow",
			p.name, uid, waits, len(p.flights), w.slowCalls(""))
	}
	return nil
}
