package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/evict"
)

// request is one request of a process to the server.
type request struct {
	what   string          // its name in a trace
	do     func() error    // served by the server
	answer func(err error) // receives the answer, or an error if there is none
	over   bool            // the process has the answer, or has given the request up

	// Of a call:
	writes, deletes bool
	sent            time.Duration   // when it was sent
	meant           types.UID       // precondition of a deletion
	accepted        bool            // by the server
	err             error           // the answer
	waits           <-chan struct{} // if set, this is no request: it waits for the end of another call's GET
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
	p.w.after(evict.CallTimeout, func() { r.deliver(p, timedOut()) })
	p.w.after(there, func() { p.serve(r) })
}

// serve handles the request at the server.
func (p *process) serve(r *request) {
	s := p.w.server
	var err error
	switch {
	case s.strike(hang):
		return // until the process's request times out
	case s.strike(away):
		err = connectionLost()
	case s.strike(failing) && p.r.IntN(3) > 0:
		err = failed(p.r.IntN(3))
	case s.strike(throttling) && p.r.IntN(3) > 0:
		err = loaded()
	default:
		if err = r.do(); s.strike(losing) && p.r.IntN(2) == 0 {
			if p.r.IntN(2) == 0 {
				return // as when it hangs
			}
			err = connectionLost()
		}
	}
	back := span(p.r, 0, pick(p.r, time.Millisecond, 10*time.Millisecond))
	p.w.after(back, func() { r.deliver(p, err) })
}
