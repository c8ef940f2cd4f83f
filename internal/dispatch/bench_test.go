package dispatch

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/eviction"
	"github.com/taint-manager/taint-manager/taint"
)

// BenchmarkCall is what the dispatcher costs for a call, from the offer to the settled outcome, while so many others
// wait.
func BenchmarkCall(b *testing.B) {
	for _, waiting := range []int{0, 10_000} {
		b.Run(fmt.Sprint(waiting), func(b *testing.B) {
			done := make(chan struct{})
			var d *Dispatcher
			ended := func(e eviction.Request, _ eviction.Outcome, _ time.Time) { d.Settle(e.Pod.UID); done <- struct{}{} }
			d = New(Options{CoreOptions: CoreOptions{Workers: 1}, Evictor: always(succeeds), Ended: ended}.complete())
			ctx, cancel := context.WithCancel(context.Background())
			led := make(chan error)
			go func() { led <- d.Lead(ctx) }()
			offer := func(i int) {
				uid := uidOf(i)
				request := eviction.Request{Pod: &taint.Pod{UID: uid, Namespace: fmt.Sprint(i % 50), Node: fmt.Sprint(i % 100)}}
				d.Offer(Candidate{Pod: request.Pod, Requests: []eviction.Request{request}})
			}
			d.SetPaused(true)
			for i := range waiting {
				offer(i)
			}
			d.SetPaused(false)
			i := waiting
			for b.Loop() {
				offer(i)
				i++
				<-done
			}
			d.SetPaused(true)
			go func() { // of the call under way
				for range done {
				}
			}()
			cancel()
			if err := <-led; err != nil {
				b.Error(err)
			}
			close(done)
		})
	}
}
