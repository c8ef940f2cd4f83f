package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/config"
)

// gaveUp is the time after which the API server gives up a write that admission delays.
const gaveUp = 34 * time.Second

// request is one request of a process to the server.
type request struct {
	what   string          // its name in a trace
	pod    string          // the pod whose deletion passes admission; empty for other requests
	do     func() error    // served by the server
	answer func(err error) // receives the answer, or an error if there is none
	over   bool            // the process has the answer, or has given the request up

	// Of a call:
	writes, deletes bool
	meant           types.UID       // precondition of a deletion
	accepted        bool            // by the server
	err             error           // the answer
	waits           <-chan struct{} // no request: the end of a GET that another call has sent
}

// end passes the answer on, unless the request is over.
func (r *request) end(err error) {
	if !r.over {
		r.over = true
		r.answer(err)
	}
}

// deliver ends the request in its process.
func (r *request) deliver(p *process, err error) { p.run(func() { r.end(err) }) }

// send sends a request. What happens to it is drawn: it may fail to reach the server, be rejected there, be slow, or
// lose its answer.
func (p *process) send(r *request) {
	s := p.w.server
	if s.strike(away) {
		p.w.after(span(p.r, 0, time.Millisecond), func() { r.deliver(p, connectionRefused()) })
		return
	}
	there := span(p.r, 0, pick(p.r, time.Millisecond, 10*time.Millisecond))
	if s.strike(slow) && p.r.IntN(2) == 0 {
		there = span(p.r, 0, 40*time.Second)
	}
	p.w.after(config.CallTimeout, func() { r.deliver(p, timedOut()) })
	p.w.after(there, func() { p.serve(r) })
}

// serve handles the request at the server.
func (p *process) serve(r *request) {
	s := p.w.server
	back := span(p.r, 0, pick(p.r, time.Millisecond, 10*time.Millisecond))
	switch {
	case s.strike(hang):
		return // until the process's request times out
	case s.strike(away):
		r.deliver(p, connectionLost())
		return
	case s.strike(failing) && p.r.IntN(3) > 0:
		p.w.after(back, func() { r.deliver(p, failed(p.r.IntN(3))) })
		return
	case s.strike(throttling) && p.r.IntN(3) > 0:
		p.w.after(back, func() { r.deliver(p, loaded()) })
		return
	}
	if held := s.held(r.pod); held > 0 {
		r.pod = "" // once
		if held > gaveUp {
			p.w.after(gaveUp, func() { r.deliver(p, givenUp()) })
			return
		}
		p.w.after(held, func() { p.serve(r) })
		return
	}
	err := r.do()
	lost := s.strike(losing) && p.r.IntN(2) == 0
	switch {
	case !lost:
		p.w.after(back, func() { r.deliver(p, err) })
	case p.r.IntN(2) == 0:
		p.w.after(back, func() { r.deliver(p, connectionLost()) })
	}
}
