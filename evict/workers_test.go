package evict

import (
	"testing"
	"testing/synctest"
	"time"

	"github.com/prometheus/client_golang/prometheus/testutil"
)

func TestTheNumberOfWorkersChangesWhileCallsAreUnderWay(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := lasting(900 * time.Millisecond)
		p := NewPool(PoolOptions{Evictor: f, Workers: 4})
		defer lead(t, p)()
		defer demand(t, p).stop()
		time.Sleep(1900 * time.Millisecond) // the start is slow
		for _, step := range []struct{ workers, atOnce, most, later int }{
			{6, 6, 6, 6}, {2, 6, 6, 2}, {4, 4, 6, 4},
		} {
			p.SetWorkers(step.workers)
			synctest.Wait()
			if got := p.InFlight(); got != step.atOnce {
				t.Errorf("%d workers: %d calls are under way at once, want %d", step.workers, got, step.atOnce)
			}
			time.Sleep(1900 * time.Millisecond)
			synctest.Wait()
			if got := p.InFlight(); got != step.later || f.most != step.most {
				t.Errorf("%d workers: %d calls are under way later, want %d; at most there were %d", step.workers, got, step.later, f.most)
			}
			if got := testutil.ToFloat64(p.metrics.slots); int(got) != step.later {
				t.Errorf("%d workers: the metric has %v", step.workers, got)
			}
		}
	})
}
