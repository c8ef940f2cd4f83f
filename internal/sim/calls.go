package sim

import (
	"context"
	"iter"
	"slices"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/config"
	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/evict"
	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/sim/oracle"
)

// flight is one eviction call of a process. The program's own evictor makes it, as a coroutine: whenever it asks for
// a confirmation or sends a request, the world continues until the answer arrives.
type flight struct {
	p     *process
	start dispatch.Start
	e     eviction.Request
	term  *term
	began time.Duration

	over    bool
	gave    bool  // it has given its tokens back
	deleted bool  // the server has accepted its deletion
	sent    int   // number of requests
	shown   int64 // generation of the pod, by an answer to this call

	ask     *ask // the confirmation or request under way
	resume  func() (*ask, bool)
	end     func()
	yield   func(*ask) bool
	outcome eviction.Outcome
}

// ask is one request of a call, or the question whether the next one may be sent, with its result.
type ask struct {
	confirm *confirmation    // nil for a request
	outcome eviction.Outcome // result of the confirmation

	what     string
	pod      string                    // the pod whose deletion passes admission; empty for other requests
	do       func() (types.UID, error) // served by the server; returns the UID that it has deleted
	meant    types.UID
	deletes  bool
	arrived  bool // the server has received and accepted it
	answered bool
	err      error
}

// connectEvictor creates the program's evictor with a client that the world answers.
func (p *process) connectEvictor() {
	method := config.MethodDelete
	if p.w.plan.evict {
		method = config.MethodEvict
	}
	api, err := evict.NewAPI(client{p: p}, evict.APIOptions{Method: method, Leading: p.leading})
	if err != nil {
		panic(err)
	}
	p.api = api
}

// call starts a call of the dispatcher. What the pod's shard has not processed yet counts from the confirmation on.
func (p *process) call(s dispatch.Start) {
	e := s.Request
	p.w.say(p.name, "calls for pod %s, attempt %d: %v", e.Pod.UID, e.Attempt, e.Verdict)
	err := p.observer.Called(p.w.now(), e.Pod.UID, p.clock.moment(e.Verdict.At), e.Attempt)
	if !p.shardOf(e.Pod.Node).behind(e.Pod) {
		p.w.check(err)
	}
	f := &flight{p: p, start: s, e: e, term: p.term, began: p.w.now()}
	p.w.check(f.permitted())
	p.flights = append(p.flights, f)
	p.after(span(p.r, 0, 200*time.Microsecond), f.begin)
}

// begin checks the leadership once more.
func (f *flight) begin() {
	switch {
	case f.over:
	case f.term.ctx.Err() != nil || !f.p.leading():
		f.ended(interrupted())
	default:
		f.evict()
	}
}

// evict makes the call.
func (f *flight) evict() {
	f.resume, f.end = iter.Pull(func(yield func(*ask) bool) {
		f.yield = yield
		f.outcome = f.p.api.EvictConfirmed(f.term.ctx, f.e, f.confirm)
	})
	f.goOn()
}

// goOn runs the evictor until it asks for a confirmation, sends its next request, or returns.
func (f *flight) goOn() {
	f.p.turn = f
	a, more := f.resume()
	f.p.turn = nil
	if !more {
		f.ended(f.outcome)
		return
	}
	f.ask = a
	if a.confirm != nil {
		a.confirm.ask()
		return
	}
	f.sent++
	f.p.w.check(f.p.observer.Writes(f.p.w.now(), f.e.Pod.UID))
	f.p.w.say(f.p.name, "sends %s", a.what)
	f.p.w.check(f.decided())
	if a.deletes {
		f.deletes(a)
	}
	f.p.send(&request{
		pod:    a.pod,
		do:     func() error { return f.arrive(a) },
		answer: func(err error) { f.answer(a, err) },
	})
}

// deletes passes a deletion that is sent to the oracle.
func (f *flight) deletes(a *ask) {
	f.p.w.check(f.p.observer.Deletes(f.e.Pod.UID, a.meant, f.p.leading()))
	if known := f.e.Pod.Generation; f.shown > known {
		f.p.w.check(broken(oracle.Confirmed, "%s deletes pod %s, whose generation an answer showed to be %d instead of %d",
			f.p.name, f.e.Pod.UID, f.shown, known))
	}
}

// arrive serves the request at the server.
func (f *flight) arrive(a *ask) error {
	uid, err := a.do()
	if err != nil || uid == "" {
		return err
	}
	a.arrived = true
	f.p.w.say("server", "takes the deletion of pod %s from %s", uid, f.p.name)
	f.p.w.counts.Evicted++
	f.deleted = true
	f.p.w.check(f.keepTokens())
	f.p.w.check(f.p.observer.Arrived(f.e.Pod.UID, uid))
	if a.answered { // the process has given the request up
		f.p.w.counts.LostAnswers++
		f.p.observer.Answered(f.e.Pod.UID, false)
	}
	return nil
}

// answer passes the answer, or the error where there is none, to the evictor.
func (f *flight) answer(a *ask, err error) {
	if a.answered {
		return
	}
	a.answered, a.err = true, err
	f.p.w.say(f.p.name, "gets %s: %v", a.what, err)
	if a.arrived {
		f.p.observer.Answered(f.e.Pod.UID, err == nil)
		if err != nil {
			f.p.w.counts.LostAnswers++
		}
	}
	f.goOn()
}

// cut ends the request under way, because the context of the call has ended.
func (f *flight) cut() {
	switch {
	case f.ask == nil:
		f.ended(interrupted())
	case f.ask.confirm != nil:
		f.ask.confirm.end(interrupted())
	default:
		f.answer(f.ask, canceled())
	}
}

// drop discards the call, because its process has ended.
func (f *flight) drop() {
	f.over = true
	if f.ask != nil {
		f.ask.answered = true
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
	f.over = true
	p := f.p
	p.flights = slices.DeleteFunc(p.flights, func(other *flight) bool { return other == f })
	p.waits.ended(f, &o)
	p.w.check(f.giveBack(&o))
	p.governance.refuses(&f.e, &o)
	p.w.counts.outcomes[o.Kind]++
	p.observer.Ended(p.w.now(), f.e.Pod.UID, leastWait(o))
	p.dispatcher.step(dispatch.CallEnded{UID: f.e.Pod.UID, Outcome: o})
	f.start.Done(dispatch.Ended{Request: f.e, Outcome: o})
}

func interrupted() eviction.Outcome {
	return eviction.Outcome{
		Kind: eviction.Interrupted, NothingDeleted: true,
		Message: "this process does not lead any longer",
	}
}

// term is one period of leadership.
type term struct {
	ctx     context.Context
	cancel  context.CancelFunc
	renewed time.Time // when the lease was last renewed
}

// leastWait returns the shortest wait of the shard after an outcome, by the table of docs/reference/outcomes.md: half
// of the first wait, because of the jitter.
func leastWait(o eviction.Outcome) time.Duration {
	switch o.Kind {
	case eviction.Failed:
		return 50 * time.Millisecond
	case eviction.Unconfirmed:
		return 25 * time.Millisecond
	case eviction.Blocked:
		return 250 * time.Millisecond
	case eviction.Refused:
		return 500 * time.Millisecond
	case eviction.NotFound:
		return 5 * time.Second
	case eviction.Throttled:
		return o.RetryAfter
	}
	return 0
}
