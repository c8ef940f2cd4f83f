package shard

import (
	"sync"

	"github.com/taint-manager/taint-manager/dispatch"
)

// outcomes hold the calls that have ended until the shard takes them in. They are safe for concurrent use.
type outcomes struct {
	some chan struct{} // holds a token if there may be any

	mu  sync.Mutex
	all []dispatch.Ended
}

func newOutcomes() *outcomes { return &outcomes{some: make(chan struct{}, 1)} }

// put adds a call that has ended. It does not block.
func (o *outcomes) put(e dispatch.Ended) {
	o.mu.Lock()
	o.all = append(o.all, e)
	o.mu.Unlock()
	select {
	case o.some <- struct{}{}:
	default:
	}
}

// take removes and returns all.
func (o *outcomes) take() []dispatch.Ended {
	o.mu.Lock()
	defer o.mu.Unlock()
	all := o.all
	o.all = nil
	return all
}
