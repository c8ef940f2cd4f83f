package shard_test

import (
	"testing"
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/internal/dispatch"
	"github.com/taint-manager/taint-manager/internal/shard"
	"github.com/taint-manager/taint-manager/policy"
)

// turns is a dispatcher whose calls the test starts and ends.
type turns struct {
	t       *testing.T
	waiting map[types.UID]dispatch.Candidate
	calls   map[types.UID]*eviction.Request // under way, or with an outcome that is not settled
	ended   map[types.UID]*dispatch.Ended
	waits   eviction.Wait // what candidates wait for
	until   time.Time     // until when they wait
	asked   []types.UID   // for their status

	settled func(*dispatch.Ended) // takes what the shard takes in; may be nil
}

func newTurns(t *testing.T) *turns {
	return &turns{t: t, waiting: map[types.UID]dispatch.Candidate{}, calls: map[types.UID]*eviction.Request{}, ended: map[types.UID]*dispatch.Ended{}}
}

func (t *turns) Offer(c dispatch.Candidate) bool {
	if t.calls[c.UID] != nil {
		return false
	}
	t.waiting[c.UID] = c
	return true
}

func (t *turns) Withdraw(uid types.UID) bool {
	_, waited := t.waiting[uid]
	delete(t.waiting, uid)
	return waited
}

func (t *turns) Settle(uid types.UID) *dispatch.Ended {
	e := t.ended[uid]
	if e != nil {
		delete(t.calls, uid)
		delete(t.ended, uid)
		if t.settled != nil {
			t.settled(e)
		}
	}
	return e
}

func (t *turns) Status(uid types.UID) dispatch.Status {
	t.asked = append(t.asked, uid)
	return dispatch.Status{Request: t.calls[uid], Waits: t.waits, Until: t.until}
}

// start starts the call with the earliest deadline; nil if none waits.
func (t *turns) start() *eviction.Request {
	var first *dispatch.Candidate
	for _, c := range t.waiting {
		if first == nil || c.Deadline.Before(first.Deadline) || c.Deadline.Equal(first.Deadline) && c.UID < first.UID {
			first = &c
		}
	}
	if first == nil {
		return nil
	}
	delete(t.waiting, first.UID)
	t.calls[first.UID] = &first.Requests[0]
	return t.calls[first.UID]
}

// play drives a core by hand: one step after the other, at the times that the test says.
type play struct {
	*world
	*turns
	t         *testing.T
	core      *shard.Core
	judge     policy.Judge
	notes     []eviction.Note
	overtaken []eviction.Overtaken
	drained   []string
}

func newPlay(t *testing.T) *play {
	p := &play{world: newWorld(), turns: newTurns(t), t: t}
	p.core = shard.NewCore(shard.CoreOptions{
		Reader: p.world, Judge: func() policy.Judge { return p.judge }, Dispatcher: p.turns, Jitter: func() float64 { return 0.5 },
	})
	return p
}

// newTaintedPlay plays with the pod a, which has these tolerations, on the node n, which has the taint gpu since second
// 0.
func newTaintedPlay(t *testing.T, seconds int64) *play {
	p := newPlay(t)
	p.add("a", bears("gpu", seconds))
	p.taint("gpu", 0)
	p.nodeChanged(0)
	return p
}

func (p *play) step(second float64, in shard.Input) {
	effects := p.core.Step(at(second), in)
	p.notes = append(p.notes, effects.Notes...)
	p.overtaken = append(p.overtaken, effects.Overtaken...)
	p.drained = append(p.drained, effects.Drained...)
}

func (p *play) nodeChanged(second float64) { p.step(second, shard.NodeChanged{Name: "n"}) }

func (p *play) podChanged(second float64, uid types.UID) { p.step(second, shard.PodChanged{UID: uid}) }

// pass makes the steps that are due until that second.
func (p *play) pass(second float64) {
	p.t.Helper()
	for range 10000 {
		if next, ok := p.core.Next(); !ok || next.After(at(second)) {
			return
		}
		p.step(second, shard.TimePassed{})
	}
	p.t.Fatalf("second %v: the steps that are due do not end", second)
}

// start starts the next call at that second; nil if no candidate waits.
func (p *play) start(second float64) *eviction.Request {
	p.t.Helper()
	p.pass(second)
	return p.turns.start()
}

// wantStart wants this pod's call to start next.
func (p *play) wantStart(second float64, uid types.UID) *eviction.Request {
	p.t.Helper()
	start := p.start(second)
	if start == nil || start.Pod.UID != uid {
		p.t.Fatalf("second %v: started %v, want %s", second, start, uid)
	}
	return start
}

// wantNone wants no call to start.
func (p *play) wantNone(second float64) {
	p.t.Helper()
	if start := p.start(second); start != nil {
		p.t.Fatalf("second %v: started %s, want nothing", second, start.Pod.UID)
	}
}

// end ends a call. The shard has not taken in the outcome yet.
func (p *play) end(uid types.UID, o eviction.Outcome) {
	p.turns.ended[uid] = &dispatch.Ended{Request: *p.calls[uid], Outcome: o}
}

// ended ends a call, and lets the shard take in its outcome.
func (p *play) ended(second float64, uid types.UID, o eviction.Outcome) {
	p.end(uid, o)
	p.podChanged(second, uid)
}

// view returns the view of a pod; the zero value if it has none.
func (p *play) view(second float64, uid types.UID) eviction.View {
	for _, v := range p.core.Views(at(second)) {
		if v.Pod.UID == uid {
			return v
		}
	}
	return eviction.View{}
}

// queued reports whether a pod waits for its time, its next try or its turn.
func queued(v *eviction.View) bool {
	return v.State != "" && v.State != eviction.StateInFlight && v.State != eviction.StateTerminating && v.State != eviction.StateHeld
}

// tried starts the call of pod a, which ends at once.
func (p *play) tried(second float64, o eviction.Outcome) *eviction.Request {
	p.t.Helper()
	start := p.wantStart(second, "a")
	p.ended(second, "a", o)
	return start
}

// wantNotes wants exactly these kinds of notes since it was last asked.
func (p *play) wantNotes(kinds ...eviction.NoteKind) {
	p.t.Helper()
	if len(p.notes) != len(kinds) {
		p.t.Fatalf("got %d notes (%v), want %d", len(p.notes), p.notes, len(kinds))
	}
	for i, kind := range kinds {
		if p.notes[i].Kind != kind {
			p.t.Errorf("note %d: got kind %d, want %d", i, p.notes[i].Kind, kind)
		}
	}
	p.notes = nil
}

func failed(cause string) eviction.Outcome {
	return eviction.Outcome{Kind: eviction.Failed, Cause: cause}
}

var (
	accepted = eviction.Outcome{Kind: eviction.Accepted}
	blocked  = eviction.Outcome{Kind: eviction.Blocked, Cause: eviction.CausePDB}
	denied   = eviction.Outcome{Kind: eviction.Refused, Cause: eviction.CauseAdmission}
)
