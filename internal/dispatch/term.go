package dispatch

import (
	"context"
	"errors"
	"sync"

	"github.com/taint-manager/taint-manager/eviction"
)

// term is one term of leadership.
type term struct {
	ctx    context.Context // of the calls
	cancel context.CancelFunc
	calls  sync.WaitGroup // calls are added under the dispatcher's lock, and only before the term ends
}

// Lead permits calls until the context ends, and returns when all of them have ended and their outcomes are reported.
// The calls' contexts end with that context. Lead fails while another Lead runs, and once Drain was called; otherwise
// it may be called again after it has returned.
func (d *Dispatcher) Lead(ctx context.Context) error {
	t := &term{}
	t.ctx, t.cancel = context.WithCancel(ctx)
	defer t.cancel()
	if err := d.begin(t); err != nil {
		return err
	}
	d.step(TermBegan{})
	<-ctx.Done()
	d.step(TermEnded{})
	t.calls.Wait()
	d.mu.Lock()
	defer d.mu.Unlock()
	d.term = nil
	return nil
}

func (d *Dispatcher) begin(t *term) error {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.drained {
		return errors.New("leading: the dispatcher is drained")
	}
	if d.term != nil {
		return errors.New("leading: another Lead is in flight")
	}
	d.term = t
	return nil
}

// Drain lets no call start ever again, and blocks until the calls in flight have ended and their outcomes are reported.
// If its context ends first, it cancels the calls, waits for them, and returns their requests. Lead still blocks until
// its own context ends.
func (d *Dispatcher) Drain(ctx context.Context) (cut []eviction.Request) {
	d.mu.Lock()
	d.drained = true
	t := d.term
	d.mu.Unlock()
	if t == nil {
		return nil
	}
	ended := make(chan struct{})
	go func() { t.calls.Wait(); close(ended) }()
	select {
	case <-ended:
		return nil
	case <-ctx.Done():
	}
	cut = locked(d, (*Core).InFlightRequests)
	t.cancel()
	<-ended
	return cut
}
