package sim

import (
	"math/rand/v2"
	"time"

	"github.com/taint-manager/taint-manager/test/sim/oracle"
)

// clocks are the clocks of a plan: how far each is ahead of the true time at the beginning, and how it drifts.
type clocks struct {
	server      time.Duration
	serverDrift oracle.Drift
	replicas    []time.Duration
	drifts      []oracle.Drift
	drifting    bool
}

// inStep returns clocks that are right.
func inStep(replicas int) clocks {
	return clocks{replicas: make([]time.Duration, replicas), drifts: make([]oracle.Drift, replicas)}
}

// drawClocks draws clocks: in every other world right ones, otherwise clocks that differ by little or by much, and
// that may drift.
func drawClocks(r *rand.Rand, replicas int) clocks {
	c := inStep(replicas)
	if r.IntN(2) == 0 {
		return c
	}
	apart := pick(r, 5*time.Second, 3*time.Minute, 3*time.Hour)
	c.server = span(r, -apart, apart)
	for i := range c.replicas {
		c.replicas[i] = c.server
		if r.IntN(3) > 0 {
			c.replicas[i] += span(r, -apart, apart)
		}
	}
	if c.drifting = r.IntN(2) == 0; c.drifting {
		c.serverDrift = drift(r)
		for i := range c.drifts {
			c.drifts[i] = drift(r)
		}
	}
	return c
}

func drift(r *rand.Rand) oracle.Drift {
	return oracle.Drift(r.Int64N(int64(2*oracle.MaxDrift+1))) - oracle.MaxDrift
}
