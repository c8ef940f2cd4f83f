package e2e

import (
	"context"
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/taint-manager/taint-manager/test/load"
)

// rounds is how often each side of a comparison runs, in turn.
const rounds = 3

// BenchmarkBurst compares taint-manager with 32 plain workers that send the same two calls for each of the same
// 3000 pods of 100 nodes, on the same API server, in turn. It reports both rates and their ratio; the rates alone
// depend more on the machine.
func BenchmarkBurst(b *testing.B) {
	w := newWorld(b, bare())
	var baseline, ours, ratios []float64
	for round := range rounds {
		c := newPodLoad(b, w.admin, fmt.Sprintf("floor-%d", round), 100, 30)
		baseline = append(baseline, w.rate(b, c, func() { c.evictPlainly(b) }))
		ours = append(ours, w.managedRate(b, fmt.Sprintf("ours-%d", round)))
		ratios = append(ratios, ours[round]/baseline[round])
	}
	b.ReportMetric(median(baseline), "floor-pods/s")
	b.ReportMetric(median(ours), "pods/s")
	b.ReportMetric(median(ratios), "of-baseline")
	b.ReportMetric(0, "ns/op")
}

// managedRate returns the rate of taint-manager, which runs for this load alone, until its events are stored.
func (w *world) managedRate(b *testing.B, name string) float64 {
	b.Helper()
	c := newPodLoad(b, w.admin, name, 100, 30)
	m, err := w.StartManager(b.Context())
	if err != nil {
		b.Fatal(err)
	}
	rate := w.rate(b, c, func() { c.taint(b, true) })
	took, err := load.ProcessorTime(m.Pid())
	b.Logf("taint-manager took %.1f s of CPU since its start, %v", took, err)
	w.wantEvents(b, c, time.Now())
	if err := m.Stop(); err != nil {
		b.Error(err)
	}
	return rate
}

func median(list []float64) float64 {
	sorted := slices.Sorted(slices.Values(list))
	return sorted[len(sorted)/2]
}

// rate returns the number of pods of the load that are deleted in a second, from the call of start.
func (w *world) rate(b *testing.B, c *podLoad, start func()) float64 {
	b.Helper()
	began := time.Now()
	start()
	took := c.gone(b, w.deletions, 0).Sub(began)
	b.Logf("%s: %d pods in %.1f s", c.name, len(c.pods), took.Seconds())
	return float64(len(c.pods)) / took.Seconds()
}

// evictPlainly deletes all pods with as many workers as taint-manager has slots, without a controller.
func (pl *podLoad) evictPlainly(b testing.TB) {
	pods := pl.identities()
	err := load.Spread(b.Context(), load.PlainWorkers, len(pods), func(ctx context.Context, i int) error {
		return load.PatchAndDelete(ctx, pl.admin, pods[i])
	})
	if err != nil {
		b.Error(err)
	}
}
