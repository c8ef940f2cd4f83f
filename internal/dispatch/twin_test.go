package dispatch

import (
	"fmt"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
)

// twin knows who waits, which calls are in flight and which namespace was served when, and looks at all of them.
type twin struct {
	n       int
	rates   *Rates
	waiting map[types.UID]Candidate
	calls   map[types.UID]twinCall
	served  map[string]int // by namespace, since it has candidates or calls
	turn    int
	ramp    time.Time // when the first call began after none was in flight
}

type twinCall struct {
	Candidate
	tokens  Buckets
	started time.Time
}

func (t *twin) inflight(namespace string) (n int) {
	for _, k := range t.calls {
		if k.Namespace == namespace {
			n++
		}
	}
	return n
}

// placeIsFree is rule 1.
func (t *twin) placeIsFree(now time.Time) bool {
	young, all := 0, len(t.calls)
	for _, k := range t.calls {
		if now.Sub(k.started) < time.Second {
			young++
		}
	}
	return young < t.n && all < 3*t.n && (all < 4 || !t.ramp.Add(time.Duration(all-3)*rampStep).After(now))
}

// queueOf names the tokens that a candidate needs, whether each request needs some, and which has them; -1: none.
func (t *twin) queueOf(now time.Time, c *Candidate) (name string, rated bool, request int) {
	rated, request = true, -1
	for i := range c.Requests {
		b := t.rates.BucketsOf(c.Requests[i].Verdict.Taint.Key, c.NodeLabels)
		name += b.Key + ";"
		rated = rated && b.Key != ""
		if rate, _ := b.Wait(now); rate == "" && request < 0 {
			request = i
		}
	}
	return name, rated, request
}

// mayStart returns the candidates of whom one is to start now: those of the namespace whose turn it is, of each node
// and queue the first.
func (t *twin) mayStart(now time.Time) (may []Candidate) {
	if !t.placeIsFree(now) {
		return nil
	}
	var free, rated []Candidate
	for _, c := range t.waiting {
		_, needs, request := t.queueOf(now, &c)
		switch {
		case request < 0 || 2*t.inflight(c.Namespace) >= 3*t.n-len(t.calls):
		case needs:
			rated = t.firsts(append(rated, c), func(c Candidate) []int { return []int{t.served[c.Namespace]} })
		default:
			free = t.firsts(append(free, c), t.rule2)
		}
	}
	return slices.DeleteFunc(t.firsts(append(free, rated...), t.rule2), func(c Candidate) bool { return !t.isNext(now, c) })
}

// rule2 is what namespaces are compared by.
func (t *twin) rule2(c Candidate) []int {
	return []int{t.inflight(c.Namespace), min(c.Requests[0].Attempt, 2), t.served[c.Namespace]}
}

// firsts returns those with the least key.
func (t *twin) firsts(all []Candidate, key func(Candidate) []int) []Candidate {
	return slices.DeleteFunc(slices.Clone(all), func(c Candidate) bool {
		return slices.ContainsFunc(all, func(o Candidate) bool { return slices.Compare(key(o), key(c)) < 0 })
	})
}

// isNext reports whether a candidate is the first of its node in its queue.
func (t *twin) isNext(now time.Time, c Candidate) bool {
	queue, _, _ := t.queueOf(now, &c)
	for _, o := range t.waiting {
		if other, _, _ := t.queueOf(now, &o); other == queue && o.Namespace == c.Namespace && o.Node == c.Node &&
			before(&entry{Candidate: o}, &entry{Candidate: c}) {
			return false
		}
	}
	return true
}

// start takes in a start, which must be one that the rules permit.
func (t *twin) start(now time.Time, s eviction.Request) error {
	uid := s.Pod.UID
	if may := t.mayStart(now); !slices.ContainsFunc(may, func(c Candidate) bool { return c.UID == uid }) {
		return fmt.Errorf("%s starts, and only these may: %v", uid, may)
	}
	c := t.waiting[uid]
	_, _, request := t.queueOf(now, &c)
	if want := c.Requests[request].Attempt; s.Attempt != want {
		return fmt.Errorf("%s is sent as attempt %d instead of %d", uid, s.Attempt, want)
	}
	if len(t.calls) == 0 {
		t.ramp = now
	}
	t.turn++
	b := t.rates.BucketsOf(c.Requests[request].Verdict.Taint.Key, c.NodeLabels)
	b.Take(now)
	t.calls[uid], t.served[c.Namespace] = twinCall{c, b, now}, t.turn
	delete(t.waiting, uid)
	return nil
}

// end takes in the end of a call.
func (t *twin) end(now time.Time, in CallEnded) {
	k := t.calls[in.UID]
	delete(t.calls, in.UID)
	if !in.Outcome.MayHaveDeleted() {
		k.tokens.Return(now)
	}
	t.forget(k.Namespace)
}

// forget forgets a namespace that has neither candidates nor calls: when it returns, it counts as served then.
func (t *twin) forget(namespace string) {
	for _, c := range t.waiting {
		if c.Namespace == namespace {
			return
		}
	}
	if t.inflight(namespace) == 0 {
		delete(t.served, namespace)
	}
}
