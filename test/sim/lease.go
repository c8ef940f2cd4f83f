package sim

import (
	"context"
	"slices"
	"time"

	"github.com/taint-manager/taint-manager/internal/breaker"
	"github.com/taint-manager/taint-manager/internal/dispatch"
)

// Leader election as client-go does it, with its default times, in a few lines: a stand-in.
const (
	leaseDuration = 15 * time.Second
	renewDeadline = 10 * time.Second
	retryPeriod   = 2 * time.Second
)

// lease is the lease for which the replicas compete.
type lease struct {
	holder  string
	renewed time.Duration
}

// leading reports whether the process leads, by whichever of its two clocks has run further.
func (p *process) leading() bool {
	now, renewed := p.Now(), p.renewed
	return p.term != nil && max(now.Sub(renewed), now.Round(0).Sub(renewed.Round(0))) < renewDeadline
}

// elect renews or tries to acquire the lease, now and periodically from now on.
func (p *process) elect() {
	l, now := &p.w.server.lease, p.w.now()
	reached := p.w.server.answers()
	switch {
	case p.ending && p.term == nil:
		return
	case p.term != nil && reached && l.holder == p.name:
		l.renewed, p.renewed = now, p.Now()
	case p.term != nil && (l.holder != p.name || p.Now().Sub(p.renewed) >= renewDeadline):
		p.w.say(p.name, "has lost the lease")
		p.endTerm()
	case p.term == nil && reached && (l.holder == "" || now-l.renewed >= leaseDuration):
		l.holder, l.renewed = p.name, now
		p.lead()
	}
	wait := retryPeriod + span(p.r, 0, retryPeriod/10)
	if p.term == nil && l.holder != "" {
		wait = max(wait, l.renewed+leaseDuration-now)
	}
	p.after(wait, p.elect)
}

func (p *process) lead() {
	p.w.say(p.name, "leads")
	p.term, p.cutTerm = context.WithCancel(context.Background())
	p.renewed = p.Now()
	p.keeper.lead()
}

// begin allows the first call of a term: the journal was read.
func (p *process) begin() {
	p.w.say(p.name, "begins its term")
	p.keeper.began = true
	p.governance.step(breaker.LeadershipBegan{Journaled: p.keeper.journaled})
	p.dispatcher.step(dispatch.TermBegan{})
}

// endTerm ends a term and cuts the calls under way.
func (p *process) endTerm() {
	if p.term == nil {
		return
	}
	p.cutTerm()
	p.term = nil
	began := p.keeper.began
	p.keeper.endTerm()
	if p.dead || !began {
		return
	}
	p.dispatcher.step(dispatch.TermEnded{})
	for _, f := range slices.Clone(p.flights) {
		f.cut()
	}
	p.governance.step(breaker.LeadershipEnded{})
}

func (p *process) release() {
	if l := &p.w.server.lease; l.holder == p.name && p.w.server.answers() {
		l.holder = ""
		for _, other := range p.w.up() {
			if other != p {
				other.after(span(other.r, 0, retryPeriod), other.elect)
			}
		}
	}
	p.endTerm()
}
