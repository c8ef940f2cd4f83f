package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// waits judges for how long the evictions of a process wait for their turn, by what its calls have shown.
type waits struct {
	p      *process
	looked time.Duration               // when watch was last called
	since  map[types.UID]time.Duration // since when watch has seen these pods wait without a reason
	// by namespace: when its last slow call, and its last quick answer of admission came
	slow, quick map[string]time.Duration
}

// remembered is for how long a call predicts the calls of its namespace. A call that has lasted for maybeSlow may be
// slow.
const (
	remembered = 2 * time.Minute
	maybeSlow  = dispatch.SlowAfter - time.Millisecond
)

// ended notes a call that has ended.
func (w *waits) ended(f *flight, o *eviction.Outcome) {
	namespace, now := f.e.Pod.Namespace, w.p.w.now()
	switch {
	case now-f.began >= maybeSlow:
		w.p.w.counts["Slow"]++
		w.slow[namespace] = now
	case o.Kind == eviction.Accepted, o.Kind == eviction.Blocked, o.Cause == eviction.CauseAdmission,
		o.Cause == eviction.CauseWebhook:
		w.quick[namespace] = now
	}
}

// calls returns how many calls have been under way for this long; of one namespace, or of all if that is empty.
func (w *waits) calls(namespace string, lasting time.Duration) (n int) {
	for _, f := range w.p.flights {
		if (namespace == "" || f.e.Pod.Namespace == namespace) && w.p.w.now()-f.began >= lasting {
			n++
		}
	}
	return n
}

// isSlow reports whether a call of the namespace is slow, or was within what is remembered.
func (w *waits) isSlow(namespace string) bool {
	ended, was := w.slow[namespace]
	return w.calls(namespace, maybeSlow) > 0 || was && w.p.w.now() <= ended+remembered+slip
}

// isQuick reports whether admission has answered a call of the namespace quickly within what is remembered, and longer.
func (w *waits) isQuick(namespace string, longer time.Duration) bool {
	answered, was := w.quick[namespace]
	return was && w.p.w.now() < answered+remembered+longer
}

// watch checks twice a second whether any pod waits without a reason.
func (w *waits) watch() {
	const every = 500 * time.Millisecond
	if p := w.p; p.w.now()-w.looked > every || !p.started || p.ending || !p.leading() { // it is late if it was frozen
		w.since = nil
	} else {
		p.w.check(w.judge())
	}
	w.looked = w.p.w.now()
	w.p.after(every, w.watch)
}

// judge judges all pods that wait.
func (w *waits) judge() error {
	before := w.since
	w.since = map[types.UID]time.Duration{}
	for _, s := range w.p.shards {
		for _, v := range s.core.Views(w.p.Now()) {
			if err := w.judgeOne(&v, before); err != nil {
				return err
			}
		}
	}
	return nil
}

// judgeOne requires that a pod that is due is not kept waiting by slow calls of other namespaces, and that no slot is
// free that it may use. Slow calls hold slots while all slow places are taken, and those of slow namespaces hold half
// of the slots at most.
func (w *waits) judgeOne(v *eviction.View, before map[types.UID]time.Duration) error {
	p, uid, namespace, now := w.p, v.Pod.UID, v.Pod.Namespace, w.p.w.now()
	plan, slow := p.w.plan, w.isSlow(namespace)
	slots := plan.workers - max(0, w.calls("", maybeSlow)-plan.places)
	if slow {
		slots -= plan.workers / 2
	}
	due := v.State == eviction.Due || v.State == eviction.Delayed
	switch cause := v.Waits.Cause; {
	case cause == eviction.WaitsForRate:
		p.w.counts["RateWaits"]++
		return nil
	case !due || v.Next.After(p.Now()) || slots <= 0:
		return nil
	case cause == eviction.WaitsForSlowPlace && !slow:
		return broken(oracle.KeptWaiting, "%s keeps pod %s waiting for a slow place, and no call of its namespace was slow", p.name, uid)
	case cause != "" && cause != eviction.WaitsForTurn:
		return nil
	}
	since, seen := before[uid]
	if !seen {
		since = now // a deadline that becomes known late may have passed long ago
	}
	w.since[uid] = since
	waits := now - max(p.clock.moment(v.Next), since)
	if longest := dispatch.SlowAfter * time.Duration(1+podNames/slots); waits > longest || waits > mayPoll && !slow &&
		w.free(namespace) {
		return broken(oracle.KeptWaiting, "%s keeps pod %s waiting for %v, with %d calls under way, %d of them slow",
			p.name, uid, waits, len(p.flights), w.calls("", maybeSlow))
	}
	return nil
}

// mayPoll is longer than the time for which no call starts after this process did not lead for a moment.
const mayPoll = 300 * time.Millisecond

// free reports whether a slot is free that a namespace may use which is not slow: one at a time until admission has
// answered quickly.
func (w *waits) free(namespace string) bool {
	inSlots := len(w.p.flights) - min(w.calls("", dispatch.SlowAfter+slip), w.p.w.plan.places)
	return inSlots < w.p.w.plan.workers && (w.isQuick(namespace, -slip) || w.calls(namespace, 0) == 0)
}
