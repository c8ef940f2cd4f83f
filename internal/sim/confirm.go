package sim

import (
	"context"
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/dispatch"
	"github.com/taint-manager/taint-manager/evict"
	"github.com/taint-manager/taint-manager/eviction"
)

// nodeRead is one GET of a node. It stands in for the reads that package evict shares between evictions.
type nodeRead struct {
	sent, served time.Duration
	began        time.Time // when it was sent, by the process's clock
	over         bool
	node         *v1.Node
	err          error
	waiting      []*confirmation
}

const (
	fresh = 5 * time.Second // how long a GET of a node may be reused
	few   = 4               // the number of calls up to which each needs a GET of its own
)

// confirmation is the question of a call whether it may send its next request.
type confirmation struct {
	f     *flight
	asked time.Duration
	again bool // the GET used before was not sufficient
	over  bool
}

// confirm makes the evictor wait until its next request is confirmed or rejected. It stands in for package evict's
// own function.
func (f *flight) confirm(context.Context) (eviction.Outcome, bool) {
	c := &confirmation{f: f, asked: f.p.w.now()}
	a := &ask{confirm: c}
	if !f.yield(a) {
		return interrupted(), false
	}
	return a.outcome, a.outcome.Kind == 0
}

// notBefore returns the moment from which on a GET can answer the question.
func (c *confirmation) notBefore() time.Duration {
	switch f := c.f; {
	case c.again:
		return c.asked
	case len(f.p.flights) <= few:
		return f.p.sincePause(f.began)
	default:
		return f.p.sincePause(f.p.clock.moment(f.e.Verdict.At))
	}
}

// sincePause returns the moment; while calls pause, it returns the start of the pause if that is later.
func (p *process) sincePause(moment time.Duration) time.Duration {
	if since := p.dispatcher.PausedSince(); !since.IsZero() {
		return max(moment, p.clock.moment(since))
	}
	return moment
}

// ask uses a GET that can answer the question, waits for the one under way, or sends one.
func (c *confirmation) ask() {
	p, name := c.f.p, c.f.e.Pod.Node
	last := p.reads[name]
	switch {
	case last == nil || p.w.now()-last.sent > fresh:
		p.readNode(name, c)
	case !last.over:
		last.waiting = append(last.waiting, c) // a GET that was sent too early is followed by another one
	case last.err == nil && last.sent >= c.notBefore():
		c.judge(last)
	default:
		p.readNode(name, c)
	}
}

// readNode sends a GET.
func (p *process) readNode(name string, c *confirmation) {
	read := &nodeRead{sent: p.w.now(), began: p.clock.at(p.w.now()), waiting: []*confirmation{c}}
	p.reads[name] = read
	p.send(&request{
		do: func() error {
			read.served, read.node = p.w.now(), p.w.server.node(name)
			if read.node == nil {
				return notFound(name)
			}
			return nil
		},
		answer: func(err error) {
			read.over, read.err = true, err
			p.dispatcher.step(dispatch.NodeRead{Sent: read.began, Outcome: evict.NodeOutcome(err)})
			for _, c := range read.waiting {
				c.read(read)
			}
		},
	})
}

// read uses a GET that has ended.
func (c *confirmation) read(read *nodeRead) {
	switch {
	case c.over || c.f.over:
	case read.sent < c.notBefore() && evict.NodeOutcome(read.err).Kind != eviction.Unavailable:
		c.ask()
	default:
		c.judge(read)
	}
}

// judge answers the question by a GET, or repeats it with a later GET.
func (c *confirmation) judge(read *nodeRead) {
	f, p := c.f, c.f.p
	if read.err != nil {
		p.w.say(p.name, "GET of node %s: %v", f.e.Pod.Node, read.err)
		c.end(evict.NodeOutcome(read.err))
		return
	}
	why := c.doubt(read)
	switch {
	case why != "" && read.sent < c.asked:
		c.again = true
		c.ask()
	case why != "":
		p.w.say(p.name, "pod %s is not confirmed: %s", f.e.Pod.UID, why)
		if f.sent > 0 {
			p.w.counts.NotSent++
		}
		c.end(eviction.Outcome{Kind: eviction.Unconfirmed, Message: why})
	default:
		p.w.check(p.observer.Confirms(f.e.Pod.UID, read.sent, read.served))
		c.end(eviction.Outcome{})
	}
}

// end answers the question.
func (c *confirmation) end(o eviction.Outcome) {
	if c.over || c.f.over {
		return
	}
	c.over = true
	c.f.ask.outcome = o
	c.f.goOn()
}

// doubt returns why the eviction cannot be confirmed, or "". It computes the verdict once more.
func (c *confirmation) doubt(read *nodeRead) string {
	p, pod := c.f.p, c.f.e.Pod
	if p.w.now()-read.sent > fresh {
		return "the GET took too long"
	}
	now, node := p.feed.Pod(pod.UID)
	return evict.WhyUnconfirmed(p.governance.judge, &c.f.e, now, node, evict.NewLiveNode(read.node, read.began),
		p.feed.Version(pod.Node))
}
