package sim

import (
	"context"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/evict"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// flight is one eviction call of a process. The program's own evictor makes it, as a coroutine: whenever it sends a
// request, or waits for the GET of another call, the world continues until the answer arrives.
type flight struct {
	p    *process
	e    eviction.Request
	term context.Context

	node string // that is read, if this is no call

	over    bool
	spared  bool  // its outcome says that it has deleted nothing
	deleted bool  // the server has accepted its deletion
	shown   int64 // generation of the pod, by an answer to this call

	waiting *request // what the call waits for
	resume  func() (*request, bool)
	end     func()
	yield   func(*request) bool
	outcome eviction.Outcome
}

// connectEvictor creates the program's evictor with a client that the world answers.
func (p *process) connectEvictor() {
	api := evict.NewAPI(client{p: p}, evict.APIOptions{Method: p.w.plan.method, Leading: p.leading})
	p.evictor = evict.Confirm(evict.ConfirmOptions{
		Evictor: api, Client: client{p: p}, Reader: p.feed, Version: p.feed.Version,
		Judge: func() policy.Judge { return p.governance.judge }, PausedSince: p.dispatcher.PausedSince, Clock: p,
		Withdrawn: p.dispatcher.Withdrawn,
		NodeRead: func(node string, sent time.Time, o eviction.Outcome) {
			p.dispatcher.step(dispatch.NodeRead{Node: node, Sent: sent, Outcome: o})
		},
	})
}

// call starts a call of the dispatcher. If the pod's shard is behind, the oracle judges only from the confirmation on.
func (p *process) call(e eviction.Request) {
	p.w.say(p.name, "calls for pod %s, attempt %d: %v", e.Pod.UID, e.Attempt, e.Verdict)
	err := p.observer.Called(p.w.now(), e.Pod.UID, p.clock.moment(e.Verdict.At), e.Attempt)
	if !p.shardOf(e.Pod.Node).behind(e.Pod) {
		p.w.check(err)
	}
	f := &flight{p: p, e: e, term: p.term}
	p.w.check(f.permitted())
	f.soon()
}

func (p *process) read(node string) { (&flight{p: p, node: node, term: p.term}).soon() }

// soon begins the call within a moment.
func (f *flight) soon() {
	p := f.p
	p.flights = append(p.flights, f)
	p.after(span(p.r, 0, 200*time.Microsecond), f.begin)
}

// begin makes the call, unless the leadership has ended meanwhile.
func (f *flight) begin() {
	switch {
	case f.over:
		return
	case f.term.Err() != nil || !f.p.leading():
		f.ended(interrupted())
		return
	}
	f.resume, f.end = iter.Pull(func(yield func(*request) bool) {
		f.yield = yield
		if f.node != "" {
			f.p.evictor.Read(f.term, f.node)
			return
		}
		f.outcome = f.p.evictor.Evict(f.term, f.e)
	})
	f.run()
}

// run runs the evictor until it waits, or returns. That may end the GET for which other calls wait.
func (f *flight) run() {
	f.p.turn = f
	a, more := f.resume()
	f.p.turn = nil
	for _, other := range f.p.flights {
		if a := other.waiting; a != nil && a.waits != nil && isClosed(a.waits) {
			f.p.after(0, func() { a.end(nil) })
		}
	}
	switch f.waiting = a; {
	case !more:
		f.ended(f.outcome)
	case a.waits == nil:
		f.send(a)
	}
}

func isClosed(done <-chan struct{}) bool {
	select {
	case <-done:
		return true
	default:
		return false
	}
}

func (f *flight) send(a *request) {
	if a.writes {
		get := f.p.gets[f.e.Pod.Node]
		f.p.w.check(f.p.observer.Writes(f.p.w.now(), f.e.Pod.UID, get.sent, get.served))
		f.p.w.check(f.decided())
	}
	f.p.w.say(f.p.name, "sends %s", a.what)
	if a.deletes {
		f.p.w.check(f.p.observer.Deletes(f.e.Pod.UID, a.meant, f.p.leading()))
	}
	if a.deletes && f.shown > f.e.Pod.Generation {
		f.p.w.check(oracle.Broken(oracle.Confirmed,
			"%s deletes pod %s, whose generation an answer showed to be %d instead of %d",
			f.p.name, f.e.Pod.UID, f.shown, f.e.Pod.Generation))
	}
	a.sent = f.p.w.now()
	f.p.send(a)
}

// arrived notes that the server has accepted a request that deletes, and which pod it has deleted.
func (f *flight) arrived(a *request, uid types.UID) {
	a.accepted = true
	f.p.w.deleted[uid] = a.sent
	f.p.w.say("server", "takes the deletion of pod %s from %s", uid, f.p.name)
	f.p.w.counts["Evicted"]++
	f.deleted = true
	f.p.w.check(f.spendsTokens())
	f.p.w.check(f.p.observer.Arrived(f.e.Pod.UID, uid))
	if a.over {
		f.p.observer.Answered(f.e.Pod.UID, false)
	}
}

// answer passes the answer, or the error where there is none, to the evictor.
func (f *flight) answer(a *request, err error) {
	a.err = err
	if a.waits == nil {
		f.p.w.say(f.p.name, "gets %s: %v", a.what, err)
	}
	if a.accepted {
		f.p.observer.Answered(f.e.Pod.UID, err == nil)
	}
	f.run()
}

// cut ends what the call waits for, because the context of the call has ended.
func (f *flight) cut() {
	if f.waiting == nil {
		f.ended(interrupted())
		return
	}
	f.waiting.end(canceled())
}

// drop discards the call, because its process has ended.
func (f *flight) drop() {
	f.over = true
	if f.waiting != nil {
		f.waiting.over = true
	}
	if f.end != nil {
		f.end()
	}
}

// ended passes the outcome of the call to the shard.
func (f *flight) ended(o eviction.Outcome) {
	if f.over {
		return
	}
	f.over, f.spared = true, !o.MayHaveDeleted()
	p := f.p
	p.flights = slices.DeleteFunc(p.flights, func(other *flight) bool { return other == f })
	if f.node != "" {
		if o.Kind == eviction.Interrupted {
			p.dispatcher.step(dispatch.NodeRead{Node: f.node, Sent: p.Now(), Outcome: o})
		}
		return
	}
	p.w.check(f.spendsTokens())
	p.w.counts[o.Kind.String()]++
	wait := leastWait(o)
	if p.w.oracle.Governed && f.e.Method == policy.Evict {
		wait = 0 // the next call may be a DELETE by deleteAfter
	}
	p.observer.Ended(p.w.now(), f.e.Pod.UID, wait)
	p.dispatcher.step(dispatch.CallEnded{UID: f.e.Pod.UID, Outcome: o})
	p.w.say(p.name, "call for pod %s ended: %s %s", f.e.Pod.UID, o.Kind.String(), o.Cause)
	p.shardOf(f.e.Pod.Node).put(shard.PodChanged{UID: f.e.Pod.UID})
}

func interrupted() eviction.Outcome {
	return eviction.Outcome{Kind: eviction.Interrupted, NothingDeleted: true}
}

// leastWait returns the shortest wait of the shard after an outcome, by the table of docs/reference/outcomes.md: half
// of the first wait, because of the jitter.
func leastWait(o eviction.Outcome) time.Duration {
	return map[eviction.Kind]time.Duration{
		eviction.Failed: 50 * time.Millisecond, eviction.Unconfirmed: 25 * time.Millisecond,
		eviction.Blocked: 250 * time.Millisecond, eviction.Refused: 500 * time.Millisecond,
		eviction.NotFound: 5 * time.Second, eviction.Throttled: o.RetryAfter,
	}[o.Kind]
}
