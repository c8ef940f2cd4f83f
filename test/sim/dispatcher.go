package sim

import (
	"time"

	"k8s.io/apimachinery/pkg/types"

	"github.com/taint-manager/taint-manager/internal/dispatch"
)

// dispatcher implements shard.Dispatcher by the steps of the program's own core. It stands in for the lock, the timer
// and the goroutines round that core.
type dispatcher struct {
	*dispatch.Core
	now      func() time.Time
	carryOut func(dispatch.Effects)
}

func (d dispatcher) step(in dispatch.Input) dispatch.Effects {
	do := d.Step(d.now(), in)
	d.carryOut(do)
	return do
}

// Offer implements shard.Dispatcher, as the other methods do.
func (d dispatcher) Offer(c dispatch.Candidate) bool {
	return d.step(dispatch.Offered{Candidate: c}).Taken
}

// Withdraw withdraws a candidate.
func (d dispatcher) Withdraw(uid types.UID) bool { return d.step(dispatch.Withdrawn{UID: uid}).Taken }

// Settle returns the outcome of a call that has ended.
func (d dispatcher) Settle(uid types.UID) *dispatch.Ended {
	return d.step(dispatch.Settled{UID: uid}).Settled
}

// Status returns the status of a pod's eviction.
func (d dispatcher) Status(uid types.UID) dispatch.Status { return d.Core.Status(d.now(), uid) }

func (p *process) newDispatcher() dispatcher {
	plan, config := p.w.plan, &p.governance.config
	core := dispatch.NewCore(p.Now(), dispatch.CoreOptions{
		Workers: plan.workers, Rates: config.Guards.Rates, Paused: config.Paused,
		Leading: func() bool { return !p.ending && p.leading() }, Jitter: p.r.Float64,
	})
	return dispatcher{core, p.Now, p.dispatch}
}

// dispatch carries out the effects of a step of the dispatcher.
func (p *process) dispatch(do dispatch.Effects) {
	if do.Probe != "" {
		p.w.counts["Probes"]++
		p.read(do.Probe)
	}
	for _, node := range do.Ahead {
		p.w.counts["ReadAhead"]++
		p.read(node)
	}
	for _, s := range do.Starts {
		p.call(s)
	}
	p.wakeBy(&p.timer, do.Next, func() { p.dispatcher.step(dispatch.TimePassed{}) })
}
