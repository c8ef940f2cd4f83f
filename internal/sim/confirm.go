package sim

import (
	"time"

	v1 "k8s.io/api/core/v1"

	"github.com/taint-manager/taint-manager/evict"
	"github.com/taint-manager/taint-manager/shard"
	"github.com/taint-manager/taint-manager/taint"
)

// nodeRead is one GET of a node: a stand-in for what package evict shares between evictions.
type nodeRead struct {
	sent, served time.Duration
	began        time.Time // sent, by the process's clock
	over         bool
	node         *v1.Node
	err          error
	waiting      []*flight
}

// fresh is how long a GET of a node counts.
const fresh = time.Second

// confirm asks the server whether the node has the taint: it stands in for package evict's confirmation.
// One GET serves all evictions that were due when it was sent, for a second; one is under way for each
// node at most.
func (p *process) confirm(f *flight) {
	name, due := f.e.Pod.Node, f.due()
	last := p.reads[name]
	switch {
	case last != nil && !last.over:
		last.waiting = append(last.waiting, f) // if it was sent too early, the next one is waited for
	case last != nil && last.err == nil && last.sent >= due && p.w.now()-last.sent <= fresh:
		f.confirmed(last)
	default:
		p.readNode(name, f)
	}
}

// due is the moment since when the pod is to go, and known as it is.
func (f *flight) due() time.Duration {
	return max(f.p.clock.moment(f.e.Verdict.At), f.p.clock.moment(f.e.Pod.Seen))
}

// readNode sends a GET.
func (p *process) readNode(name string, f *flight) {
	read := &nodeRead{sent: p.w.now(), began: p.clock.at(p.w.now()), waiting: []*flight{f}}
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
			for _, f := range read.waiting {
				f.read(read)
			}
		},
	})
}

// read takes a GET that the call has waited for.
func (f *flight) read(read *nodeRead) {
	switch {
	case f.over:
	case f.term.ctx.Err() != nil:
		f.ended(interrupted())
	case read.sent < f.due():
		f.p.confirm(f)
	default:
		f.confirmed(read)
	}
}

// confirmed goes on with the call, or ends it.
func (f *flight) confirmed(read *nodeRead) {
	p := f.p
	if read.err != nil {
		p.w.say(p.name, "GET of node %s: %v", f.e.Pod.Node, read.err)
		f.ended(readFailed(read.err))
		return
	}
	if why := p.doubt(f, read); why != "" {
		p.w.say(p.name, "pod %s is not confirmed: %s", f.e.Pod.UID, why)
		p.w.counts.Unconfirmed++
		f.ended(shard.Outcome{Kind: unconfirmed, Message: why})
		return
	}
	p.w.check(p.eye.Confirms(f.e.Pod.UID, read.sent, read.served))
	f.evict()
}

// unconfirmed is the kind of an eviction that the server does not confirm.
const unconfirmed = shard.Failed

// readFailed is what a failed GET makes of the call.
func readFailed(error) shard.Outcome { return shard.Outcome{Kind: unconfirmed} }

// doubt says why the pod is not certainly to go; empty when it is. It is judged once more.
func (p *process) doubt(f *flight, read *nodeRead) string {
	pod, node := p.feed.Pod(f.e.Pod.UID)
	look := evict.Look{Sent: read.began, Node: read.node, Version: p.feed.Version(f.e.Pod.Node)}
	return evict.Doubt(pod, node, look, taint.Rules{})
}
