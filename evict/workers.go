package evict

import "github.com/taint-manager/taint-manager/config"

// SetWorkers changes the number of slots; 0 stands for that of config.Default. If there are fewer than before, calls
// under way keep theirs, and no further call starts in a slot before enough of them have ended.
func (p *Pool) SetWorkers(n int) {
	if n <= 0 {
		n = config.Default().EvictionWorkers
	}
	p.mu.Lock()
	more := n - p.workers
	p.workers += more
	p.limiter.slots += more
	if !p.drained {
		p.metrics.slots.Add(float64(more))
	}
	p.mu.Unlock()
	p.changed()
}
