package skew

import (
	"fmt"
	"math"
	"time"

	"github.com/prometheus/client_golang/prometheus"
)

// Register registers the metric of how far the process's clock may be ahead.
func (c *Clock) Register(r prometheus.Registerer) error {
	err := r.Register(prometheus.NewGaugeFunc(prometheus.GaugeOpts{
		Name: "taint_manager_clock_ahead_seconds",
		Help: "By how much the clock of this process may be ahead of the API server's at most; negative where it is behind, and NaN while that is not known. Above 2, ages taken from timestamps are shortened by it.",
	}, func() float64 { return c.aheadSeconds(time.Now()) }))
	if err != nil {
		return fmt.Errorf("registering metrics of the clock: %w", err)
	}
	return nil
}

func (c *Clock) aheadSeconds(now time.Time) float64 {
	measured := c.measured()
	if !measured.Measured() {
		return math.NaN()
	}
	_, most := measured.Ahead(now)
	return most.Seconds()
}
